package storetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// A story is a recorded history: which events had been when which step was
// acknowledged, and the models between the steps.
type story struct {
	cfg   store.Config
	log   *fsys.Log
	acks  []int    // events when step i had returned
	after []*model // and the mailbox then; after[0] is before the first
	steps []step
}

// tell records a history of n steps, with openings in between.
func (k *kit) tell(t *testing.T, part uint64, n int, noSync bool) *story {
	t.Helper()
	root := filepath.Join(k.temp(t), "mail")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := fsys.NewLog(fsys.OS, root)
	if err != nil {
		t.Fatal(err)
	}
	cfg := k.configIn(t, root)
	cfg.FS, cfg.NoSync = fsys.Recording(quick, log), noSync
	cfg.Unlocked = true // it is opened again as after a kill
	s := &story{cfg: cfg, log: log}
	r := k.rand(part)
	st, m := k.open(t, cfg), newModel()
	s.after = append(s.after, m.clone())
	for i := range n {
		step := k.walk(t, r, st, m)
		s.steps = append(s.steps, step)
		s.acks = append(s.acks, log.Len())
		s.after = append(s.after, m.clone())
		if i%5 == 4 { // as killed, as closed
			if i%2 == 0 {
				mustClose(t, st)
			} else {
				t.Cleanup(func() { st.Close() })
			}
			st = k.open(t, cfg)
		}
	}
	mustClose(t, st)
	return s
}

// at tells which steps had returned at an event, and what had been begun.
func (s *story) at(event int) (before, then *model) {
	done := 0
	for done < len(s.acks) && s.acks[done] <= event {
		done++
	}
	return s.after[done], s.after[min(done+1, len(s.after)-1)]
}

// judge opens a mailbox as a crash left it: before is acknowledged, then is what
// the step under way would have made of it. It goes on with the mailbox.
func (k *kit) judge(t testing.TB, cfg store.Config, before, then *model) string {
	st, err := store.Open(k.f, cfg)
	if err != nil {
		return fmt.Sprintf("open: %v", err)
	}
	defer st.Close()
	found, wrong := between(st, before, then)
	if wrong != "" {
		return wrong
	}
	for err := range st.Check() {
		return fmt.Sprintf("check: %v", err)
	}
	// It can be gone on with, and no key comes again.
	used := before.clone()
	for _, m := range found.msgs {
		used.used[m.key] = true
	}
	found.used = used.used
	r := k.rand(9)
	msgs := []store.Message{k.newMessage(r), k.newMessage(r)}
	keys, err := st.Append(msgs)
	if err != nil {
		return fmt.Sprintf("append afterwards: %v", err)
	}
	if err := found.append(msgs, keys); err != nil {
		return err.Error()
	}
	if wrong := found.wrong(st, false); wrong != "" {
		return "after an append: " + wrong
	}
	if err := st.Close(); err != nil {
		return fmt.Sprintf("close: %v", err)
	}
	if st, err = store.Open(k.f, cfg); err != nil {
		return fmt.Sprintf("second opening: %v", err)
	}
	defer st.Close()
	if wrong := found.wrong(st, false); wrong != "" {
		return "second opening: " + wrong
	}
	return ""
}

// between compares a mailbox with two states of it: each message is as in one of
// them. It returns what is there.
func between(st store.Store, before, then *model) (found *model, wrong string) {
	src := st.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, fmt.Sprintf("list: %v", err)
	}
	src.Order(l.Entries)
	found = newModel()
	last := -1
	var buf []byte
	there := map[string]bool{}
	for i := range l.Entries {
		e := &l.Entries[i]
		there[strings.Clone(e.Key)] = true
		b, t := before.find(e.Key), then.find(e.Key)
		var want message
		switch {
		case t >= 0:
			want = then.msgs[t]
		case b >= 0:
			want = before.msgs[b]
		default:
			// A message whose append had not returned may have another key than
			// the one it then got, or be there though the call was to fail.
			body, err := src.ReadMessage(e, nil)
			if err != nil {
				return nil, fmt.Sprintf("unknown message %s: %v", e.Key, err)
			}
			t = slices.IndexFunc(then.msgs, func(m message) bool { return before.find(m.key) < 0 && bytes.Equal(m.body, body) })
			if t < 0 {
				return nil, fmt.Sprintf("message %s was never there", e.Key)
			}
			want = then.msgs[t]
			want.key = strings.Clone(e.Key)
		}
		if what := reads(src, e, &want, &buf); what != "" {
			return nil, fmt.Sprintf("message %s: %s", e.Key, what)
		}
		had := want
		if b >= 0 {
			had = before.msgs[b]
		}
		if (e.Flags != want.flags || e.Keywords != want.keywords) && (e.Flags != had.flags || e.Keywords != had.keywords) {
			return nil, fmt.Sprintf("message %s has flags %v %x, want %v %x or %v %x", e.Key, e.Flags, e.Keywords, had.flags, had.keywords, want.flags, want.keywords)
		}
		place := b
		if b < 0 {
			place = len(before.msgs) + t
		}
		if place <= last {
			return nil, fmt.Sprintf("message %s is not in its order", e.Key)
		}
		last = place
		want.flags, want.keywords = e.Flags, e.Keywords
		found.msgs = append(found.msgs, want)
	}
	for _, m := range before.msgs {
		if !there[m.key] && then.find(m.key) >= 0 {
			return nil, fmt.Sprintf("message %s is lost", m.key)
		}
	}
	return found, ""
}

// crashed: the machine stops at any event, and what is found afterwards holds
// every acknowledged change.
func crashed(t *testing.T, k *kit) {
	s := k.tell(t, 200, k.steps(), false)
	tried := 0
	for n := range s.log.Len() + 1 {
		crashes := fsys.Crashes(k.seed + uint64(n))
		if !slices.Contains(s.acks, n) && !long() {
			crashes = crashes[n%len(crashes):][:1]
		}
		before, then := s.at(n)
		for _, c := range crashes {
			tried++
			if wrong := k.replay(t, s, n, c, before, then); wrong != "" {
				t.Fatalf("event %d of %d, crash %v: %s", n, s.log.Len(), c, wrong)
			}
		}
	}
	t.Logf("%d events, %d crashes", s.log.Len(), tried)
}

func (k *kit) steps() int {
	if k.o.Short {
		return 12
	}
	return 20
}

func long() bool { return os.Getenv("MAILBENCH_LONG") != "" }

func (k *kit) replay(t *testing.T, s *story, n int, c fsys.Crash, before, then *model) string {
	dir, err := os.MkdirTemp(k.temp(t), "crash")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := s.log.Replay(dir, n, c); err != nil {
		t.Fatal(err)
	}
	cfg := at(s.cfg, dir, quick)
	cfg.NoSync = true // it is quick already
	return k.judge(t, cfg, before, then)
}

// unsynced: with NoSync the death of the process loses nothing, and that of the
// machine something: were it otherwise, Crashed would show nothing.
func unsynced(t *testing.T, k *kit) {
	s := k.tell(t, 300, k.steps(), true)
	for _, n := range s.acks {
		before, then := s.at(n)
		if wrong := k.replay(t, s, n, fsys.Crash{}, before, then); wrong != "" {
			t.Fatalf("event %d, the process was killed: %s", n, wrong)
		}
	}
	lost := 0
	for _, n := range s.acks {
		before, then := s.at(n)
		if len(before.msgs) > 0 && k.replay(t, s, n, fsys.Crash{Data: fsys.Lost, Names: fsys.Lost}, before, then) != "" {
			lost++
		}
	}
	if lost == 0 {
		t.Error("a power cut loses nothing though nothing was synced: this test cannot fail")
	}
	t.Logf("after %d of %d steps a power cut would have lost something", lost, len(s.acks))
}
