package linked

import (
	"fmt"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
)

// What Cache costs at the disk: an fdatasync of the cache and one of the log,
// and a record for each message whatever the size of the mailbox.
func TestCache_costs(t *testing.T) {
	for _, group := range []int{1, 30, 100} {
		for _, io := range []string{"mmap", "pread"} {
			c := fsys.Counting(fsys.Unsynced(fsys.OS))
			s := indextest.NewShelf()
			box, err := Design.Open(index.Config{Dir: t.TempDir(), FS: c, Source: s, Options: index.Options{Extra: map[string]string{"io": io}}})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			var cache fsys.Counts
			for call := 0; n < 600; call++ {
				var msgs []index.Cached
				for range group {
					text := fmt.Sprintf("Date: Mon, 1 Jan 2024 00:00:00 +0000\nFrom: person%d@example.com\nTo: list@example.org\nSubject: Re: thing %d\nMessage-ID: <%d@example.net>\nReferences: <%d@example.net> <%d@example.net>\n\n", n%9, n/7, n, n-1, n-2)
					s.Deliver(text, int64(n), 0, 0)
					n++
					msgs = append(msgs, index.Cached{UID: uint32(n), Header: []byte(text), BodyStructure: []byte(`("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "8BIT" 2312 61)`), VSize: 10})
				}
				if _, err := box.Sync(); err != nil {
					t.Fatal(err)
				}
				before := c.Counts()
				if err := box.(index.Cacher).Cache(msgs); err != nil {
					t.Fatal(err)
				}
				got := c.Counts().Sub(before)
				if call < 2 {
					continue // makes the files
				}
				if got.Syncs != 2 || got.SyncDirs != 0 || got.Renames != 0 || got.BytesRead+got.BytesMapped > 4096 {
					t.Fatalf("io=%s, group of %d at %d: %+v", io, group, n, got)
				}
				cache.BytesWritten += got.BytesWritten
				cache.Opens++
			}
			t.Logf("io=%s, groups of %d: %.0f bytes a message", io, group, float64(cache.BytesWritten)/float64(int(cache.Opens)*group))
			if err := box.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
