package linked

import (
	"fmt"
	"testing"

	"mailbench/index"
)

// What a query costs when all it needs is cached; lookups and records are the
// counts that docs/DESIGNS.md compares with the real server's.
func BenchmarkAgain(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		m := newMaildir(b, n)
		dir := b.TempDir()
		for _, op := range []string{"thread", "date", "subject", "fetch"} {
			b.Run(fmt.Sprintf("op=%s/msgs=%dk", op, n/1000), func(b *testing.B) {
				box := m.open(dir, start, nil)
				defer box.src.Close()
				defer box.Close()
				if err := box.loadRows(); err != nil {
					b.Fatal(err)
				}
				query := func() {
					switch op {
					case "thread":
						box.threads(b)
					case "fetch":
						if err := box.Fetch(box.disk.uid, []string{"From", "Subject"}, func(uint32, [][]byte) error { return nil }); err != nil {
							b.Fatal(err)
						}
					default:
						box.sorted(b, op)
					}
				}
				query()
				before := box.counts
				b.ReportAllocs()
				for b.Loop() {
					query()
				}
				per := func(a, b int64, ops int) float64 { return float64(b-a) / float64(ops) / float64(n) }
				b.ReportMetric(per(before.lookups, box.counts.lookups, b.N), "lookups/msg")
				b.ReportMetric(per(before.records, box.counts.records, b.N), "records/msg")
			})
		}
	}
}

// A damaged tail of the log is cut off by the next change.
func TestTornLog(t *testing.T) {
	m := newMaildir(t, 5)
	dir := t.TempDir()
	b := m.open(dir, start, nil)
	tr := newTrans()
	tr.header(hdrUIDNext, 40)
	if err := b.writeLog(append(tr.bytes(), 0, 0, 0, 12, 1, 2, 3), false); err != nil {
		t.Fatal(err)
	}
	b.disk.close()
	b.src.Close()
	b = m.open(dir, start, nil)
	if n := b.Status().UIDNext; n != 40 {
		t.Errorf("uidnext %d", n)
	}
	m.deliver()
	if c, err := b.Sync(); err != nil || c.Added != 1 {
		t.Fatal(c, err)
	}
	b.done(t)
	b = m.open(dir, start, nil)
	b.loadRows()
	if got := b.disk.uid; len(got) != 6 || got[5] != 40 {
		t.Errorf("uids %v", got)
	}
	if got := b.sorted(t, "arrival"); len(got) != 6 {
		t.Error(got)
	}
	b.done(t)
}

var _ index.Fetcher = (*mailbox)(nil)
var _ index.Changer = (*mailbox)(nil)
var _ index.Counter = (*mailbox)(nil)
