package column

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"mailbench/index"
)

// With fields=envelope a FETCH of an ENVELOPE opens no mail once the cache has
// it; with fields=thread it does. Both give the same bytes, and so do fields
// that no cache has.
func TestFetch_whatIsRead(t *testing.T) {
	r, _ := seeded(t)
	for round := range 4 {
		fields := []string{"thread", "envelope"}[round%2]
		f := newFake()
		for range 300 {
			f.add(randomMail(r))
		}
		var src index.Source = f
		if round > 1 {
			src = named{f}
		}
		dir := t.TempDir()
		mb := openBox(t, dir, fast, src, index.Options{Fields: fields})
		mb.Sync()
		if err := verify(mb, f, r); err != nil {
			t.Fatal(err)
		}
		mb.Close()
		f.remove(f.keys()[7])
		mb = openBox(t, dir, fast, src, index.Options{Fields: fields})
		mb.Sync()
		ask := func(names ...string) int64 {
			before := mb.(index.Counter).Counts()["mails-opened"]
			err := mb.(index.Fetcher).Fetch([]uint32{3, 8, 9, 200, 1 << 30}, names, func(uint32, [][]byte) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			return mb.(index.Counter).Counts()["mails-opened"] - before
		}
		want := int64(0)
		if fields == "thread" {
			want = 3 // 8 is gone
		}
		if n := ask(index.EnvelopeFields...); n != want {
			t.Errorf("fields=%s: %d mails opened", fields, n)
		}
		if n := ask("Subject", "X-Mailer"); n != 3 {
			t.Errorf("fields=%s: %d mails opened for a field that is not cached", fields, n)
		}
		verifyFetch(t, mb, f, r)
		mb.Close()
	}
}

// Mail that has gone is passed over, an error of the caller's comes back.
func TestFetch_ends(t *testing.T) {
	r, _ := seeded(t)
	for _, fields := range []string{"thread", "envelope"} {
		f := newFake()
		for range 20 {
			f.add(randomMail(r))
		}
		hidden := f.keys()[4]
		f.hide[hidden] = true
		mb := openBox(t, t.TempDir(), fast, f, index.Options{Fields: fields})
		mb.Sync()
		if err := verify(mb, f, r); err != nil {
			t.Fatal(err)
		}
		var got []uint32
		full := errors.New("enough")
		err := mb.(index.Fetcher).Fetch([]uint32{5, 4, 6, 7}, []string{"subject"}, func(uid uint32, _ [][]byte) error {
			if got = append(got, uid); uid == 6 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || !slices.Equal(got, []uint32{4, 6}) {
			t.Errorf("fields=%s: %v, got %v", fields, err, got)
		}
		mb.Close()
	}
}

// ChangesSince tells what a model remembers, from the snapshot alone and with a
// log.
func TestChangesSince(t *testing.T) {
	r, _ := seeded(t)
	f := newFake()
	dir := t.TempDir()
	mb := openBox(t, dir, fast, f, index.Options{})
	defer func() { mb.Close() }()
	type row struct {
		flags  index.Flags
		modseq uint64
	}
	known := map[uint32]row{}
	gone := map[uint32]uint64{}
	for step := range 30 {
		for range r.IntN(4) {
			f.add(randomMail(r))
		}
		if ks := f.keys(); len(ks) > 5 && r.IntN(2) == 0 {
			f.remove(ks[r.IntN(len(ks))])
			ks = f.keys()
			f.mails[ks[r.IntN(len(ks))]].flags ^= index.FlagSeen
		}
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		now := mb.Status().HighestModSeq
		there := map[uint32]bool{}
		mb.Messages(func(m index.Message) bool {
			there[m.UID] = true
			if k, ok := known[m.UID]; !ok || k.flags != m.Flags {
				known[m.UID] = row{m.Flags, now}
			}
			return true
		})
		for u := range known {
			if !there[u] {
				gone[u] = now
				delete(known, u)
			}
		}
		switch r.IntN(4) {
		case 0:
			if err := mb.Compact(); err != nil {
				t.Fatal(err)
			}
		case 1:
			mb.Close()
			mb = openBox(t, dir, fast, f, index.Options{})
		}
		since := uint64(r.IntN(int(now) + 1))
		var want, got, lost, wantLost []uint32
		for u, k := range known {
			if k.modseq > since {
				want = append(want, u)
			}
		}
		for u, m := range gone {
			if m > since {
				wantLost = append(wantLost, u)
			}
		}
		slices.Sort(want)
		err := mb.(index.Changer).ChangesSince(since, func(m index.Message) bool {
			if f.mails[m.Key] == nil || f.mails[m.Key].flags != m.Flags || m.ModSeq != known[m.UID].modseq {
				t.Fatalf("step %d: %+v", step, m)
			}
			got = append(got, m.UID)
			return true
		}, func(u uint32) bool {
			lost = append(lost, u)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(lost)
		slices.Sort(wantLost)
		if fmt.Sprint(got, lost) != fmt.Sprint(want, wantLost) {
			t.Fatalf("step %d since %d: changed %v vanished %v, want %v and %v", step, since, got, lost, want, wantLost)
		}
	}
}

// Envelopes in UID order: no block is decoded twice, wherever parents lie.
func TestFetch_decodesOnce(t *testing.T) {
	r, _ := seeded(t)
	f := newFake()
	const n = 6 * envRows
	for range n {
		f.add(randomMail(r))
	}
	mb := openBox(t, t.TempDir(), fast, f, index.Options{Fields: "envelope"})
	defer mb.Close()
	mb.Sync()
	var uids []uint32
	if err := mb.Messages(func(m index.Message) bool { uids = append(uids, m.UID); return true }); err != nil {
		t.Fatal(err)
	}
	fetch := func() int64 {
		before := mb.(index.Counter).Counts()["blocks-decoded"]
		err := mb.(index.Fetcher).Fetch(uids, index.EnvelopeFields, func(uint32, [][]byte) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return mb.(index.Counter).Counts()["blocks-decoded"] - before
	}
	fetch() // fills the cache
	// Ids and dates are columns with blocks of their own.
	if got := fetch(); got > n/envRows+2 {
		t.Errorf("%d blocks decoded for %d rows of %d to a block", got, n, envRows)
	}
}
