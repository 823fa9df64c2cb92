package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// A step is one call of a Store and what became of it.
type step struct {
	what    string
	append  []store.Message
	changes []store.Change
	expunge []string
	purge   bool
}

// newStep draws what to do next. Some of the keys are gone, or never were.
func (k *kit) newStep(r *rand.Rand, m *model) (s step) {
	op := r.IntN(12)
	if len(m.msgs) < 3 {
		op = 0
	}
	if len(m.msgs) > 25 {
		op = 8
	}
	some := func(most int) (keys []string) {
		for range 1 + r.IntN(most) {
			keys = append(keys, m.msgs[r.IntN(len(m.msgs))].key)
		}
		if r.IntN(4) == 0 {
			keys = append(keys, "gone")
		}
		return keys
	}
	switch {
	case op < 3:
		s.what, s.append = "append", []store.Message{k.newMessage(r)}
	case op < 5:
		s.what = "append group"
		for range 2 + r.IntN(5) {
			s.append = append(s.append, k.newMessage(r))
		}
	case op < 8:
		s.what = "flags"
		for _, key := range some(4) {
			s.changes = append(s.changes, store.Change{Key: key, Flags: index.Flags(r.IntN(64)), Keywords: r.Uint32N(4)})
		}
	case op < 11:
		s.what, s.expunge = "expunge", some(1+len(m.msgs)/2)
	default:
		s.what, s.purge = "purge", true
	}
	return s
}

// do makes the call.
func (s *step) do(st store.Store) (keys []string, err error) {
	switch {
	case s.append != nil:
		return st.Append(s.append)
	case s.changes != nil:
		return nil, st.SetFlags(s.changes)
	case s.expunge != nil:
		return nil, st.Expunge(s.expunge)
	}
	return nil, st.Purge()
}

// note makes the model what the mailbox must be after it.
func (s *step) note(m *model, keys []string) error {
	if s.append != nil && len(keys) != len(s.append) {
		return fmt.Errorf("%d keys for %d messages", len(keys), len(s.append))
	}
	m.setFlags(s.changes)
	m.expunge(s.expunge)
	return m.append(s.append, keys)
}

// walk makes a step on both.
func (k *kit) walk(t testing.TB, r *rand.Rand, st store.Store, m *model) step {
	t.Helper()
	s := k.newStep(r, m)
	keys, err := s.do(st)
	if err == nil {
		err = s.note(m, keys)
	}
	if err != nil {
		t.Fatalf("%s: %v", s.what, err)
	}
	return s
}

// history: what a Store shows is what was done to it, and what its Source tells
// of the difference of two moments is their difference.
func history(t *testing.T, k *kit) {
	rounds, steps := 6, 60
	if k.o.Short {
		rounds, steps = 2, 30
	}
	for round := range rounds {
		r := k.rand(uint64(100 + round))
		cfg := k.config(t)
		st, m := k.open(t, cfg), newModel()
		was := m.clone()
		known := digest(t, st)
		for n := range steps {
			s := k.walk(t, r, st, m)
			if wrong := m.wrong(st, false); wrong != "" {
				t.Fatalf("round %d, step %d, %s: %s", round, n, s.what, wrong)
			}
			if wrong := m.tells(st, known, was); wrong != "" {
				t.Fatalf("round %d, step %d, %s: %s", round, n, s.what, wrong)
			}
			if r.IntN(3) == 0 {
				was, known = m.clone(), digest(t, st)
			}
			if r.IntN(10) > 0 {
				continue
			}
			mustCheck(t, st)
			before := digest(t, st)
			state, _ := st.Source().State()
			mustClose(t, st)
			st = k.open(t, cfg)
			if after := digest(t, st); after != before {
				t.Fatalf("step %d: the digest was %x, and after opening again %x", n, before, after)
			}
			if again, _ := st.Source().State(); !again.Same(state) {
				t.Fatalf("step %d: the state was %+v, and after opening again %+v", n, state, again)
			}
			if wrong := m.wrong(st, false); wrong != "" {
				t.Fatalf("round %d, step %d, opened again: %s", round, n, wrong)
			}
			was, known = m.clone(), before
		}
		mustCheck(t, st)
		mustClose(t, st)
	}
}

// digest is the running digest, which must be that of the list.
func digest(t testing.TB, st store.Store) index.Digest {
	t.Helper()
	src := st.Source()
	g, ok := src.(index.Glancer)
	if !ok {
		t.Fatalf("the source of %s is no Glancer", src.Kind())
	}
	var glance, list index.Listing
	if err := g.Glance(&glance); err != nil {
		t.Fatal(err)
	}
	if err := src.List(&list); err != nil {
		t.Fatal(err)
	}
	if glance.Digest != list.Digest {
		t.Fatalf("running digest %x, that of the list %x", glance.Digest, list.Digest)
	}
	return list.Digest
}

// tells checks what the Source tells of the time since the model was was.
func (m *model) tells(st store.Store, known index.Digest, was *model) string {
	n, ok := st.Source().(index.Newcomer)
	if !ok {
		return "the source is no Newcomer"
	}
	if _, ok := n.(index.Namer); !ok {
		return "the source is no Namer"
	}
	if len(was.msgs) == 0 {
		return "" // all is new: a listing tells that
	}
	var added, changed, gone int
	for _, x := range m.msgs {
		switch i := was.find(x.key); {
		case i < 0:
			added++
		case was.msgs[i].flags != x.flags || was.msgs[i].keywords != x.keywords:
			changed++
		}
	}
	gone = len(was.msgs) - (len(m.msgs) - added)
	var l index.Listing
	if err := n.Glance(&l); err != nil {
		return err.Error()
	}
	if n.Arrived(&l, known, 1000) {
		if changed+gone > 0 || len(l.Entries) != added {
			return fmt.Sprintf("Arrived tells of %d, want %d, and %d changed and %d went", len(l.Entries), added, changed, gone)
		}
		for i := range l.Entries {
			if want := m.msgs[len(m.msgs)-added+i].key; l.Entries[i].Key != want {
				return fmt.Sprintf("Arrived has %s in place %d, want %s", l.Entries[i].Key, i, want)
			}
		}
	}
	j, ok := n.(index.Journal)
	if !ok {
		return ""
	}
	went, ok := j.Since(&l, known, 1000)
	if !ok {
		return "Since does not remember"
	}
	told := len(l.Entries)
	for i := range l.Entries { // a move between new/ and cur/ is told, too
		e := &l.Entries[i]
		if at := was.find(e.Key); at >= 0 && e.Dir != index.DirNone && was.msgs[at].flags == e.Flags && was.msgs[at].keywords == e.Keywords {
			told--
		}
	}
	if len(went) != gone || told != added+changed {
		return fmt.Sprintf("Since tells of %d and %d that went, want %d and %d", told, len(went), added+changed, gone)
	}
	for _, key := range went {
		if was.find(key) < 0 || m.find(key) >= 0 {
			return fmt.Sprintf("Since: %s is not gone", key)
		}
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		at := m.find(e.Key)
		if at < 0 || m.msgs[at].flags != e.Flags || m.msgs[at].keywords != e.Keywords {
			return fmt.Sprintf("Since: %s has flags %v", e.Key, e.Flags)
		}
	}
	return ""
}
