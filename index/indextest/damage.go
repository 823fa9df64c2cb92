package indextest

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// small is a mailbox and an index with a history, about as small as can be.
func (k *kit) small(t *testing.T, seed uint64, dir string) *mailbox {
	t.Helper()
	m := newMailbox(t, k.rand(seed))
	for range 6 {
		m.deliver()
	}
	k.build(t, m, dir)
	for range 3 {
		m.deliver()
		m.expunge(m.msgs[m.r.IntN(len(m.msgs))])
		m.setFlags(m.msgs[m.r.IntN(len(m.msgs))], "RS")
		k.build(t, m, dir)
	}
	m.settle()
	k.build(t, m, dir)
	return m
}

// outcome of a question to a damaged index.
type outcome uint8

const (
	right outcome = iota
	failed
	silentWrong
)

// ask opens what is in dir, syncs and asks; under the old UIDVALIDITY the UIDs
// must be the old ones.
func (k *kit) ask(m *mailbox, dir string, validity uint32, uids map[string]uint32) (outcome, string) {
	box, err := k.open(m, dir, quick)
	if err != nil {
		return failed, ""
	}
	defer box.Close()
	if _, err := box.Sync(); err != nil {
		return failed, ""
	}
	wrong, err := m.answersWrong(box, true)
	if wrong != "" {
		return silentWrong, wrong
	}
	if err != nil {
		return failed, ""
	}
	if box.Status().UIDValidity == validity {
		box.Messages(func(msg index.Message) bool {
			if uids[msg.Key] != 0 && uids[msg.Key] != msg.UID {
				wrong = "another uid under the same uidvalidity: " + msg.Key
			}
			return wrong == ""
		})
	}
	if wrong != "" {
		return silentWrong, wrong
	}
	return right, ""
}

func (k *kit) uids(t *testing.T, m *mailbox, dir string) (uint32, map[string]uint32) {
	t.Helper()
	box := k.mustOpen(t, m, dir)
	defer box.Close()
	mustSync(t, box)
	out := map[string]uint32{}
	if err := box.Messages(func(msg index.Message) bool { out[msg.Key] = msg.UID; return true }); err != nil {
		t.Fatal(err)
	}
	return box.Status().UIDValidity, out
}

// flipped: one bit of each byte. A design that detects damage never gives a
// wrong answer; of another the share of wrong answers is logged.
func flipped(t *testing.T, k *kit) {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := k.small(t, 600, dir)
	good := readDir(t, dir)
	validity, uids := k.uids(t, m, dir)
	total := 0
	for _, b := range good {
		total += len(b)
	}
	step := max(1, total/1500)
	if k.o.Exhaustive {
		step = 1
	}
	var count [3]int
	at := m.r.IntN(step)
	for _, name := range slices.Sorted(maps.Keys(good)) {
		for ; at < len(good[name]); at += step {
			b := []byte(good[name])
			b[at] ^= 1 << m.r.IntN(8)
			f := maps.Clone(good)
			f[name] = string(b)
			x := f.write(t, root)
			o, wrong := k.ask(m, x, validity, uids)
			count[o]++
			if o == silentWrong && k.d.Integrity() == index.DetectsDamage {
				t.Fatalf("%s, byte %d of %d: %s", name, at, len(b), wrong)
			}
			if o == failed && count[failed]%20 == 1 {
				k.mustSurvive(t, m, x, name+" is damaged")
			}
			os.RemoveAll(x)
		}
		at -= len(good[name])
	}
	n := count[right] + count[failed] + count[silentWrong]
	t.Logf("%d flips of %d bytes: %d right, %d errors, silent-wrong-pct %.1f", n, total, count[right], count[failed], 100*float64(count[silentWrong])/float64(n))
}

// torn: each file cut at each byte.
func torn(t *testing.T, k *kit) {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := k.small(t, 700, dir)
	good := readDir(t, dir)
	validity, uids := k.uids(t, m, dir)
	var count [3]int
	for name, b := range good {
		step := max(1, len(b)/200)
		if k.o.Exhaustive {
			step = 1
		}
		for n := m.r.IntN(step); n < len(b); n += step {
			f := maps.Clone(good)
			f[name] = b[:n]
			x := f.write(t, root)
			o, wrong := k.ask(m, x, validity, uids)
			count[o]++
			// A log that is cut is an older log: UIDs given out since may be
			// given again, which no checksum can tell. Answers must be right.
			if o == silentWrong && k.d.Integrity() == index.DetectsDamage && len(wrong) > 0 && wrong[0] != 'a' {
				t.Fatalf("%s cut at %d of %d: %s", name, n, len(b), wrong)
			}
			os.RemoveAll(x)
		}
	}
	t.Logf("right %d, errors %d, wrong %d", count[right], count[failed], count[silentWrong])
}

// crashed: the machine stops at any call that changes a file; what is there
// afterwards gives right answers after a Sync, under UIDs that were promised.
func crashed(t *testing.T, k *kit) {
	k.needsFS(t)
	root := filepath.Join(t.TempDir(), "index")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := fsys.NewLog(fsys.OS, root)
	if err != nil {
		t.Fatal(err)
	}
	rec := fsys.Recording(fsys.OS, log)
	m := newMailbox(t, k.rand(800))
	tried := 0
	promised := uidsSeen{}
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
		m.mustAnswer(t, box, true, "before any crash")
		if round%3 == 2 {
			if err := box.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		old := maps.Clone(promised)
		if wrong := promised.wrong(box); wrong != "" {
			t.Fatal(wrong)
		}
		box.Close()
		for n := from; n <= log.Len(); n++ {
			crashes := fsys.Crashes(uint64(n))
			if !k.o.Exhaustive {
				crashes = crashes[n%len(crashes):][:1]
			}
			for _, c := range crashes {
				dir := filepath.Join(t.TempDir(), "crashed")
				if err := log.Replay(dir, n, c); err != nil {
					t.Fatal(err)
				}
				tried++
				after, err := k.open(m, dir, quick)
				if err != nil {
					t.Fatalf("event %d, %+v: %v", n, c, err)
				}
				ch, err := after.Sync()
				if err != nil {
					t.Fatalf("event %d, %+v: sync: %v", n, c, err)
				}
				if ch.Rebuilt && round > 0 {
					t.Fatalf("event %d, %+v: rebuilt", n, c)
				}
				m.mustAnswer(t, after, true, "after a crash")
				if wrong := maps.Clone(old).wrong(after); wrong != "" {
					t.Fatalf("event %d, %+v: %s", n, c, wrong)
				}
				after.Close()
				os.RemoveAll(dir)
			}
		}
	}
	t.Logf("%d crashes", tried)
}

// noSpace: any call that changes a file may fail; the error is told, and a
// later Sync completes.
func noSpace(t *testing.T, k *kit) {
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
		m.setFlags(m.msgs[0], "FT")
		calls, hit, full := 0, false, true
		fsy := fsys.Failing(quick, func(op fsys.Op, _ string, _ int64, n int) error {
			if !full || !op.Changes() {
				return nil
			}
			if calls++; calls <= at {
				return nil
			}
			hit = true
			if op == fsys.OpWrite && n > 7 {
				return &fsys.ShortWrite{N: 7, Err: boom}
			}
			return boom
		})
		box, err := k.open(m, dir, fsy)
		if err == nil {
			if _, err = box.Sync(); err == nil {
				var wrong string
				if wrong, err = m.answersWrong(box, true); wrong != "" {
					t.Fatalf("call %d: %s", at, wrong)
				}
				if err == nil {
					err = box.Compact()
				}
			}
			full = false
			mustSync(t, box)
			m.mustAnswer(t, box, true, "when there is space again")
			box.Close()
		}
		if err != nil && !errors.Is(err, boom) {
			t.Fatalf("call %d: %v", at, err)
		}
		full = false
		k.mustSurvive(t, m, dir, "when there is space again")
		if !hit {
			return
		}
	}
}
