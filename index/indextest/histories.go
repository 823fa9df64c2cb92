package indextest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mailbench/index"
)

func history(t T, k *kit)     { k.histories(t, 4, 0, newMailbox) }
func historyMbox(t T, k *kit) { k.histories(t, 2, 50, newMbox) }

// histories: whatever happens, a Sync makes the answers those of the oracle,
// and MODSEQs those of the ledger.
func (k *kit) histories(t T, rounds, seed uint64, scratch func(T, *rand.Rand) *mailbox) {
	for round := range rounds {
		m := scratch(t, k.rand(seed+round))
		r := m.r
		dir := filepath.Join(t.TempDir(), "index")
		box := k.mustOpen(t, m, dir)
		seen := newUIDsSeen()
		var l *ledger
		for step := range 40 {
			what := fmt.Sprintf("round %d step %d:", round, step)
			sync := func() {
				c, err := box.Sync()
				if err == nil && l == nil {
					l, err = newLedger(box, m)
				} else if err == nil {
					err = l.synced(box, m)
				}
				if err != nil {
					t.Fatalf("%s: sync: %v", what, err)
				}
				if c.Rebuilt && step > 0 {
					t.Fatalf("%s: rebuilt", what)
				}
			}
			for range r.IntN(5) {
				what += " " + m.mutate()
			}
			switch r.IntN(8) {
			case 0:
				what += " compact"
				sync()
				if err := box.Compact(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				m.mustAnswer(t, box, r.IntN(2) > 0, what)
			case 1, 2:
				what += " reopen"
				mustClose(t, box)
				box = k.mustOpen(t, m, dir)
			case 3:
				what += " settle"
				m.settle()
			}
			sync()
			m.mustAnswer(t, box, r.IntN(3) > 0, what)
			if wrong := seen.wrong(box); wrong != "" {
				t.Fatalf("%s: %s", what, wrong)
			}
			if wrong, err := l.wrong(k.d, box); wrong != "" || err != nil {
				t.Fatalf("%s: %s (%v)", what, wrong, err)
			}
			mustCheck(t, box, what)
		}
		mustClose(t, box)
	}
}

// declared: what a design says of itself is so, and what it promises whatever
// it is.
func declared(t T, k *kit) {
	ax, name := index.AxesOf(k.d), k.d.Name()
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			t.Errorf("name %q: want lower case letters and digits, as in design=%s", name, name)
			break
		}
	}
	for _, x := range ax.Extra {
		if x.Name == "" || len(x.Values) == 0 || x.Help == "" {
			t.Errorf("option %+v: without a name, a value or help", x)
		}
	}
	m := newMailbox(t, k.rand(70))
	dir := filepath.Join(t.TempDir(), "index")
	box := k.mustOpen(t, m, dir)
	if _, err := os.Stat(dir); err == nil && len(readDir(t, dir)) > 0 {
		t.Errorf("Open alone has made %v: an index is made by Sync", slices.Sorted(maps.Keys(readDir(t, dir))))
	}
	if _, ok := box.Mailbox.(index.Fetcher); ok != ax.Fetches {
		t.Errorf("Axes.Fetches is %v, a Fetcher it is: %v", ax.Fetches, ok)
	}
	if _, ok := box.Mailbox.(index.Changer); ok != ax.ModSeqs {
		t.Errorf("Axes.ModSeqs is %v, a Changer it is: %v", ax.ModSeqs, ok)
	}
	mustSync(t, box)
	m.mustAnswer(t, box, false, "an empty mailbox")
	m.deliver()
	mustSync(t, box)
	m.mustAnswer(t, box, false, "one message")
	if _, err := box.Sort(nil, index.Search{Kind: "no such"}); err == nil {
		t.Errorf("sort of a selection that does not exist: no error")
	}
	if _, err := box.Thread(0, index.Search{Kind: "no such"}); err == nil {
		t.Errorf("thread of a selection that does not exist: no error")
	}
	if err := box.Compact(); err != nil {
		t.Errorf("compact: %v", err)
	}
	m.mustAnswer(t, box, false, "compacted")
	if c, ok := box.Mailbox.(index.Counter); ok {
		for what, n := range c.Counts() {
			if n < 0 {
				t.Errorf("count of %s: %d", what, n)
			}
		}
	}
	mustClose(t, box)
}

// rebuilt: an index that has grown answers like one that is built from nothing.
func rebuilt(t T, k *kit) {
	m := newMailbox(t, k.rand(100))
	dir := filepath.Join(t.TempDir(), "index")
	for range 8 {
		for range 10 {
			m.mutate()
		}
		k.build(t, m, dir)
	}
	k.build(t, m, filepath.Join(t.TempDir(), "fresh"))
}

// reopened: another handle sees every field as the one that wrote it, and ten
// times opening, asking and closing changes no byte on disk.
func reopened(t T, k *kit) {
	m := newMailbox(t, k.rand(200))
	for range 30 {
		m.deliver()
	}
	dir := filepath.Join(t.TempDir(), "index")
	k.build(t, m, dir)
	for range 10 {
		m.mutate()
	}
	m.settle()
	box := k.mustOpen(t, m, dir)
	mustSync(t, box)
	m.mustAnswer(t, box, false, "grown")
	want := m.state(t, box)
	mustClose(t, box)
	k.build(t, m, dir)
	before := readDir(t, dir)
	for i := range 10 {
		box := k.mustOpen(t, m, dir)
		mustSync(t, box)
		m.mustAnswer(t, box, false, fmt.Sprintf("reopening %d", i))
		if got := m.state(t, box); got != want {
			t.Fatalf("reopening %d: fields have changed:\ngot  %s\nwant %s", i, got, want)
		}
		mustClose(t, box)
		after := readDir(t, dir)
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if old, ok := before[name]; !ok || old != after[name] {
				t.Fatalf("reopening %d wrote: %s has changed: %d bytes, before %d", i, name, len(after[name]), len(old))
			}
		}
		if len(after) != len(before) {
			t.Fatalf("reopening %d: %d files, before %d", i, len(after), len(before))
		}
	}
}

// state is the rows and the status as text.
func (m *mailbox) state(t T, box index.Mailbox) string {
	t.Helper()
	st := box.Status()
	st.Generation = 0
	out := fmt.Sprintf("%+v\n", st)
	if err := box.Messages(func(msg index.Message) bool { out += fmt.Sprintf("%+v\n", msg); return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

// sameSecond: mail that comes without a change of the directory's time, as on
// file systems with coarse times, is noticed when the time was young.
func sameSecond(t T, k *kit) {
	m := newMailbox(t, k.rand(300))
	dir := filepath.Join(t.TempDir(), "index")
	m.deliver()
	for i := range 5 {
		now := time.Now()
		stamp := func() {
			for _, d := range []string{"cur", "new"} {
				if err := os.Chtimes(filepath.Join(m.path, d), now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		stamp()
		box := k.mustOpen(t, m, dir)
		mustSync(t, box)
		if i%2 == 0 {
			m.deliver()
		} else {
			m.setFlags(m.msgs[m.r.IntN(len(m.msgs))], "FS", "")
		}
		stamp()
		mustSync(t, box)
		m.mustAnswer(t, box, true, fmt.Sprintf("change %d under the same directory time", i))
		mustClose(t, box)
		// Time that goes back is a change like any other.
		m.deliver()
		m.settle()
		k.build(t, m, dir)
	}
}
