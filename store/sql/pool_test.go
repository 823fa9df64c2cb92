package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mailbench/index"
	"mailbench/store"
)

// A fakeServer is a driver whose statements do what a test says.
type fakeServer struct {
	conns atomic.Int64 // open now
	most  atomic.Int64
	do    func(conn int, q string) error
	made  atomic.Int64
}

var (
	errMet  = errors.New("met another transaction")
	errGone = errors.New("connection gone")
)

func (f *fakeServer) pool(conns int) *pool {
	d := &dialect{name: "fake", begin: "BEGIN", trouble: func(err error) trouble {
		switch {
		case errors.Is(err, errMet):
			return retry
		case errors.Is(err, errGone), errors.Is(err, driver.ErrBadConn):
			return lost
		}
		return other
	}}
	return newPool(d, func() (driver.Conn, error) {
		n := f.conns.Add(1)
		for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
		}
		return &fakeConn{f, int(f.made.Add(1))}, nil
	}, nil, conns)
}

type fakeConn struct {
	f *fakeServer
	n int
}

func (c *fakeConn) Prepare(q string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *fakeConn) Begin() (driver.Tx, error)             { return nil, errors.ErrUnsupported }
func (c *fakeConn) Close() error                          { c.f.conns.Add(-1); return nil }
func (c *fakeConn) ExecContext(_ context.Context, q string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(0), c.f.do(c.n, q)
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(conn int, q string, call int) error // call counts those of q from 1
		want string                                   // of the error
		log  string
	}{
		{"plain", func(int, string, int) error { return nil }, "", "BEGIN X COMMIT"},
		{"met twice", func(_ int, q string, n int) error {
			if q == "X" && n < 3 {
				return errMet
			}
			return nil
		}, "", "BEGIN X ROLLBACK BEGIN X ROLLBACK BEGIN X COMMIT"},
		{"met at commit", func(_ int, q string, n int) error {
			if q == "COMMIT" && n == 1 {
				return errMet
			}
			return nil
		}, "", "BEGIN X COMMIT ROLLBACK BEGIN X COMMIT"},
		{"an error of its own", func(_ int, q string, _ int) error {
			if q == "X" {
				return errors.New("bad")
			}
			return nil
		}, "bad", "BEGIN X ROLLBACK"},
		{"lost in the middle", func(_ int, q string, _ int) error {
			if q == "X" {
				return errGone
			}
			return nil
		}, "connection gone", "BEGIN X"},
		{"lost at commit", func(_ int, q string, _ int) error {
			if q == "COMMIT" {
				return errGone
			}
			return nil
		}, "may have been done or not", "BEGIN X COMMIT"},
		{"lost at once", func(_ int, q string, _ int) error { return errGone }, "connection gone", "BEGIN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log []string
			calls := map[string]int{}
			f := &fakeServer{do: func(conn int, q string) error {
				log = append(log, q)
				calls[q]++
				return c.do(conn, q, calls[q])
			}}
			p := f.pool(2)
			err := p.change(func(s *session) error { return s.plain("X") })
			if got := strings.Join(log, " "); got != c.log {
				t.Errorf("did %q, want %q", got, c.log)
			}
			if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var unsure *unsureError
			if errors.As(err, &unsure) != (c.name == "lost at commit") {
				t.Errorf("unsure: %v", err)
			}
			if err := p.close(); err != nil || f.conns.Load() != 0 {
				t.Errorf("%d connections left open, %v", f.conns.Load(), err)
			}
		})
	}
}

// TestChange_always: who always meets another one is told in the end.
func TestChange_always(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the waits cost no time
		n := 0
		f := &fakeServer{do: func(_ int, q string) error {
			if q == "X" {
				n++
				return errMet
			}
			return nil
		}}
		err := f.pool(1).change(func(s *session) error { return s.plain("X") })
		if !errors.Is(err, errMet) || n != maxTries {
			t.Errorf("%d attempts, %v", n, err)
		}
		// And sooner when the engine takes its time to say so.
		n = 0
		err = f.pool(1).change(func(s *session) error { time.Sleep(maxRetry - time.Second); return s.plain("X") })
		if !errors.Is(err, errMet) || n != 2 {
			t.Errorf("%d slow attempts, %v", n, err)
		}
	})
}

// TestPool_staleConnections: a server that was restarted is met with fresh
// connections, however many idle ones there were.
func TestPool_staleConnections(t *testing.T) {
	var restarted atomic.Bool
	f := &fakeServer{do: func(conn int, q string) error {
		if conn <= 4 && restarted.Load() {
			return errGone
		}
		return nil
	}}
	p := f.pool(4)
	var inside sync.WaitGroup
	inside.Add(4)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			if err := p.change(func(s *session) error { inside.Done(); inside.Wait(); return s.plain("X") }); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	restarted.Store(true)
	if len(p.idle) != 4 {
		t.Fatalf("%d idle connections", len(p.idle))
	}
	if err := p.change(func(s *session) error { return s.plain("X") }); err != nil || f.made.Load() != 5 {
		t.Errorf("%d connections were made, %v", f.made.Load(), err)
	}
}

func TestPool_isBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // all of them wait at the same time
		f := &fakeServer{do: func(int, string) error { time.Sleep(time.Millisecond); return nil }}
		p := f.pool(3)
		var work sync.WaitGroup
		for range 50 {
			work.Go(func() {
				if err := p.change(func(s *session) error { return s.plain("X") }); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if n := f.most.Load(); n != 3 {
			t.Errorf("%d connections at a time, want 3", n)
		}
		if p.close() != nil || f.conns.Load() != 0 {
			t.Error("connections are left open")
		}
		if err := p.change(func(*session) error { return nil }); !errors.Is(err, errClosed) {
			t.Errorf("after close: %v", err)
		}
	})
}

// TestFull: an SQLite file that cannot grow. What failed is not seen, and with
// space again the Store goes on.
func TestFull(t *testing.T) {
	cfg := store.Config{Dir: t.TempDir(), NoSync: true, Extra: map[string]string{"conns": "1"}}
	s := mustOpen(t, cfg)
	want := []string{"A: b\n\nfirst\n"}
	mustAppend(t, s, want...)
	limit := func(pages int) {
		t.Helper()
		if err := s.db.read(func(c *session) error {
			_, _, err := c.integer(fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // as many as there are
	full := strings.Repeat("x", 100<<10)
	keys, err := s.Append([]store.Message{{Body: []byte("A: c\n\n")}, {Body: []byte("A: d\n\n" + full)}})
	if !errors.Is(err, syscall.ENOSPC) || len(keys) > 0 || !strings.Contains(err.Error(), cfg.Dir) {
		t.Errorf("%v, %v", keys, err)
	}
	if got := bodies(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after an error there is %q", got)
	}
	limit(1 << 20)
	want = append(want, "A: e\n\n"+full)
	mustAppend(t, s, want[1])
	if got := bodies(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("with space again there are %d messages", len(got))
	}
	mustCheck(t, s)
}

// TestClosed: every call of a closed Store is an error.
func TestClosed(t *testing.T) {
	s := mustOpen(t, store.Config{Dir: t.TempDir(), NoSync: true})
	key := mustAppend(t, s, "A: b\n\n")[0]
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, err := s.Append([]store.Message{{Body: []byte("A: c\n\n")}})
	for what, err := range map[string]error{
		"append": err, "flags": s.SetFlags([]store.Change{{Key: key, Flags: index.FlagSeen}}), "expunge": s.Expunge([]string{key}), "purge": s.Purge(),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
