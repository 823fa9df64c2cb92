package maildir

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/maildir"
	"mailbench/store"
)

func newest(t testing.TB, s store.Store, want int) (key string, flags index.Flags) {
	t.Helper()
	var l index.Listing
	if err := s.Source().List(&l); err != nil {
		t.Fatal(err)
	}
	s.Source().Order(l.Entries)
	if len(l.Entries) != want {
		t.Fatalf("%d messages, want %d", len(l.Entries), want)
	}
	e := l.Entries[want-1]
	return e.Key, e.Flags
}

// TestKeys_wildClock: whatever the clock tells, and however often the mailbox is
// opened, a key is given once, and above those before it.
func TestKeys_wildClock(t *testing.T) {
	dir := t.TempDir()
	last, n := "", 0
	for _, secs := range []int64{1 << 40, 1 << 55, 0, math.MaxInt64, math.MinInt64, -1, 1 << 40, 1e12, 1e11, noon.Unix()} {
		c := &clock{now: time.Unix(secs, 0)}
		s := open(t, store.Config{Dir: dir, NoSync: true, Now: c.Now})
		for range 2 {
			n++
			keys, err := s.Append([]store.Message{{Body: []byte("x\n"), Date: 1}})
			if err != nil {
				t.Fatalf("%d: %v", secs, err)
			}
			if maildir.Compare(keys[0], last) <= 0 {
				t.Errorf("%d: key %s after %s", secs, keys[0], last)
			}
			last = keys[0]
			if key, _ := newest(t, s, n); key != last {
				t.Errorf("%d: the newest is %s, want %s", secs, key, last)
			}
		}
		shut(t, s)
	}
}

// TestKeys_full: when no name above the newest can be made Append fails, and
// what is there stays.
func TestKeys_full(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Config{Dir: dir, NoSync: true})
	shut(t, s)
	stranger := filepath.Join(dir, "cur", fmt.Sprintf("%d.M999998P1.h:2,S", int64(maxMicro/1e6-1)))
	if err := os.WriteFile(stranger, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = open(t, store.Config{Dir: dir, NoSync: true})
		keys, err := s.Append([]store.Message{{Body: []byte("1")}, {Body: []byte("2")}})
		if n := len(keys); !errors.Is(err, ErrFull) || n > 1 {
			t.Errorf("keys %q, %v", keys, err)
		}
		newest(t, s, 2)
		shut(t, s)
	}
}

// TestFlags_undefined: bits that are no flag are not kept, nor shown before.
func TestFlags_undefined(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir(), NoSync: true})
	keys, err := s.Append([]store.Message{{Body: []byte("x"), Flags: 1<<6 | index.FlagSeen}})
	if err != nil {
		t.Fatal(err)
	}
	if _, flags := newest(t, s, 1); flags != index.FlagSeen {
		t.Errorf("flags %#x", uint16(flags))
	}
	if err := s.SetFlags([]store.Change{{Key: keys[0], Flags: 1<<7 | index.FlagDraft}}); err != nil {
		t.Fatal(err)
	}
	if _, flags := newest(t, s, 1); flags != index.FlagDraft {
		t.Errorf("flags %#x", uint16(flags))
	}
	shut(t, s)
	if err := s.Purge(); !errors.Is(err, errClosed) {
		t.Errorf("Purge after Close: %v", err)
	}
}
