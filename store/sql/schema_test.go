package sqlstore

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// fresh is the engine with a database of its own, which is dropped afterwards.
func (e engine) fresh(t *testing.T) engine {
	t.Helper()
	if e.dsn == "" {
		return e
	}
	var random [6]byte
	rand.Read(random[:])
	name := "test_" + hex.EncodeToString(random[:])
	admin, err := server(e.dsn, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.close() })
	run := func(q string) {
		t.Helper()
		if err := admin.read(func(c *session) error { return c.plain(q) }); err != nil {
			t.Error(err)
		}
	}
	run("CREATE DATABASE " + name)
	t.Cleanup(func() { run("DROP DATABASE " + name) })
	u, err := url.Parse(e.dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return engine{e.name, u.String()}
}

// raw is a pool without the tables being asked for.
func (e engine) raw(t *testing.T, cfg store.Config) *pool {
	t.Helper()
	var p *pool
	if e.dsn == "" {
		p = embedded(filepath.Join(cfg.Dir, database), true, 1)
	} else {
		var err error
		if p, err = server(e.dsn, true, 1); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { p.close() })
	return p
}

func (p *pool) run(t *testing.T, q string) {
	t.Helper()
	if err := p.read(func(c *session) error { return c.plain(q) }); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

// TestSchema_others: a newer schema, tables of something else, and a making that
// was interrupted.
func TestSchema_others(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		cfgOf := func(e engine) store.Config {
			return store.Config{Dir: t.TempDir(), NoSync: true, Extra: map[string]string{"dsn": e.dsn}}
		}
		refused := func(cfg store.Config, want string) {
			t.Helper()
			s, err := store.Open(Format, cfg)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		}
		one := e.fresh(t)
		// A new database costs a server more than new tables.
		empty := func() engine {
			if one.dsn != "" {
				p := one.raw(t, store.Config{})
				for i := range tables {
					p.run(t, "DROP TABLE IF EXISTS "+tables[len(tables)-1-i].name)
				}
				p.close()
			}
			return one
		}
		newer := empty()
		cfg := cfgOf(newer)
		if s := mustOpen(t, cfg); s.Close() != nil {
			t.Fatal("close")
		}
		newer.raw(t, cfg).run(t, "UPDATE mailbench_schema SET version = 2")
		refused(cfg, "schema 2")

		foreign := empty()
		cfg = cfgOf(foreign)
		foreign.raw(t, cfg).run(t, "CREATE TABLE mailbench_schema(words INTEGER)")
		refused(cfg, "mailbench_schema")

		part := empty()
		cfg = cfgOf(part)
		part.raw(t, cfg).run(t, "CREATE TABLE mailbench_header(a INTEGER)")
		refused(cfg, "mailbench_header")

		half := empty()
		cfg = cfgOf(half)
		p := half.raw(t, cfg)
		for _, table := range tables[:3] {
			p.run(t, p.d.types.Replace("CREATE TABLE "+table.name+"("+table.columns+")"+table.after))
		}
		s := mustOpen(t, cfg)
		mustAppend(t, s, "A: b\n\n")
		mustCheck(t, s)
		s.Close()

		others := empty()
		cfg = cfgOf(others)
		others.raw(t, cfg).run(t, "CREATE TABLE something(a INTEGER)")
		if e.dsn == "" {
			refused(cfg, "something else")
		} else {
			mustOpen(t, cfg).Close() // a server's database may be shared
		}
	})
}

// TestSchema_atOnce: several open an empty database at the same time.
func TestSchema_atOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		e = e.fresh(t)
		root := t.TempDir()
		var work sync.WaitGroup
		errs := make(chan error, 8)
		for i := range cap(errs) {
			work.Go(func() {
				cfg := store.Config{Dir: root, NoSync: true, Extra: map[string]string{"dsn": e.dsn, "mailbox": "one", "conns": "2"}}
				if i%2 == 0 {
					cfg.Extra["mailbox"] = "two"
				}
				s, err := store.Open(Format, cfg)
				if err == nil {
					_, err = s.Append([]store.Message{{Body: []byte("A: b\n\nbody\n")}})
				}
				if err == nil {
					err = s.Close()
				}
				errs <- err
			})
		}
		work.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		s := mustOpen(t, store.Config{Dir: root, NoSync: true, Extra: map[string]string{"dsn": e.dsn, "mailbox": "one"}})
		if got := bodies(t, s); len(got) != 4 {
			t.Errorf("%d messages, want 4", len(got))
		}
		if n := count(t, s, "mailbench_mailboxes"); n != 2 {
			t.Errorf("%d mailboxes, want 2", n)
		}
		mustCheck(t, s)
		s.Close()
	})
}

// TestIdentity_others: the file that names the mailbox is damaged, or of another
// database.
func TestIdentity_others(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		if e.dsn == "" {
			return // it has none
		}
		e = e.fresh(t)
		cfg := store.Config{Dir: t.TempDir(), NoSync: true, Extra: map[string]string{"dsn": e.dsn}}
		mustOpen(t, cfg).Close()
		file := filepath.Join(cfg.Dir, identity)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(good); n += 3 {
			if err := os.WriteFile(file, good[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := store.Open(Format, cfg); err == nil {
				s.Close()
				t.Fatalf("cut at %d it opens", n)
			} else if !strings.Contains(err.Error(), file) {
				t.Fatalf("cut at %d: the error names no file: %v", n, err)
			}
		}
		name := strings.Repeat("0123", 8)
		os.WriteFile(file, []byte(identityHead+name+"\n/elsewhere\n"), 0o600)
		if s, err := store.Open(Format, cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a mailbox that is not there: %v, %v", s, err)
		}
	})
}

// TestDamage: what was changed behind the Store's back is told by who reads it,
// and by Check.
func TestDamage(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		e = e.fresh(t)
		for i, c := range []struct {
			name, change, want string
			reads              bool // the message is still read
		}{
			{"part", "", "hash", false},
			{"size", "UPDATE mailbench_mimeparts SET size = size + 1 WHERE size > 0", "size", true},
			{"place", "DELETE FROM mailbench_partlists WHERE part_order = 2", "part", false},
			{"order", "UPDATE mailbench_partlists SET part_order = 10 WHERE part_order = 1", "part", false},
			{"flags", "UPDATE mailbench_messages SET flags = 1", "shown", true},
			{"row", "DELETE FROM mailbench_messages", "shown", true},
			{"expunged", "UPDATE mailbench_messages SET status = 2", "shown", true},
			{"date", "UPDATE mailbench_physmessage SET internal_date = 1", "shown", true},
			{"header", "", "header", true},
		} {
			cfg := store.Config{Dir: t.TempDir(), NoSync: true, Extra: map[string]string{"dsn": e.dsn}}
			s := mustOpen(t, cfg)
			body := mail(fmt.Sprint(i), fmt.Sprint("attachment ", i)) // shares nothing with what was damaged before
			body = strings.Replace(body, "the same", fmt.Sprint("number ", i), 1)
			keys := mustAppend(t, s, body)
			mustCheck(t, s)
			err := s.db.change(func(c2 *session) error {
				switch c.name {
				case "part":
					_, err := c2.exec("UPDATE mailbench_mimeparts SET data = ?", "other")
					return err
				case "header":
					n, _, err := c2.integer("SELECT MAX(id) FROM mailbench_headername")
					if err == nil {
						_, err = c2.exec("UPDATE mailbench_headername SET headername = ? WHERE id = ?", "other", n)
					}
					return err
				}
				return c2.plain(c.change)
			})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			found := ""
			for err := range s.Check() {
				found += err.Error() + "\n"
			}
			if !strings.Contains(found, c.want) {
				t.Errorf("%s: check says %q, want %q", c.name, found, c.want)
			}
			b, err := s.Source().ReadMessage(&index.Entry{Key: keys[0]}, nil)
			if right := err == nil && string(b) == body; right != c.reads || err == nil && !right {
				t.Errorf("%s: read as %q, %v", c.name, b, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
