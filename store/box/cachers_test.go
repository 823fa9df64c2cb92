package box

import (
	"sync"
	"testing"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/store"
	"mailbench/thread"
)

// readsAfter is how much mail THREAD, SORT and FETCH of envelopes read of a
// mailbox to which clients have appended at the same time.
func readsAfter(t *testing.T, d index.Design, p Fsync) (reads int64, cacher bool) {
	t.Helper()
	f := newMemory()
	b := open(t, Config{Store: f, Design: d, FS: quick, Fsync: p, Cache: true, Options: unsynced(d, index.Options{Fields: "envelope"})})
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := b.Append(store.Message{Body: letter(5*i + j), Date: int64(1_600_000_000 + j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	before := f.reads.Load()
	err := b.Query(func(m index.Mailbox) error {
		_, cacher = m.(index.Cacher)
		var uids []uint32
		if err := m.Messages(func(msg index.Message) bool { uids = append(uids, msg.UID); return true }); err != nil {
			return err
		}
		if _, err := m.Thread(thread.References, index.Search{}); err != nil {
			return err
		}
		for _, s := range []string{"date", "subject", "from", "to", "cc", "size", "arrival"} {
			crit, err := mailsort.ParseCriteria(s)
			if err != nil {
				return err
			}
			if _, err := m.Sort(crit, index.Search{}); err != nil {
				return err
			}
		}
		if fetcher, ok := m.(index.Fetcher); ok {
			return fetcher.Fetch(uids, index.EnvelopeFields, func(uint32, [][]byte) error { return nil })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f.reads.Load() - before, cacher
}

// TestCache_readsNoMail: a design that takes what an append knows reads none of
// the mail that was appended, in whatever order the clients came.
func TestCache_readsNoMail(t *testing.T) {
	cachers := 0
	for _, d := range everyDesign {
		for _, p := range policies {
			reads, cacher := readsAfter(t, d, p)
			if cacher {
				cachers++
			}
			if cacher && reads > 0 {
				t.Errorf("%s, fsync=%s: %d mails are read after 50 appends that told the cache", d.Name(), p, reads)
			}
			t.Logf("%s, fsync=%s: cacher %t, %d mails read after 50 appends", d.Name(), p, cacher, reads)
		}
	}
	if cachers == 0 {
		t.Error("no design is an index.Cacher")
	}
}

// TestArrival_bounded: what is remembered of appends on their way does not grow
// with those that have come through, however long there is always one.
func TestArrival_bounded(t *testing.T) {
	for _, cache := range []bool{true, false} {
		b := open(t, Config{Store: newMemory(), Design: everyDesign[0], FS: quick, Cache: cache})
		ticket := b.arrival.expect() // an append that takes its time
		b.arrival.stored(ticket, nil)
		for i := range 20 {
			if _, err := b.Append(store.Message{Body: letter(i)}); err != nil {
				t.Fatal(err)
			}
		}
		a := &b.arrival
		if n := len(a.uid) + len(a.body) + len(a.fresh) + len(a.inStore); n > 0 {
			t.Errorf("cache=%t: %d things are remembered of 20 appends", cache, n)
		}
		a.done(nil)
	}
}
