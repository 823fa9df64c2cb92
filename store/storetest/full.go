package storetest

import (
	"errors"
	"sync"
	"testing"

	"mailbench/internal/fsys"
	"mailbench/store"
)

var errFull = errors.New("no space left on this device")

// full: each changing call fails, once or from there on, after some of its bytes
// or none. Nothing that was acknowledged is lost, what failed is there whole or
// not at all, and when there is space again the mailbox goes on.
func full(t *testing.T, k *kit) {
	for _, forever := range []bool{true, false} {
		calls := 1
		for nth := 0; nth < calls && nth < 400; nth++ {
			calls = k.fullAt(t, nth, forever)
		}
	}
}

// fullAt runs a history in which changing call number nth fails, and returns how
// many there were.
func (k *kit) fullAt(t *testing.T, nth int, forever bool) (calls int) {
	r := k.rand(600)
	cfg := k.config(t)
	st, m := k.open(t, cfg), newModel()
	for range 4 {
		k.walk(t, r, st, m)
	}
	mustClose(t, st)
	on := true
	var mu sync.Mutex
	failing := fsys.Failing(quick, func(op fsys.Op, _ string, _ int64, n int) error {
		mu.Lock() // a store may sync several files beside each other
		defer mu.Unlock()
		if !on || !op.Changes() {
			return nil
		}
		calls++
		if calls != nth+1 && (!forever || calls <= nth) {
			return nil
		}
		if op == fsys.OpWrite && n > 7 {
			return &fsys.ShortWrite{N: 7, Err: errFull}
		}
		return errFull
	})
	fcfg := at(cfg, cfg.Dir, failing)
	st, err := store.Open(k.f, fcfg)
	if err != nil {
		if !errors.Is(err, errFull) {
			t.Fatalf("call %d: open: %v", nth, err)
		}
		on = false
		st = k.open(t, fcfg)
	}
	must := func(what string) {
		t.Helper()
		if wrong := m.wrong(st, false); wrong != "" {
			t.Fatalf("call %d, %s: %s", nth, what, wrong)
		}
	}
	must("opened")
	for n := range 7 {
		s := k.newStep(r, m)
		if n == 0 { // an append for sure
			s = step{what: "append group", append: []store.Message{k.newMessage(r), k.newMessage(r)}}
		}
		if n == 5 {
			s = step{what: "purge", purge: true}
		}
		before, then := m.clone(), m.clone()
		keys, err := s.do(st)
		if err == nil {
			if err := s.note(m, keys); err != nil {
				t.Fatalf("call %d, %s: %v", nth, s.what, err)
			}
			must(s.what)
			continue
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("call %d, %s: %v", nth, s.what, err)
		}
		m = k.afterError(t, nth, &s, keys, st, before, then)
	}
	on = false
	for range 3 {
		s := k.walk(t, r, st, m)
		must(s.what + " when there is space again")
	}
	mustClose(t, st)
	st = k.open(t, cfg)
	defer mustClose(t, st)
	must("opened again")
	for err := range st.Check() {
		t.Fatalf("call %d: check: %v", nth, err)
	}
	return calls
}

// afterError finds what a failed step has done (S5).
func (k *kit) afterError(t *testing.T, nth int, s *step, keys []string, st store.Store, before, then *model) *model {
	t.Helper()
	then.setFlags(s.changes)
	then.expunge(s.expunge)
	if len(keys) > len(s.append) {
		t.Fatalf("call %d, %s: %d keys for %d messages", nth, s.what, len(keys), len(s.append))
	}
	if err := before.append(s.append[:len(keys)], keys); err != nil { // those that made it
		t.Fatal(err)
	}
	if err := then.append(s.append[:len(keys)], keys); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.append[len(keys):] {
		then.msgs = append(then.msgs, message{"", m.Body, m.Flags, m.Keywords, m.Date})
	}
	found, wrong := between(st, before, then)
	if wrong != "" {
		t.Fatalf("call %d, after %s failed: %s", nth, s.what, wrong)
	}
	found.used = before.used
	for _, m := range found.msgs {
		found.used[m.key] = true
	}
	return found
}
