package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
)

// Flags are changed by others all the time while we list: every message stays,
// once, under its UID.
func TestRenameStorm(t *testing.T) {
	const n = 64
	md := makeMaildir(t)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("17000000%02d.M1P1.h", i)
		if err := os.WriteFile(filepath.Join(md, "cur", names[i]+":2,"), []byte("Subject: x\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open(md, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	b, err := index.OpenBase(nil, t.TempDir(), index.BaseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sync(src); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			flags := []string{"", "S", "FS", "RS"}
			now := make([]string, n)
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				i := w + 4*r.IntN(n/4)
				to := flags[r.IntN(4)]
				cur := filepath.Join(md, "cur", names[i]+":2,")
				if err := os.Rename(cur+now[i], cur+to); err != nil {
					t.Error(err)
					return
				}
				now[i] = to
			}
		})
	}
	syncs := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); syncs++ {
		c, err := b.Sync(src)
		if err != nil {
			t.Fatal(err)
		}
		if c.Added+c.Removed > 0 || c.Rebuilt || b.Header().Messages != n || b.Header().UIDNext != n+1 {
			t.Fatalf("sync %d: %+v %+v", syncs, c, b.Header().Status)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d syncs", syncs)
}

// M17: directory times that go back or do not move.
func TestClockGoesBack(t *testing.T) {
	md := makeMaildir(t, "1700000701.M1P1.h", "1700000702.M1P1.h")
	idx := t.TempDir()
	want := func(step string, n int) {
		t.Helper()
		_, got := syncUIDs(t, md, idx)
		for i, k := range []string{"1700000701.M1P1.h", "1700000702.M1P1.h", "1000000000.M1P1.h", "0999999999.M1P1.h"} {
			if i < n && got[k] != uint32(i+1) || len(got) != n {
				t.Fatalf("%s: %v", step, got)
			}
		}
	}
	want("first", 2)
	add := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(md, name), []byte("Subject: x\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add("cur/1000000000.M1P1.h:2,")
	back := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(md, "cur"), back, back); err != nil {
		t.Fatal(err)
	}
	want("time went back", 3)
	add("new/0999999999.M1P1.h")
	want("same second", 4)
}
