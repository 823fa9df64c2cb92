package indextest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// crashed: the machine stops at any call that changes a file; what is there
// afterwards gives right answers after a Sync, under UIDs that were promised:
// those of a Sync that had returned are.
func crashed(t T, k *kit) {
	k.needsFS(t)
	root := filepath.Join(t.TempDir(), "index")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := fsys.NewLog(fsys.OS, root)
	if err != nil {
		t.Fatal(err)
	}
	rec := fsys.Recording(quick, log)
	m := newMailbox(t, k.rand(800))
	tried := 0
	promised := newUIDsSeen()
	var l *ledger
	for round := range 6 {
		from := log.Len()
		for range 1 + m.r.IntN(4) {
			m.mutate()
		}
		box, err := k.open(m, root, rec)
		if err != nil {
			t.Fatal(err)
		}
		mustSync(t, box)
		returned := log.Len()
		if l == nil {
			l, err = newLedger(box, m)
		} else {
			err = l.synced(box, m)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.mustAnswer(t, box, true, "before any crash")
		if round%3 == 2 {
			if err := box.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		old := promised.clone()
		if wrong := promised.wrong(box); wrong != "" {
			t.Fatal(wrong)
		}
		mustClose(t, box)
		for n := from; n <= log.Len(); n++ {
			crashes := fsys.Crashes(uint64(n))
			if !k.o.Exhaustive {
				crashes = crashes[n%len(crashes):][:1]
			}
			if n == returned { // names and bytes that no sync has covered go
				crashes = fsys.Crashes(uint64(n))
			}
			for _, c := range crashes {
				dir := filepath.Join(t.TempDir(), "crashed")
				if err := log.Replay(dir, n, c); err != nil {
					t.Fatal(err)
				}
				tried++
				must, when := old, "before the Sync had returned"
				if n >= returned {
					must, when = promised, "after the Sync had returned"
				}
				after, err := k.open(m, dir, quick)
				if err != nil {
					t.Fatalf("event %d, %s, %+v: %v", n, when, c, err)
				}
				ch, err := after.Sync()
				if err != nil {
					t.Fatalf("event %d, %s, %+v: sync: %v", n, when, c, err)
				}
				if ch.Rebuilt && (round > 0 || n >= returned) {
					t.Fatalf("event %d, %s, %+v: rebuilt: what had been written is lost", n, when, c)
				}
				m.mustAnswer(t, after, true, fmt.Sprintf("after a crash at event %d, %s, %+v", n, when, c))
				if wrong := must.clone().wrong(after); wrong != "" {
					t.Fatalf("event %d, %s, %+v: %s", n, when, c, wrong)
				}
				// The Sync that was interrupted and the one after it are one change.
				if wrong, err := l.wrong(k.d, after); wrong != "" || err != nil {
					t.Fatalf("event %d, %s, %+v: %s (%v)", n, when, c, wrong, err)
				}
				mustClose(t, after)
				os.RemoveAll(dir)
			}
		}
	}
	t.Logf("%d crashes", tried)
}

// noSpace: any call that changes a file may fail; the error is told, and a
// later Sync completes.
func noSpace(t T, k *kit) {
	k.needsFS(t)
	boom := errors.New("no space left on device")
	for at := 0; at < 200; at++ {
		dir := filepath.Join(t.TempDir(), "index")
		m := newMailbox(t, k.rand(900))
		for range 5 {
			m.deliver()
		}
		k.build(t, m, dir)
		m.deliver()
		m.setFlags(m.msgs[0], "FT", "")
		// An engine calls from goroutines of its own.
		var calls atomic.Int64
		var hit, healed atomic.Bool
		fsy := fsys.Failing(quick, func(op fsys.Op, _ string, _ int64, n int) error {
			if healed.Load() || !op.Changes() || calls.Add(1) <= int64(at) {
				return nil
			}
			hit.Store(true)
			if op == fsys.OpWrite && n > 7 {
				return &fsys.ShortWrite{N: 7, Err: boom}
			}
			return boom
		})
		box, err := k.open(m, dir, fsy)
		if err == nil {
			if _, err = box.Sync(); err == nil {
				var got index.Status
				got, err = k.statusOf(m, dir)
				if want := box.Status(); err == nil && (got.UIDValidity != want.UIDValidity || got.UIDNext != want.UIDNext) {
					t.Fatalf("call %d: Sync returned no error, but what it found is not on disk: %+v, want %+v", at, got, want)
				}
				if err == nil {
					var wrong string
					if wrong, err = m.answersWrong(box, true); wrong != "" {
						t.Fatalf("call %d: %s", at, wrong)
					}
				}
				if err == nil {
					err = box.Compact()
				}
			}
			healed.Store(true)
			// What a goroutine of an engine could not do before is told now, once.
			if _, err := box.Sync(); err != nil && !errors.Is(err, boom) {
				t.Fatalf("call %d: %v", at, err)
			}
			mustSync(t, box)
			m.mustAnswer(t, box, true, "when there is space again")
			mustClose(t, box)
		}
		if err != nil && !errors.Is(err, boom) {
			t.Fatalf("call %d: %v", at, err)
		}
		healed.Store(true)
		k.mustSurvive(t, m, dir, "when there is space again")
		if !hit.Load() {
			return
		}
	}
}

// statusOf is what another handle reads before any Sync of its own. An engine
// that two handles share may tell it what it could not do meanwhile.
func (k *kit) statusOf(m *mailbox, dir string) (index.Status, error) {
	box, err := k.open(m, dir, quick)
	if err != nil {
		return index.Status{}, err
	}
	return box.Status(), box.Close()
}
