package index

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"mailbench/internal/fsys"
)

// C11: a mailbox that is made again within a second gets a greater UIDVALIDITY.
func TestUIDValidityRises(t *testing.T) {
	dir := t.TempDir()
	var last uint32
	for i := range 5 {
		src := newMemSource()
		src.deliver(fmt.Sprint(i))
		b, err := OpenBase(quick, dir, BaseOptions{Now: func() time.Time { return time.Unix(1_600_000_000-int64(i)*1000, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		mustSync(t, b, src)
		if v := b.Header().UIDValidity; v <= last {
			t.Fatalf("uidvalidity %d after %d", v, last)
		} else {
			last = v
		}
		if err := Remove(fsys.OS, dir); err != nil {
			t.Fatal(err)
		}
	}
}

// Opening and finding nothing changed reads a bounded number of bytes and
// writes none, whatever the size of the mailbox.
func TestSelectAgainIsConstant(t *testing.T) {
	for _, n := range []int{10, 30_000} {
		dir := t.TempDir()
		src := newMemSource()
		for i := range n {
			src.deliver(fmt.Sprintf("%d.M%dP1.host,S=%d", 1_500_000_000+i*60, i*7919%1e6, 1000+i*31%5000))
		}
		b := openTestBase(t, quick, dir)
		mustSync(t, b, src)
		src.deliver("one more")
		mustSync(t, b, src)
		before := readDir(t, dir)
		c := fsys.Counting(quick)
		lists := src.lists
		b = openTestBase(t, c, dir)
		if ch := mustSync(t, b, src); ch.Scanned || src.lists != lists {
			t.Fatalf("%+v, %d listings", ch, src.lists-lists)
		}
		got := c.Counts()
		if got.Opens > 2 || got.Reads > 3 || got.BytesRead > 12<<10 || got.Writes+got.Maps != 0 {
			t.Fatalf("%d messages: %+v", n, got)
		}
		if b.Header().Messages != n+1 {
			t.Fatalf("%+v", b.Header())
		}
		for range 10 {
			b = openTestBase(t, quick, dir)
			mustSync(t, b, src)
			b.Close()
		}
		if !maps.Equal(before, readDir(t, dir)) {
			t.Fatal("reopening changed bytes on disk")
		}
		t.Logf("%d messages: %d bytes in %d reads, %.2f bytes per message", n, got.BytesRead, got.Reads, float64(len(before[BaseFile]))/float64(n))
	}
}
