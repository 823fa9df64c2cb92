package box

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

var policies = []Fsync{Always, Group, Never}

func text(i int) []byte {
	return fmt.Appendf(nil, "Message-ID: <m%d@example.net>\nSubject: number %d\nDate: Thu, 2 Jan 2020 03:04:05 +0000\nFrom: a%d@example.net\n\nbody %d\n", i, i, i, i)
}

func open(t testing.TB, cfg Config) *Box {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "mail")
	}
	b, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func check(t testing.TB, b *Box) {
	t.Helper()
	for err := range b.Check() {
		t.Error(err)
	}
}

// TestBox_oneOfEach walks a message through a box of each design.
func TestBox_oneOfEach(t *testing.T) {
	for _, d := range everyDesign {
		for _, p := range policies {
			t.Run(d.Name()+"/"+p.String(), func(t *testing.T) {
				b := open(t, Config{Store: newMemory(), Design: d, Fsync: p, Cache: true})
				for i := range 5 {
					uid, err := b.Append(store.Message{Body: text(i), Flags: index.FlagSeen})
					if err != nil || uid != uint32(i+1) {
						t.Fatalf("append %d: uid %d, %v", i, uid, err)
					}
				}
				err := b.SetFlags([]uint32{2, 3, 99}, func(uid uint32, old index.Flags, k uint32) (index.Flags, uint32) {
					return old | index.FlagFlagged, 4
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Expunge([]uint32{3, 5}); err != nil {
					t.Fatal(err)
				}
				got, err := b.Read(2, nil)
				if err != nil || string(got) != string(text(1)) {
					t.Fatalf("read: %q, %v", got, err)
				}
				if _, err := b.Read(3, nil); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("read of an expunged message: %v", err)
				}
				var rows []string
				err = b.Query(func(m index.Mailbox) error {
					return m.Messages(func(m index.Message) bool {
						rows = append(rows, fmt.Sprintf("%d %s %s %d", m.UID, m.Key, m.Flags, m.Keywords))
						return true
					})
				})
				want := "1 m00000001 S 0 2 m00000002 FS 4 4 m00000004 S 0"
				if err != nil || strings.Join(rows, " ") != want {
					t.Fatalf("rows %q, want %q: %v", rows, want, err)
				}
				if st := b.Status(); st.Messages != 3 || st.UIDNext != 6 {
					t.Fatalf("status %+v", st)
				}
				if uid, err := b.Append(store.Message{Body: text(9)}); err != nil || uid != 6 {
					t.Fatalf("uid %d, %v", uid, err)
				}
				check(t, b)
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := b.Append(store.Message{}); err != ErrClosed {
					t.Fatalf("append after close: %v", err)
				}
			})
		}
	}
}

// TestAppend_membersFailAlone: the store refuses one message of a group.
func TestAppend_membersFailAlone(t *testing.T) {
	f := newMemory()
	full := errors.New("no room")
	f.fail = func(m store.Message) error {
		if strings.Contains(string(m.Body), "number 3\n") {
			return full
		}
		return nil
	}
	b := open(t, Config{Store: f, Design: everyDesign[0], Fsync: Group})
	var wg sync.WaitGroup
	send := func(i int) {
		wg.Go(func() {
			uid, err := b.Append(store.Message{Body: text(i)})
			if (i == 3) != errors.Is(err, full) || (uid == 0) != (err != nil) {
				t.Errorf("message %d: uid %d, %v", i, uid, err)
			}
			if err != nil && !strings.Contains(err.Error(), "<m3@example.net>") {
				t.Errorf("%v does not name the message", err)
			}
			if got, _ := b.Read(uid, nil); err == nil && string(got) != string(text(i)) {
				t.Errorf("uid %d is %q", uid, got)
			}
		})
	}
	b.mu.Lock() // the first leader waits for the index, the others behind it
	send(0)
	for f.calls.Load() == 0 {
		runtime.Gosched()
	}
	for i := 1; i < 20; i++ {
		send(i)
	}
	for waiting := 0; waiting < 19; runtime.Gosched() {
		b.group.mu.Lock()
		waiting = len(b.group.waiting)
		b.group.mu.Unlock()
	}
	b.mu.Unlock()
	wg.Wait()
	if n := f.calls.Load(); n != 3 { // the leader, the group, and the rest of it behind the one that was refused
		t.Errorf("%d calls of the store for 20 messages, want 3", n)
	}
	check(t, b)
}

// TestNever_ownIO: a design whose engine opens the files itself is told by its
// own option, whatever else is asked for.
func TestNever_ownIO(t *testing.T) {
	for _, d := range everyDesign {
		o := unsynced(d, index.Options{Extra: map[string]string{"synchronous": "full", "sync": "yes", "other": "x"}})
		if o.Extra["other"] != "x" {
			t.Errorf("%s: other options are lost", d.Name())
		}
		if index.AxesOf(d).OwnIO && o.Extra["synchronous"] != "off" && o.Extra["sync"] != "no" {
			t.Errorf("%s waits for the disk: %v", d.Name(), o.Extra)
		}
	}
}
