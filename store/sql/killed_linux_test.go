package sqlstore

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mailbench/store"
)

// childVariable makes the test binary append for ever: "DIR\nDSN".
const childVariable = "MAILBENCH_SQL_CHILD"

func TestMain(m *testing.M) {
	if v := os.Getenv(childVariable); v != "" {
		appendForEver(v)
	}
	os.Exit(m.Run())
}

func appendForEver(v string) {
	dir, dsn, _ := strings.Cut(v, "\n")
	s, err := open(store.Config{Dir: dir, NoSync: true, Extra: map[string]string{"dsn": dsn}})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	for g := range 4 {
		go func() {
			for i := 0; ; i++ {
				body := mail(fmt.Sprint(os.Getpid(), "-", g, "-", i), "attachment")
				keys, err := s.Append([]store.Message{{Body: []byte(body)}, {Body: []byte("second of " + body)}})
				mu.Lock()
				if err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Printf("%s %s\n", keys[0], hex.EncodeToString([]byte(body)))
				mu.Unlock()
			}
		}()
	}
	select {}
}

// TestKilled_client: what was acknowledged before the process was killed is
// there, whole, and nothing in halves; without syncing too.
func TestKilled_client(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		cfg := e.config(t, t.TempDir())
		acked := map[string]string{}
		for round := range 3 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+cfg.Dir+"\n"+e.dsn)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for n := 0; lines.Scan(); n++ {
				if n == 10+20*round {
					cmd.Process.Kill()
				}
				key, text, ok := strings.Cut(lines.Text(), " ")
				body, err := hex.DecodeString(text)
				if !ok || err != nil {
					t.Fatalf("the child says %s", lines.Text())
				}
				if _, used := acked[key]; used {
					t.Fatalf("key %s was given twice", key)
				}
				acked[key] = string(body)
			}
			cmd.Wait()
			s := mustOpen(t, cfg)
			holdAcked(t, s, acked, 2)
			mustCheck(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d messages acknowledged", len(acked))
	})
}

// holdAcked looks for what was acknowledged; a multiple of group is there.
func holdAcked(t *testing.T, s *Store, acked map[string]string, group int) {
	t.Helper()
	if n := s.cat.Len(); n%group != 0 || n < group*len(acked) {
		t.Errorf("%d messages, of %d groups of %d that were acknowledged", n, len(acked), group)
	}
	lost := lostOf(s, acked)
	if len(lost) > 0 {
		t.Errorf("%d of %d acknowledged messages are lost or others, %s the first", len(lost), len(acked), lost[0])
	}
}

func lostOf(s *Store, acked map[string]string) (lost []string) {
	for key, body := range acked {
		r, ok := s.cat.Get(key)
		if ok {
			b, err := reader{s}.ReadMessage(r, nil)
			ok = err == nil && string(b) == body
		}
		if !ok {
			lost = append(lost, key)
		}
	}
	slices.Sort(lost)
	return lost
}

// A private server is one that the test may kill.
type private struct {
	name, data, dsn string
	cmd             *exec.Cmd
}

// privates calls f for each engine with a data directory, with a server that was
// started on it with the engine's options.
func privates(t *testing.T, options map[string][]string, f func(t *testing.T, p *private)) {
	for _, s := range servers {
		t.Run("engine="+s.name, func(t *testing.T) {
			data := os.Getenv(s.variable + "_DATA")
			if data == "" {
				t.Skip(s.variable + "_DATA is not set: .ci/sql-servers makes a directory for a server to be killed")
			}
			p := &private{name: s.name, data: data}
			t.Cleanup(p.kill)
			p.start(t, options[s.name]...)
			// The database that is there: a new one is hundreds of files that
			// PostgreSQL syncs one by one when it is back from a crash.
			p.dsn = p.on("postgres")
			if s.name == "mariadb" {
				admin := engine{s.name, p.on("mysql")}.raw(t, store.Config{})
				admin.run(t, "CREATE DATABASE IF NOT EXISTS crash")
				admin.close()
				p.dsn = p.on("crash")
			}
			f(t, p)
		})
	}
}

func (p *private) on(database string) string {
	if p.name == "postgres" {
		return "postgres://mailbench@/" + database + "?host=" + p.data
	}
	return "mysql://root@localhost/" + database + "?socket=" + p.data + "/s"
}

// start starts the server as the owner of its data and waits until it answers.
func (p *private) start(t *testing.T, options ...string) {
	t.Helper()
	var args []string
	if p.name == "postgres" {
		args = append([]string{find(t, "postgres"), "-D", p.data, "-k", p.data, "-c", "listen_addresses="}, options...)
	} else {
		args = append([]string{find(t, "mariadbd"), "--no-defaults", "--datadir=" + p.data, "--socket=" + p.data + "/s",
			"--pid-file=" + p.data + "/pid", "--skip-networking", "--innodb-log-file-size=32M"}, options...)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(p.data, &st); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for end := time.Now().Add(60 * time.Second); ; {
		p.cmd = exec.Command(args[0], args[1:]...)
		p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.data, log, log
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if os.Getuid() == 0 {
			p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: st.Uid, Gid: st.Gid}
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() { p.cmd.Wait(); close(gone) }()
		e := engine{p.name, p.on(map[string]string{"postgres": "postgres", "mariadb": "mysql"}[p.name])}
		for alive := true; alive; {
			pool, err := server(e.dsn, true, 1)
			if err == nil {
				err = pool.read(func(c *session) error {
					_, _, err := c.integer("SELECT 1")
					return err
				})
				pool.close()
			}
			if err == nil {
				return
			}
			select {
			case <-gone: // a process of the killed one may still hold its memory
				alive = false
			case <-time.After(100 * time.Millisecond):
			}
			if time.Now().After(end) {
				text, _ := os.ReadFile(log.Name())
				t.Fatalf("%s does not answer: %v\n%s", p.name, err, text)
			}
		}
	}
}

// kill ends the server and its children at once.
func (p *private) kill() {
	if p.cmd == nil {
		return
	}
	pid := p.cmd.Process.Pid
	syscall.Kill(pid, syscall.SIGSTOP) // else it or its children see the others die, and tidy up
	kids := children(pid)
	for _, kid := range kids {
		syscall.Kill(kid, syscall.SIGKILL)
	}
	p.cmd.Process.Kill()
	for _, kid := range append(kids, pid) {
		for syscall.Kill(kid, 0) == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}
	p.cmd = nil
}

// children are the processes whose parent is pid.
func children(pid int) (kids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		text := string(b)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			if kid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				kids = append(kids, kid)
			}
		}
	}
	return kids
}

func find(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if more, err := filepath.Glob("/usr/sbin/" + name); err == nil {
		paths = append(paths, more...)
	}
	if len(paths) == 0 {
		t.Fatalf("there is no %s", name)
	}
	return paths[len(paths)-1]
}

// TestKilled_server: the server is killed while 8 goroutines append. What was
// acknowledged is there when it is back; the Store that was open goes on; who
// appended while it was away has a clear error.
func TestKilled_server(t *testing.T) {
	privates(t, nil, func(t *testing.T, p *private) {
		cfg := store.Config{Dir: t.TempDir(), Extra: map[string]string{"dsn": p.dsn}}
		s := mustOpen(t, cfg)
		acked := map[string]string{}
		errs := 0
		for round := range 3 {
			// In the last round the server is back before anybody gives up.
			back := round == 2
			s.patience = 50 * time.Millisecond
			if back {
				s.patience = time.Minute
			}
			n, failed := p.killDuring(t, s, acked, 20+30*round, back)
			errs += failed
			t.Logf("round %d: %d acknowledged, %d errors", round, n, failed)
			if round == 1 {
				if _, err := s.Append([]store.Message{{Body: []byte("A: b\n\n")}}); err == nil || !strings.Contains(err.Error(), "connect") {
					t.Errorf("without a server: %v", err)
				}
			}
			if !back {
				p.start(t)
			}
			again := mustOpen(t, cfg)
			holdAcked(t, again, acked, 1)
			mustCheck(t, again)
			again.Close()
		}
		key := mustAppend(t, s, "A: b\n\nafterwards\n")[0]
		acked[key] = "A: b\n\nafterwards\n"
		if err := s.Expunge([]string{key}); err != nil {
			t.Error(err)
		}
		delete(acked, key)
		holdAcked(t, s, acked, 1)
		if errs == 0 {
			t.Error("no append met the end of the server: nothing was shown")
		}
	})
}

// killDuring appends until the server is killed, after n acknowledgements; with
// back it is started again before those under way have ended.
func (p *private) killDuring(t *testing.T, s *Store, acked map[string]string, n int, back bool) (got, failed int) {
	t.Helper()
	var mu sync.Mutex
	var dead atomic.Bool
	var work sync.WaitGroup
	enough := make(chan struct{})
	for g := range 8 {
		work.Go(func() {
			for i := 0; !dead.Load(); i++ {
				body := mail(fmt.Sprint(time.Now().UnixNano(), "-", g, "-", i), "attachment")
				keys, err := s.Append([]store.Message{{Body: []byte(body), Date: 1e9}})
				mu.Lock()
				if err != nil {
					failed++
					if !strings.Contains(err.Error(), "connect") {
						t.Errorf("the error does not speak of the connection: %v", err)
					}
					mu.Unlock()
					return
				}
				acked[keys[0]] = body
				if got++; got == n {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(60 * time.Second):
		t.Error("too few appends in a minute")
	}
	time.Sleep(20 * time.Millisecond)
	dead.Store(back)
	p.kill()
	if back {
		p.start(t)
	}
	work.Wait()
	return got, failed
}

// TestKilled_serverThatDoesNotSync: PostgreSQL with NoSync does lose what it
// acknowledged just before, or TestKilled_server would show nothing.
func TestKilled_serverThatDoesNotSync(t *testing.T) {
	// The server writes its log after 200 ms, 1 MB, when it has no more room for
	// it, or when something of its own commits.
	options := map[string][]string{"postgres": {"-c", "wal_writer_delay=10s", "-c", "wal_writer_flush_after=1GB", "-c", "wal_buffers=64MB", "-c", "autovacuum=off"}}
	privates(t, options, func(t *testing.T, p *private) {
		if p.name != "postgres" {
			return // MariaDB's setting is the server's, not ours
		}
		cfg := store.Config{Dir: t.TempDir(), NoSync: true, Extra: map[string]string{"dsn": p.dsn}}
		lost, all := 0, 0
		for round := 0; round < 3 && lost == 0; round++ { // it may just have written it
			s := mustOpen(t, cfg)
			acked := map[string]string{}
			s.patience = 0
			p.killDuring(t, s, acked, 50, false)
			s.Close()
			p.start(t, options[p.name]...)
			s = mustOpen(t, cfg)
			lost, all = len(lostOf(s, acked)), len(acked)
			mustCheck(t, s)
			s.Close()
		}
		if lost == 0 {
			t.Error("killed servers lost nothing though they did not sync")
		}
		t.Logf("%d of %d acknowledged messages lost", lost, all)
	})
}

// TestPromise: a server that does not sync itself is refused unless NoSync is
// asked for.
func TestPromise(t *testing.T) {
	options := map[string][]string{"postgres": {"-c", "fsync=off"}, "mariadb": {"--innodb-flush-log-at-trx-commit=2"}}
	privates(t, options, func(t *testing.T, p *private) {
		cfg := store.Config{Dir: t.TempDir(), Extra: map[string]string{"dsn": p.dsn}}
		if s, err := store.Open(Format, cfg); err == nil || !strings.Contains(err.Error(), "does not promise") {
			t.Errorf("%v, %v", s, err)
		}
		cfg.NoSync = true
		s := mustOpen(t, cfg)
		mustAppend(t, s, "A: b\n\n")
		s.Close()
	})
}

// TestSynchronous: what each session of an SQLite file is told.
func TestSynchronous(t *testing.T) {
	for noSync, want := range map[bool]int64{false: 2, true: 0} {
		s := mustOpen(t, store.Config{Dir: t.TempDir(), NoSync: noSync})
		c, err := s.db.take()
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.db.take()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*session{c, d} {
			got, _, err := x.integer("PRAGMA synchronous")
			keys, _, err2 := x.integer("PRAGMA foreign_keys")
			mode, err3 := x.text("PRAGMA journal_mode")
			if got != want || keys != 1 || mode != "wal" || errors.Join(err, err2, err3) != nil {
				t.Errorf("NoSync %v: synchronous %d, foreign_keys %d, journal_mode %s, %v", noSync, got, keys, mode, errors.Join(err, err2, err3))
			}
			s.db.give(x)
		}
	}
}
