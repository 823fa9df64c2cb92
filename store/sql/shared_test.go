package sqlstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

func mustOpen(t testing.TB, cfg store.Config) *Store {
	t.Helper()
	s, err := store.Open(Format, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*Store)
}

func mustAppend(t testing.TB, s *Store, bodies ...string) []string {
	t.Helper()
	var msgs []store.Message
	for _, b := range bodies {
		msgs = append(msgs, store.Message{Body: []byte(b), Date: 1e9})
	}
	keys, err := s.Append(msgs)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func mustCheck(t testing.TB, s *Store) {
	t.Helper()
	for err := range s.Check() {
		t.Errorf("check: %v", err)
	}
}

// bodies are the messages of a mailbox in their order.
func bodies(t testing.TB, s *Store) (out []string) {
	t.Helper()
	src := s.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	src.Order(l.Entries)
	for i := range l.Entries {
		b, err := src.ReadMessage(&l.Entries[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// count is how many rows a table has.
func count(t testing.TB, s *Store, table string) (n int64) {
	t.Helper()
	err := s.db.read(func(c *session) (err error) {
		n, _, err = c.integer("SELECT COUNT(*) FROM " + table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mail(id, attachment string) string {
	return "Message-ID: <" + id + "@example.net>\nSubject: the same\nContent-Type: multipart/mixed; boundary=x" + id + "\n\n" +
		"--x" + id + "\n\ntext " + id + "\n--x" + id + "\nContent-Type: application/octet-stream\n\n" + attachment + "\n--x" + id + "--\n"
}

// TestParts_areStoredOnce: an attachment that two mailboxes of a database have
// is one row, and goes when the last message that has it goes.
func TestParts_areStoredOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		e = e.fresh(t)
		a := mustOpen(t, e.config(t, t.TempDir()))
		other := e.config(t, t.TempDir())
		if e.dsn == "" {
			other = store.Config{Dir: a.dir, NoSync: true, Extra: map[string]string{"mailbox": "second"}}
		}
		b := mustOpen(t, other)
		attachment := strings.Repeat("\x00\xffdata\r\n", 1000)
		ka := mustAppend(t, a, mail("1", attachment), mail("2", attachment))
		mustAppend(t, b, mail("3", attachment))
		// Of each: header, two part headers, text, end; the attachment once.
		if n := count(t, a, "mailbench_mimeparts"); n != 3*5+1 {
			t.Errorf("%d parts, want 16", n)
		}
		if n := count(t, a, "mailbench_headervalue"); n != 3*2+1 {
			t.Errorf("%d header values, want 7", n)
		}
		if got := bodies(t, b); len(got) != 1 || got[0] != mail("3", attachment) {
			t.Errorf("the second mailbox has %d messages", len(got))
		}
		if err := a.Expunge(ka); err != nil {
			t.Fatal(err)
		}
		if n := count(t, a, "mailbench_mimeparts"); n != 16 {
			t.Errorf("%d parts after Expunge, want 16: they are Purge's", n)
		}
		if err := a.Purge(); err != nil {
			t.Fatal(err)
		}
		if n := count(t, a, "mailbench_mimeparts"); n != 6 {
			t.Errorf("%d parts after Purge, want 6", n)
		}
		if n := count(t, a, "mailbench_headervalue"); n != 3 {
			t.Errorf("%d header values after Purge, want 3", n)
		}
		mustCheck(t, a)
		mustCheck(t, b)
		for _, s := range []*Store{a, b} {
			if err := s.remove(); err != nil {
				t.Fatal(err)
			}
		}
		for _, table := range tables[1:] {
			if n := count(t, a, table.name); n != 0 && table.name != "mailbench_headername" {
				t.Errorf("%d rows in %s after everything was removed", n, table.name)
			}
		}
	})
}

// TestCopy_ofADirectory: a directory that was copied has the messages of the
// first, on a server too, and each goes its own way from there.
func TestCopy_ofADirectory(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		root := t.TempDir()
		cfg := e.config(t, filepath.Join(root, "grown"))
		a := mustOpen(t, cfg)
		keys := mustAppend(t, a, mail("1", "x"), mail("2", "y"))
		gone := mustAppend(t, a, mail("3", "z"))
		if err := a.SetFlags([]store.Change{{Key: keys[1], Flags: index.FlagSeen, Keywords: 5}}); err != nil {
			t.Fatal(err)
		}
		if err := a.Expunge(gone); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		clone := e.config(t, filepath.Join(root, "clone"))
		if err := os.CopyFS(clone.Dir, os.DirFS(cfg.Dir)); err != nil {
			t.Fatal(err)
		}
		a, b := mustOpen(t, cfg), mustOpen(t, clone)
		want := []string{mail("1", "x"), mail("2", "y")}
		if got := bodies(t, b); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("the copy has %q", got)
		}
		if r, ok := b.cat.Get(keys[1]); !ok || r.Flags != index.FlagSeen || r.Keywords != 5 {
			t.Errorf("in the copy the message has %+v", r)
		}
		if err := b.Expunge(keys[:1]); err != nil {
			t.Fatal(err)
		}
		if err := b.Purge(); err != nil {
			t.Fatal(err)
		}
		fresh := mustAppend(t, b, mail("4", "w"))
		if _, used := a.cat.Get(fresh[0]); used || fresh[0] == gone[0] {
			t.Errorf("key %s was used before", fresh[0])
		}
		if got := bodies(t, a); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the first has %q after changes of the copy", got)
		}
		if got := bodies(t, b); fmt.Sprint(got) != fmt.Sprint([]string{want[1], mail("4", "w")}) {
			t.Errorf("the copy has %q", got)
		}
		mustCheck(t, a)
		mustCheck(t, b)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got := bodies(t, mustOpen(t, clone)); len(got) != 2 {
			t.Errorf("opened again the copy has %q", got)
		}
	})
}

// TestClients_manyStores: more appenders than connections, in mailboxes that
// share parts, which are purged meanwhile.
func TestClients_manyStores(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		const clients, each = 200, 3
		var stores []*Store
		root := t.TempDir()
		for i := range 2 {
			cfg := e.config(t, filepath.Join(root, fmt.Sprint(i)))
			if e.dsn == "" {
				cfg.Dir, cfg.Extra["mailbox"] = root, fmt.Sprint("mailbox", i)
			}
			stores = append(stores, mustOpen(t, cfg))
		}
		var work sync.WaitGroup
		errs := make(chan error, clients)
		kept := make([][]string, clients)
		for c := range clients {
			work.Go(func() {
				errs <- func() error {
					s := stores[c%2]
					for i := range each {
						body := mail(fmt.Sprint(c, "-", i), fmt.Sprint("attachment ", i))
						keys, err := s.Append([]store.Message{{Body: []byte(body)}, {Body: []byte("A: b\n\n")}})
						if err != nil {
							return err
						}
						if err := s.Expunge(keys[1:]); err != nil {
							return err
						}
						if i == 1 {
							if err := s.Expunge(keys); err != nil {
								return err
							}
							if c < 20 {
								if err := s.Purge(); err != nil {
									return err
								}
							}
							continue
						}
						kept[c] = append(kept[c], body)
					}
					return nil
				}()
			})
		}
		work.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, s := range stores {
			want := map[string]bool{}
			for c := i; c < clients; c += 2 {
				for _, b := range kept[c] {
					want[b] = true
				}
			}
			got := bodies(t, s)
			for _, b := range got {
				if !want[b] {
					t.Fatalf("mailbox %d has %q", i, b)
				}
				delete(want, b)
			}
			if len(want) > 0 {
				t.Errorf("mailbox %d lacks %d of its messages", i, len(want))
			}
			mustCheck(t, s)
			if n := len(s.db.idle); n > cap(s.db.slots) {
				t.Errorf("%d connections, %d are allowed", n, cap(s.db.slots))
			}
		}
	})
}

// TestPurge_meetsAppend: a part is purged by one client in the moment in which
// another one stores a message that has it.
func TestPurge_meetsAppend(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		e = e.fresh(t)
		const clients, each = 12, 8
		var stores []*Store
		root := t.TempDir()
		for i := range 3 {
			cfg := store.Config{Dir: root, NoSync: true, Extra: map[string]string{"dsn": e.dsn, "mailbox": fmt.Sprint("mailbox", i)}}
			stores = append(stores, mustOpen(t, cfg))
		}
		var work sync.WaitGroup
		errs := make(chan error, clients)
		for c := range clients {
			work.Go(func() {
				errs <- func() error {
					s := stores[c%len(stores)]
					for i := range each {
						// The same message again and again: all of its rows are shared.
						body := mail("same", "attachment")
						keys, err := s.Append([]store.Message{{Body: []byte(body)}})
						if err != nil {
							return fmt.Errorf("append: %w", err)
						}
						r, _ := s.cat.Get(keys[0])
						if got, err := (reader{s}).ReadMessage(r, nil); err != nil || string(got) != body {
							return fmt.Errorf("read back as %q, %w", got, err)
						}
						if c == 0 && i == each-1 {
							continue // one stays
						}
						if err := s.Expunge(keys); err != nil {
							return fmt.Errorf("expunge: %w", err)
						}
						if err := s.Purge(); err != nil {
							return fmt.Errorf("purge: %w", err)
						}
					}
					return nil
				}()
			})
		}
		work.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		if got := bodies(t, stores[0]); len(got) != 1 || got[0] != mail("same", "attachment") {
			t.Errorf("%d messages are left, want 1", len(got))
		}
		for _, s := range stores {
			mustCheck(t, s)
		}
		if n := count(t, stores[0], "mailbench_mimeparts"); n != 6 {
			t.Errorf("%d parts are left, want 6", n)
		}
		for _, s := range stores {
			s.Close()
		}
	})
}

// TestPurge_givesBack: SQLite's file gets shorter.
func TestPurge_givesBack(t *testing.T) {
	s := mustOpen(t, store.Config{Dir: t.TempDir(), NoSync: true})
	size := func() int64 {
		t.Helper()
		if err := s.giveBack(); err != nil { // also what is in the log
			t.Fatal(err)
		}
		st, err := os.Stat(filepath.Join(s.dir, database))
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	mustAppend(t, s, "A: b\n\n")
	before := size()
	keys := mustAppend(t, s, mail("1", strings.Repeat("0123456789", 1e5)), mail("2", strings.Repeat("9876543210", 1e5)))
	if err := s.Expunge(keys); err != nil {
		t.Fatal(err)
	}
	if full := size(); full < before+19e5 {
		t.Fatalf("%d bytes with 2 MB of mail more than in %d", full, before)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	if after := size(); after > before+64<<10 {
		t.Errorf("%d bytes after Purge, %d before the mail came", after, before)
	}
	mustCheck(t, s)
}

// TestLong: a message of more than a part's length, and a part that is the same
// as another one, with bytes that text types would not keep.
func TestLong(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		s := mustOpen(t, e.config(t, t.TempDir()))
		body := append([]byte("Subject: \xff\x00\r\n\r\n"), bytes.Repeat([]byte("'\\\x00\x1a\"%?$1\xc3\x28\r\n"), maxSegment/5)...)
		long := append(body, body...)
		keys, err := s.Append([]store.Message{{Body: long}, {Body: body}, {Body: nil}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]byte{long, body, nil} {
			got, err := s.Source().ReadMessage(&index.Entry{Key: keys[i]}, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("message %d: %d bytes, %v; want %d", i, len(got), err, len(want))
			}
		}
		mustCheck(t, s)
	})
}
