package maildir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/internal/fsys"
)

func TestDeliver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	at := time.Now().Add(time.Hour).Truncate(time.Second) // later than any name of this process
	opt := DeliverOptions{Host: "a/b:c,d", Now: func() time.Time { return at }}
	msg := []byte("Subject: x\n\nbody\n")
	first, err := Deliver(dir, msg, opt)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Deliver(dir, msg, opt) // the clock stands still
	if err != nil {
		t.Fatal(err)
	}
	if first == second || Compare(first, second) >= 0 {
		t.Errorf("%q then %q", first, second)
	}
	n := Parse(first, Options{})
	if n.Base != first || n.Size != int64(len(msg)) || n.VSize != CRLFSize(msg) || !strings.Contains(first, `.a\057b\072c\054d,S=`) {
		t.Errorf("base name %q", first)
	}
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	SortBase(s.Entries)
	if len(s.Entries) != 2 || s.Entries[0].Base != first || s.Entries[0].Dir != New {
		t.Errorf("%+v", s.Entries)
	}
	if got, err := opened(t, dir).ReadAll(&s.Entries[1], nil); err != nil || string(got) != string(msg) {
		t.Errorf("%q, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("tmp: %v, %v", left, err)
	}
	bare, err := Deliver(dir, nil, DeliverOptions{NoSizes: true, Sync: SyncNever, Host: "h"})
	if err != nil || strings.Contains(bare, ",") {
		t.Errorf("%q, %v", bare, err)
	}
}

func TestDeliver_concurrent(t *testing.T) {
	dir := mailbox(t)
	d, err := NewDeliverer(dir, DeliverOptions{Sync: SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if _, err := d.Deliver([]byte("x\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var s Scan
	if err := s.Read(dir, Options{}); err != nil || len(s.Entries) != 400 || s.Unique() != 0 {
		t.Errorf("%d messages, %v", len(s.Entries), err)
	}
}

// The policy decides the system calls.
func TestDeliver_sync(t *testing.T) {
	for policy, want := range map[SyncPolicy]fsys.Counts{
		SyncAlways: {Opens: 1, Writes: 1, BytesWritten: 4, Syncs: 1, Renames: 1, SyncDirs: 1},
		SyncNever:  {Opens: 1, Writes: 1, BytesWritten: 4, Renames: 1},
	} {
		c := fsys.Counting(fsys.OS)
		if _, err := Deliver(t.TempDir(), []byte("a: b"), DeliverOptions{FS: c, Sync: policy}); err != nil {
			t.Fatal(err)
		}
		if got := c.Counts(); got != want {
			t.Errorf("policy %d:\ngot  %+v\nwant %+v", policy, got, want)
		}
	}
}

// A message whose delivery was reported survives every crash; before that
// there is a whole message in new/ or none.
func TestDeliver_crash(t *testing.T) {
	dir := mailbox(t)
	log, err := fsys.NewLog(fsys.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	msg := strings.Repeat("line\n", 3000)
	base, err := Deliver(dir, []byte(msg), DeliverOptions{FS: fsys.Recording(fsys.OS, log)})
	if err != nil {
		t.Fatal(err)
	}
	for n := range log.Len() + 1 {
		for _, crash := range fsys.Crashes(uint64(n)) {
			after := t.TempDir()
			if err := log.Replay(after, n, crash); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(after, "new", base))
			if err == nil && string(got) != msg {
				t.Errorf("event %d, %v: %d bytes of %d", n, crash, len(got), len(msg))
			}
			if err != nil && n == log.Len() {
				t.Errorf("%v: a delivered message is lost", crash)
			}
		}
	}
}

func TestDeliver_fails(t *testing.T) {
	boom := errors.New("boom")
	for _, op := range []fsys.Op{fsys.OpMkdir, fsys.OpOpen, fsys.OpWrite, fsys.OpSync, fsys.OpRename} {
		dir := t.TempDir()
		bad := fsys.Failing(fsys.OS, func(o fsys.Op, _ string, _ int64, _ int) error {
			if o == op {
				return boom
			}
			return nil
		})
		if base, err := Deliver(dir, []byte("x"), DeliverOptions{FS: bad}); !errors.Is(err, boom) || base != "" {
			t.Errorf("%v: %q, %v", op, base, err)
		}
		for _, sub := range []string{"tmp", "new"} {
			if left, _ := os.ReadDir(filepath.Join(dir, sub)); len(left) != 0 {
				t.Errorf("%v left %v in %s", op, left, sub)
			}
		}
	}
}

func TestMoveNew(t *testing.T) {
	dir := mailbox(t, "new/1.a", "new/2.b:2,", "new/3.c:2,FS", "new/4.d:1,x", "new/.hidden", "cur/5.e")
	os.Mkdir(filepath.Join(dir, "new", "sub"), 0o700)
	if n, err := MoveNew(dir, Options{}); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"cur/1.a:2,", "cur/2.b:2,", "cur/3.c:2,FS", "cur/4.d:1,x:2,", "cur/5.e"}
	if got := listed(&s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
