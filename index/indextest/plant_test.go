package indextest

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/example"
	"mailbench/index/scan"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A planted design is scan, or another, with a fault: what open makes of an opened mailbox.
type planted struct {
	index.Design
	detects bool
	ax      index.Axes
	fs      func(index.FS) index.FS
	plant   func(*box)
}

func (d planted) Axes() index.Axes { d.ax.Fetches = true; return d.ax }

func (d planted) Integrity() index.Integrity {
	if d.detects {
		return index.DetectsDamage
	}
	return index.TrustsDisk
}

// A box is an opened mailbox with any method replaced.
type box struct {
	index.Mailbox
	index.Fetcher
	cfg    index.Config
	was    bool // there was an index already
	sync   func(do func() (index.Changes, error)) (index.Changes, error)
	thread func(alg thread.Alg, s index.Search, do func() (*index.Answer, error)) (*index.Answer, error)
	sort   func(crit []mailsort.Criterion, s index.Search, do func([]mailsort.Criterion) ([]uint32, error)) ([]uint32, error)
	fetch  func(uid uint32, fields []string, values [][]byte)
	status func(index.Status) index.Status
	msg    func(index.Message) index.Message
	close  func()
	after  func() // Compact
	check  iter.Seq[error]
}

func (d planted) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if d.fs != nil {
		cfg.FS = d.fs(cfg.FS)
	}
	_, err := cfg.FS.Stat(filepath.Join(cfg.Dir, scan.File))
	m, openErr := d.Design.Open(cfg)
	if openErr != nil {
		return nil, openErr
	}
	b := &box{Mailbox: m, Fetcher: m.(index.Fetcher), cfg: cfg, was: err == nil}
	if d.plant != nil {
		d.plant(b)
	}
	return b, nil
}

func (b *box) Sync() (index.Changes, error) {
	if b.sync == nil {
		return b.Mailbox.Sync()
	}
	return b.sync(b.Mailbox.Sync)
}

func (b *box) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	do := func() (*index.Answer, error) { return b.Mailbox.Thread(alg, s) }
	if b.thread == nil {
		return do()
	}
	return b.thread(alg, s, do)
}

func (b *box) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	do := func(crit []mailsort.Criterion) ([]uint32, error) { return b.Mailbox.Sort(crit, s) }
	if b.sort == nil {
		return do(crit)
	}
	return b.sort(crit, s, do)
}

func (b *box) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return b.Fetcher.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		if b.fetch != nil {
			b.fetch(uid, fields, values)
		}
		return fn(uid, values)
	})
}

func (b *box) Status() index.Status {
	if b.status == nil {
		return b.Mailbox.Status()
	}
	return b.status(b.Mailbox.Status())
}

func (b *box) Messages(fn func(index.Message) bool) error {
	return b.Mailbox.Messages(func(m index.Message) bool {
		if b.msg != nil {
			m = b.msg(m)
		}
		return fn(m)
	})
}

func (b *box) Compact() error {
	if b.after != nil {
		b.after()
	}
	return b.Mailbox.Compact()
}

func (b *box) Check() iter.Seq[error] {
	if b.check == nil {
		return b.Mailbox.Check()
	}
	return b.check
}

func (b *box) Close() error {
	if b.close != nil {
		b.close()
	}
	return b.Mailbox.Close()
}

// path is a file of the fault's own beside the index.
func (b *box) path() string { return filepath.Join(b.cfg.Dir, "planted.cache") }

// lostField: the handle that finds an index has lost Cc.
func lostField(b *box) {
	b.fetch = func(_ uint32, fields []string, values [][]byte) {
		for i, name := range fields {
			if b.was && strings.EqualFold(name, "cc") {
				values[i] = nil
			}
		}
	}
}

// tieOrder: equal keys come in the order of descending UIDs.
func tieOrder(b *box) {
	b.sort = func(crit []mailsort.Criterion, _ index.Search, do func([]mailsort.Criterion) ([]uint32, error)) ([]uint32, error) {
		return do(append(slices.Clone(crit), mailsort.Criterion{Key: mailsort.Arrival, Reverse: true}))
	}
}

// reusedUID: UIDNEXT is always the last UID plus one.
func reusedUID(b *box) {
	b.sync = func(do func() (index.Changes, error)) (index.Changes, error) {
		c, err := do()
		if err != nil {
			return c, err
		}
		last := uint32(0)
		if err := b.Mailbox.Messages(func(m index.Message) bool { last = m.UID; return true }); err != nil {
			return c, err
		}
		name := filepath.Join(b.cfg.Dir, scan.File)
		text, err := os.ReadFile(name)
		if err != nil {
			return c, err
		}
		_, rest, _ := strings.Cut(string(text), "\n")
		return c, os.WriteFile(name, fmt.Appendf(nil, "1 %d %d\n%s", b.Mailbox.Status().UIDValidity, last+1, rest), 0o600)
	}
	b.status = func(s index.Status) index.Status {
		s.UIDNext = 1 << 20 // and does not say so
		return s
	}
}

// staleCache: a sort order is kept in a file that nothing ties to the index;
// only a change that this handle sees removes it.
func staleCache(b *box) {
	b.sync = func(do func() (index.Changes, error)) (index.Changes, error) {
		c, err := do()
		if err == nil && c.Added+c.Removed > 0 {
			if err = b.cfg.FS.Remove(b.path()); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		return c, err
	}
	b.sort = func(crit []mailsort.Criterion, s index.Search, do func([]mailsort.Criterion) ([]uint32, error)) ([]uint32, error) {
		if len(crit) != 1 || crit[0] != (mailsort.Criterion{Key: mailsort.Date}) || s.Kind != "" {
			return do(crit)
		}
		if text, err := os.ReadFile(b.path()); err == nil {
			var out []uint32
			for _, w := range strings.Fields(string(text)) {
				var u uint32
				fmt.Sscan(w, &u)
				out = append(out, u)
			}
			return out, nil
		}
		out, err := do(crit)
		if err == nil {
			err = os.WriteFile(b.path(), []byte(strings.Trim(fmt.Sprint(out), "[]")), 0o600)
		}
		return out, err
	}
}

// oneCompat: an order is kept for the mailbox as it is, whoever's reading it was.
func oneCompat(all map[string][]uint32) func(*box) {
	return func(b *box) {
		b.sort = func(crit []mailsort.Criterion, s index.Search, do func([]mailsort.Criterion) ([]uint32, error)) ([]uint32, error) {
			if s.Kind != "" {
				return do(crit)
			}
			of := fmt.Sprint(b.cfg.Dir, b.Mailbox.Status(), crit)
			if out, ok := all[of]; ok {
				return out, nil
			}
			out, err := do(crit)
			all[of] = slices.Clone(out)
			return out, err
		}
	}
}

// noSyncDir renames without making the name last.
type noSyncDir struct{ index.FS }

func (noSyncDir) SyncDir(string) error { return nil }

// forgetful says yes to a write that failed.
type forgetful struct{ index.FS }

func (f forgetful) Rename(from, to string) error { f.FS.Rename(from, to); return nil }
func (f forgetful) SyncDir(dir string) error     { f.FS.SyncDir(dir); return nil }

// inPlace writes the list into the file that is there.
func inPlace(b *box) {
	name := filepath.Join(b.cfg.Dir, scan.File)
	b.sync = func(do func() (index.Changes, error)) (index.Changes, error) {
		before, _ := os.ReadFile(name)
		c, err := do()
		after, readErr := os.ReadFile(name)
		if err != nil || readErr != nil || string(before) == string(after) {
			return c, err
		}
		f, err := b.cfg.FS.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return c, err
		}
		defer f.Close()
		for _, text := range [][]byte{before, after} {
			if _, err := f.WriteAt(text, 0); err != nil {
				return c, err
			}
			if err := f.Truncate(int64(len(text))); err != nil {
				return c, err
			}
		}
		return c, nil
	}
}

// openWrites leaves a trace of each opening.
func openWrites(b *box) {
	b.close = func() {
		f, err := os.OpenFile(b.path(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			f.WriteString("opened\n")
			f.Close()
		}
	}
}

// believesTime looks at the mailbox only when the time of cur/ or new/ has moved.
func believesTime(b *box) {
	var last index.State
	b.sync = func(do func() (index.Changes, error)) (index.Changes, error) {
		now, err := b.cfg.Source.State()
		if err != nil || now.Same(last) {
			return index.Changes{}, err
		}
		last = now
		return do()
	}
}

// mixedHandles: a handle gives an order that was worked out by whichever handle
// compacted last, and its UIDs.
func mixedHandles(all map[string][]uint32) func(*box) {
	return func(b *box) {
		b.sort = func(crit []mailsort.Criterion, s index.Search, do func([]mailsort.Criterion) ([]uint32, error)) ([]uint32, error) {
			if len(crit) != 1 || crit[0].Key != mailsort.Arrival || s.Kind != "" {
				return do(crit)
			}
			out, err := do(crit)
			if old, ok := all[b.cfg.Dir]; ok && len(old) == len(out) {
				return old, err
			}
			return out, err
		}
		b.sync = func(do func() (index.Changes, error)) (index.Changes, error) {
			c, err := do()
			if err == nil {
				out, sortErr := b.Mailbox.Sort([]mailsort.Criterion{{Key: mailsort.Arrival}}, index.Search{})
				if err = sortErr; err == nil {
					all[b.cfg.Dir] = out
				}
			}
			return c, err
		}
	}
}

// lostGround: a handle that was open when another compacted reads rows that
// are somewhere else now.
func lostGround(compacted map[string]int) func(*box) {
	return func(b *box) {
		opened := compacted[b.cfg.Dir]
		b.after = func() { compacted[b.cfg.Dir]++; opened = compacted[b.cfg.Dir] }
		b.msg = func(m index.Message) index.Message {
			if compacted[b.cfg.Dir] != opened {
				m.Key = "elsewhere"
			}
			return m
		}
	}
}

// emptyCheck never finds anything.
func emptyCheck(b *box) { b.check = func(func(error) bool) {} }

// scaredCheck wants an index to be there.
func scaredCheck(b *box) {
	if !b.was {
		b.check = func(yield func(error) bool) { yield(errors.New("no list")) }
	}
}

// The kit finds each fault that is planted, in the part that is for it, and
// says what is wrong.
func TestPlanted(t *testing.T) {
	for _, f := range []struct {
		fault string
		d     planted
		part  string
		says  string
	}{
		// The five of the plan.
		{"a lost field on reopen", planted{plant: lostField}, "Reopened", "fetch Cc"},
		{"a lost field on reopen", planted{plant: lostField}, "History", "fetch Cc"},
		{"a wrong tie order", planted{plant: tieOrder}, "History", "sort "},
		{"a reused UID", planted{plant: reusedUID}, "History", " was \""},
		{"a stale cache served", planted{plant: staleCache}, "Swapped", "sort date"},
		{"a stale cache served", planted{plant: staleCache}, "Stale", "sort date"},
		{"an unsynced rename", planted{fs: func(f index.FS) index.FS { return noSyncDir{f} }}, "Crashed", "after the Sync had returned"},

		// Each other part can fail too.
		{"a lost field on reopen", planted{plant: lostField}, "HistoryMbox", "fetch Cc"},
		{"a lost field on reopen", planted{plant: lostField}, "Rebuilt", "fetch Cc"},
		{"ground lost to a compaction", planted{plant: lostGround(map[string]int{})}, "TwoReaders", "elsewhere"},
		{"a cut that is not detected", planted{plant: staleCache, detects: true}, "Torn", "planted.cache cut at"},
		{"an error that is swallowed", planted{fs: func(f index.FS) index.FS { return forgetful{f} }}, "NoSpace", "not on disk"},
		{"a write on each opening", planted{plant: openWrites}, "Reopened", "planted.cache has changed"},
		{"a believed directory time", planted{plant: believesTime}, "SameSecond", "same directory time"},
		{"damage that is not detected", planted{detects: true}, "Flipped", scan.File + ", bit"},
		{"a list written in place", planted{plant: inPlace}, "Tail", "cut at"},
		{"two UIDVALIDITYs mixed", planted{plant: mixedHandles(map[string][]uint32{})}, "UIDValidity", "the old handle mixes"},
		{"an empty Check", planted{Design: example.Design, plant: emptyCheck, detects: true}, "Checked", "Check yields nothing, though after Sync it is built anew"},
		{"a Check of what is not there", planted{plant: scaredCheck}, "Checked", "nothing is there yet: check: no list"},
		{"an axis that is not there", planted{ax: index.Axes{ModSeqs: true}}, "Declared", "ModSeqs"},
		{"an order of the other Compat", planted{plant: oneCompat(map[string][]uint32{})}, "Compat", "opening 1, Compat as Dovecot has it: sort "},
		{"MODSEQs that are not kept", planted{ax: index.Axes{ModSeqs: true}}, "History", "modseq"},
	} {
		t.Run(f.part+"/"+strings.ReplaceAll(f.fault, " ", "_"), func(t *testing.T) {
			if f.d.Design == nil {
				f.d.Design = scan.Design
			}
			faults, err := Faults(f.d, Options{Parts: []string{f.part}})
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) == 0 {
				t.Fatalf("%s was not found", f.fault)
			}
			if !strings.Contains(faults[0].Text, f.says) || faults[0].Part != f.part {
				t.Fatalf("%s was found as %v", f.fault, faults[0])
			}
			t.Log(faults[0])
		})
	}
}

// The same designs without their faults pass.
func TestPlanted_none(t *testing.T) {
	faults, err := Faults(planted{Design: scan.Design}, Options{})
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
}

func TestFaults_options(t *testing.T) {
	if _, err := Faults(scan.Design, Options{Parts: []string{"Histroy"}}); err == nil {
		t.Error("an unknown part: no error")
	}
	for _, measure := range []func(index.Design, Options) (Damage, error){Flips, Cuts} {
		a, err := measure(scan.Design, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		b, err := measure(scan.Design, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) || a.Tried == 0 || a.Tried != a.Right+a.Errors+a.Wrong+a.Panics {
			t.Errorf("the same seed:\n%v\n%v", a, b)
		}
	}
}
