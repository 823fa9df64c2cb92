package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// storm changes the flags of n messages without pause until stop is closed:
// each worker has its own messages. It returns a function that waits.
func storm(dir string, n, workers int, stop chan struct{}) (wait func()) {
	var wg sync.WaitGroup
	flags := []string{"", "S", "FS", "RS"}
	for w := range workers {
		wg.Go(func() {
			now := make([]int, n)
			for {
				for i := w; i < n; i += workers {
					select {
					case <-stop:
						return
					default:
					}
					next := (now[i] + 1) % len(flags)
					base := filepath.Join(dir, "cur", stormName(i))
					if os.Rename(base+flags[now[i]], base+flags[next]) == nil {
						now[i] = next
					}
				}
			}
		})
	}
	return wg.Wait
}

func stormName(i int) string { return fmt.Sprintf("%d.M1P1.h:2,", 1700000000+i) }

func stormBox(t *testing.T, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "cur/" + stormName(i)
	}
	return mailbox(t, names...)
}

func during() time.Duration {
	if testing.Short() {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

func TestScan_renameStorm(t *testing.T) {
	const n = 600
	dir := stormBox(t, n)
	stop := make(chan struct{})
	wait := storm(dir, n, 4, stop)
	// One call of the system sees the directory at one moment; a small buffer
	// stands for a large mailbox, which takes many calls.
	s := Scan{buf: make([]byte, 600)}
	missed, doubled, scans := 0, 0, 0
	for end := time.Now().Add(during()); time.Now().Before(end); scans++ {
		if err := s.Read(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		doubled += s.Unique()
		seen := map[string]bool{}
		for _, e := range s.Entries {
			if seen[e.Base] {
				t.Fatalf("%s twice after Unique", e.Base)
			}
			seen[e.Base] = true
		}
		if len(seen) > n {
			t.Fatalf("%d messages of %d", len(seen), n)
		}
		missed += n - len(seen)
	}
	close(stop)
	wait()
	t.Logf("%d scans: %d names missed, %d seen twice", scans, missed, doubled)
	if err := s.Read(dir, Options{}); err != nil || s.Unique() != 0 || len(s.Entries) != n {
		t.Errorf("afterwards: %d entries, %v", len(s.Entries), err)
	}
}

func TestReader_renameStorm(t *testing.T) {
	const n = 64
	dir := stormBox(t, n)
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	r := opened(t, dir)
	stop := make(chan struct{})
	wait := storm(dir, n, 2, stop)
	var reads, lost atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(during())
	for range 2 {
		wg.Go(func() {
			buf := make([]byte, 0, firstRead)
			for i := 0; time.Now().Before(end); i++ {
				e := &s.Entries[i%n]
				h, err := r.ReadHeader(e, buf)
				reads.Add(1)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					lost.Add(1) // reported, allowed, and rare
				case err != nil:
					t.Error(err)
					return
				case string(h) != "Subject: cur/"+e.Base+":2,\n\n":
					t.Errorf("%s: read %q", e.Base, h)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	wait()
	t.Logf("%d reads, %d not found", reads.Load(), lost.Load())
	for i := range s.Entries { // nothing is lost once it is calm
		if _, err := r.ReadHeader(&s.Entries[i], nil); err != nil {
			t.Error(err)
		}
	}
}

func TestScan_deliverAndDelete(t *testing.T) {
	dir := mailbox(t)
	d, err := NewDeliverer(dir, DeliverOptions{Sync: SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // deliver, move to cur, delete
		var bases []string
		for {
			select {
			case <-stop:
				return
			default:
			}
			base, err := d.Deliver([]byte("Subject: x\n\n"))
			if err != nil {
				t.Error(err)
				return
			}
			os.Rename(filepath.Join(dir, "new", base), filepath.Join(dir, "cur", base+":2,"))
			if bases = append(bases, base); len(bases) > 50 {
				os.Remove(filepath.Join(dir, "cur", bases[0]+":2,"))
				bases = bases[1:]
			}
		}
	})
	r := opened(t, dir)
	var s Scan
	gone := 0
	for end := time.Now().Add(during()); time.Now().Before(end); {
		if err := s.Read(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		s.Unique()
		for i := range s.Entries {
			h, err := r.ReadHeader(&s.Entries[i], nil)
			if errors.Is(err, fs.ErrNotExist) {
				gone++
			} else if err != nil || string(h) != "Subject: x\n\n" {
				t.Fatalf("%q, %v", h, err)
			}
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d messages were gone when read", gone)
}
