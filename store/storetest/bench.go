package storetest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// Bench measures appends of one message and of groups of 100, 3 KB each, with
// the syncs they cost, and the opening of a mailbox of msgs messages (a tenth of
// them with -short).
func Bench(b *testing.B, f store.Format, o Options, msgs int) {
	k := &kit{f: f, o: o}
	if testing.Short() {
		msgs /= 10
	}
	body := []byte("Message-ID: <1@example.net>\nSubject: bench\n\n" + string(bytes.Repeat([]byte("0123456789abcde\n"), 184)))
	group := func(n int) []store.Message {
		g := make([]store.Message, n)
		for i := range g {
			g[i] = store.Message{Body: body, Date: 1e9}
		}
		return g
	}
	for _, noSync := range []bool{false, true} {
		for _, n := range []int{1, 100} {
			b.Run(fmt.Sprintf("op=append/fsync=%s/group=%d", map[bool]string{false: "always", true: "never"}[noSync], n), func(b *testing.B) {
				cfg := k.config(b)
				count := fsys.Counting(fsys.OS)
				cfg.FS, cfg.NoSync = count, noSync
				st := k.open(b, cfg)
				g := group(n)
				before := count.Counts()
				for b.Loop() {
					if _, err := st.Append(g); err != nil {
						b.Fatal(err)
					}
				}
				if got := digest(b, st).N; got != n*b.N {
					b.Fatalf("%d messages, want %d", got, n*b.N)
				}
				c := count.Counts().Sub(before)
				per := func(v int64) float64 { return float64(v) / float64(b.N) }
				b.ReportMetric(per(c.Syncs+c.SyncDirs), "syncs/op")
				b.ReportMetric(per(c.BytesWritten)/float64(n), "written-B/msg")
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
				mustClose(b, st)
			})
		}
	}
	b.Run(fmt.Sprintf("op=open/msgs=%dk", msgs/1000), func(b *testing.B) {
		cfg := k.configIn(b, filepath.Join(b.TempDir(), "mail"))
		cfg.NoSync = true
		st := k.open(b, cfg)
		small := group(1000)
		for i := range small {
			small[i].Body = body[:120]
		}
		for range msgs / 1000 {
			if _, err := st.Append(small); err != nil {
				b.Fatal(err)
			}
		}
		mustClose(b, st)
		for b.Loop() {
			st = k.open(b, cfg)
			var l index.Listing
			if err := st.Source().(index.Glancer).Glance(&l); err != nil || l.Digest.N != msgs {
				b.Fatal(l.Digest.N, err)
			}
			mustClose(b, st)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(msgs), "ns/msg")
	})
}
