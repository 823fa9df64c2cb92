package indextest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"mailbench/index"
)

// small is a mailbox and an index with a history, about as small as can be.
func (k *kit) small(t T, seed uint64, dir string) *mailbox {
	t.Helper()
	m := newMailbox(t, k.rand(seed))
	for range 6 {
		m.deliver()
	}
	k.build(t, m, dir)
	for range 3 {
		m.deliver()
		m.expunge(m.msgs[m.r.IntN(len(m.msgs))])
		m.setFlags(m.msgs[m.r.IntN(len(m.msgs))], "RS", "")
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
	panicked
	outcomes
)

// ask opens what is in dir, syncs and asks a few things or everything. UIDs
// must be those promised, if that is not nil.
func (k *kit) ask(m *mailbox, dir string, few bool, promised *uidsSeen) (o outcome, wrong string) {
	// A file shorter than its engine thinks kills a process that maps it.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			o, wrong = panicked, fmt.Sprintf("panic: %v", p)
		}
	}()
	box, err := k.open(m, dir, quick)
	if err != nil {
		return failed, ""
	}
	defer box.Close()
	if _, err := box.Sync(); err != nil {
		return failed, ""
	}
	wrong, err = m.answersWrong(box, few)
	if wrong != "" {
		return silentWrong, wrong
	}
	if err != nil {
		return failed, ""
	}
	if promised != nil {
		if wrong = promised.clone().wrong(box); wrong != "" {
			return silentWrong, wrong
		}
	}
	return right, ""
}

// promises are the UIDs of an index that is well.
func (k *kit) promises(t T, m *mailbox, dir string) *uidsSeen {
	t.Helper()
	box := k.mustOpen(t, m, dir)
	defer box.Close()
	mustSync(t, box)
	seen := newUIDsSeen()
	if wrong := seen.wrong(box); wrong != "" {
		t.Fatal(wrong)
	}
	return seen
}

// Damage is what became of the answers of a design whose small index was
// damaged in many ways, one at a time.
type Damage struct {
	Design string
	Kind   string // "flip": one bit of a byte; "cut": the end of a file
	Seed   uint64
	Bytes  int // of the index
	Tried  int // copies that were damaged, opened, synced and asked
	Right  int // all answers right: the damage was noticed and repaired, or did not matter
	Errors int // an error was returned
	Wrong  int // a wrong answer, and not a word
	Panics int // a panic, or a fault of a mapped file
	Files  []FileDamage
	First  string // wrong answer or panic
}

// FileDamage is the part of one file.
type FileDamage struct {
	Name                                       string
	Bytes, Tried, Right, Errors, Wrong, Panics int
}

// SilentWrongPct is the share of silent wrong answers in percent.
func (f FileDamage) SilentWrongPct() float64 {
	return 100 * float64(f.Wrong) / float64(max(1, f.Tried))
}

// SilentWrongPct is the share of silent wrong answers in percent.
func (d Damage) SilentWrongPct() float64 { return 100 * float64(d.Wrong) / float64(max(1, d.Tried)) }

// String is one line, made to be read by programs too.
func (d Damage) String() string {
	return fmt.Sprintf("damage design=%s kind=%s bytes=%d tried=%d right=%d errors=%d panics=%d silent-wrong=%d silent-wrong-pct=%.1f seed=%d",
		d.Design, d.Kind, d.Bytes, d.Tried, d.Right, d.Errors, d.Panics, d.Wrong, d.SilentWrongPct(), d.Seed)
}

// Lines is String and a line for each file.
func (d Damage) Lines() string {
	out := d.String()
	for _, f := range d.Files {
		out += fmt.Sprintf("\ndamage design=%s kind=%s file=%s bytes=%d tried=%d right=%d errors=%d panics=%d silent-wrong=%d silent-wrong-pct=%.1f",
			d.Design, d.Kind, f.Name, f.Bytes, f.Tried, f.Right, f.Errors, f.Panics, f.Wrong, f.SilentWrongPct())
	}
	return out
}

// Flips turns one bit of every byte of a small index, or of about 1,000 of them
// without Options.Exhaustive, and asks everything after each. The same seed
// gives the same mail and the same bits. Some seconds.
func Flips(d index.Design, o Options) (Damage, error) { return measure(d, o, (*kit).flips) }

// Cuts cuts each file of a small index at every byte, or at about 100 places of each.
func Cuts(d index.Design, o Options) (Damage, error) { return measure(d, o, (*kit).cuts) }

func measure(d index.Design, o Options, how func(*kit, T, bool) Damage) (Damage, error) {
	o.fill()
	var r recorder
	var out Damage
	r.run(func() { out = how(&kit{d: d, o: o}, &r, false) })
	var errs []error
	for _, f := range r.faults {
		errs = append(errs, fmt.Errorf("indextest: %s, seed %d: %s", d.Name(), o.Seed, f))
	}
	return out, errors.Join(errs...)
}

// flipped: a design that detects damage never gives a wrong answer; of another
// the share of wrong answers is logged.
func flipped(t T, k *kit) { t.Logf("%s", k.flips(t, true).Lines()) }

// torn: the same for files that end too early.
func torn(t T, k *kit) { t.Logf("%s", k.cuts(t, true).Lines()) }

func (k *kit) flips(t T, strict bool) Damage {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := k.small(t, 600, dir)
	good := readDir(t, dir)
	w := k.wounds(t, "flip", m, root, good, k.promises(t, m, dir))
	w.strict = strict
	sample := 1000
	if strict {
		sample = k.o.sample(sample)
	}
	step := max(1, w.Bytes/sample)
	if k.o.Exhaustive {
		step = 1
	}
	at := m.r.IntN(step)
	for _, name := range slices.Sorted(maps.Keys(good)) {
		for ; at < len(good[name]); at += step {
			b := []byte(good[name])
			bit := m.r.IntN(8)
			b[at] ^= 1 << bit
			w.try(t, name, string(b), fmt.Sprintf("%s, bit %d of byte %d of %d", name, bit, at, len(b)))
		}
		at -= len(good[name])
	}
	return w.Damage
}

func (k *kit) cuts(t T, strict bool) Damage {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := k.small(t, 700, dir)
	good := readDir(t, dir)
	// A log that is cut is an older log: UIDs given out since may be given
	// again, which no checksum can tell. Answers must be right.
	w := k.wounds(t, "cut", m, root, good, nil)
	w.strict = strict
	sample := 100
	if strict {
		sample = k.o.sample(sample)
	}
	for _, name := range slices.Sorted(maps.Keys(good)) {
		b := good[name]
		step := max(1, len(b)/sample)
		if k.o.Exhaustive {
			step = 1
		}
		for n := m.r.IntN(step); n < len(b); n += step {
			w.try(t, name, b[:n], fmt.Sprintf("%s cut at %d of %d", name, n, len(b)))
		}
	}
	return w.Damage
}

// wounds damages one file after another.
type wounds struct {
	Damage
	k        *kit
	m        *mailbox
	root     string
	good     files
	promised *uidsSeen
	strict   bool // a wrong answer of a design that detects damage ends the part
}

func (k *kit) wounds(t T, kind string, m *mailbox, root string, good files, promised *uidsSeen) *wounds {
	w := &wounds{Damage: Damage{Design: k.d.Name(), Kind: kind, Seed: k.o.Seed}, k: k, m: m, root: root, good: good, promised: promised}
	for _, b := range good {
		w.Bytes += len(b)
	}
	return w
}

func (w *wounds) try(t T, name, with, when string) {
	t.Helper()
	f := maps.Clone(w.good)
	f[name] = with
	x := f.write(t, w.root)
	defer os.RemoveAll(x)
	few := w.strict && w.Tried%3 > 0 // what is measured is asked everything, what is tested must be done some time
	o, wrong := w.k.ask(w.m, x, few, w.promised)
	file := w.file(name)
	w.Tried++
	file.Tried++
	switch o {
	case right:
		w.Right++
		file.Right++
		return
	case failed:
		file.Errors++
		if w.Errors++; w.Errors%20 == 1 && w.strict {
			w.k.mustSurvive(t, w.m, x, when)
		}
		return
	case silentWrong:
		w.Wrong++
		file.Wrong++
	case panicked:
		w.Panics++
		file.Panics++
	}
	if w.First == "" {
		w.First = when + ": " + wrong
	}
	if w.strict && w.k.d.Integrity() == index.DetectsDamage {
		t.Fatalf("%s: %s", when, wrong)
	}
}

// file is the part of a file, made when it is first asked for.
func (w *wounds) file(name string) *FileDamage {
	for i := range w.Files {
		if w.Files[i].Name == name {
			return &w.Files[i]
		}
	}
	w.Files = append(w.Files, FileDamage{Name: name, Bytes: len(w.good[name])})
	return &w.Files[len(w.Files)-1]
}
