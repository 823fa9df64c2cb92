// Package indextest is the conformance kit of index designs: one call from a
// design's test file.
//
//	func TestConformance(t *testing.T) { indextest.Run(t, column.Design) }
//
// It plays random histories on scratch maildirs and mboxes against a plain
// model and the naive oracle, damages every file of small indexes, and stops at
// every call that changes a file. What it does not need of a design, by the
// design's own word (Axes, the optional interfaces), it passes over. Seeds are
// printed; Options.Seed, or MAILBENCH_SEED in the environment, replays one.
//
// # The parts
//
//	Declared    what Axes says and what a Mailbox can do are the same
//	History     deliver, flag, expunge, sync, thread, sort, fetch, changes since,
//	            compact, close, reopen: answers are the oracle's, UIDs stay
//	HistoryMbox the same on an mbox: appended to, changed in place, rewritten
//	Journal     the same on a source that tells what happened since, and the index
//	            is the one that a comparison of all names gives
//	Cached      of an index.Cacher: mail that it was told of it does not read, and
//	            what it was told changes no answer
//	Rebuilt     a grown index answers like one built from nothing
//	Reopened    the same, field by field, from a second process's view; ten
//	            reopenings change no byte on disk
//	SameSecond  a change under an unchanged directory time
//	Compat      the same index opened as the RFC has it, then as Dovecot, and back:
//	            what is cached of the one is not an answer of the other
//	Swapped     a file missing, empty, another mailbox's, an older one
//	Stale       every pair of states of the index, mixed file by file
//	UIDValidity changes under an open handle, which never mixes two
//	TwoReaders  a reader while another compacts and syncs
//	Flipped     a bit of each byte: see Damage
//	Torn        each file cut at each byte: see Damage
//	Checked     what syncing and asking notice of a flipped bit, Check tells of
//	Tail        the last Sync's last write cut at every byte
//	Crashed     the machine stops at any call that changes a file
//	NoSpace     any call that changes a file fails
//	Killed      kill -9 while syncing and compacting, of a design with Axes.OwnIO
//
// The kit's own tests plant faults in small designs and assert that it finds them.
package indextest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"mailbench/index"
)

// Options of a run.
type Options struct {
	Forgets bool // with these options it caches less than it is told: mail may be read again

	Index      index.Options // given to the design
	Seed       uint64        // 0: a fresh one
	Exhaustive bool          // flip every byte, crash at every call (also by MAILBENCH_EXHAUSTIVE=1); else a sample
	Parts      []string      // names of the parts to run; nil: all

	long, short bool // MAILBENCH_LONG: the sample is as large as that of Flips and Cuts; -short
}

// sample is the number of places of n that a test tries: another seed tries
// others next time.
func (o *Options) sample(n int) int {
	switch {
	case o.long:
		return n
	case o.short:
		return n / 16
	}
	return n / 4
}

func (o *Options) fill() {
	if n, err := strconv.ParseUint(os.Getenv("MAILBENCH_SEED"), 10, 64); err == nil && o.Seed == 0 {
		o.Seed = n
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	if os.Getenv("MAILBENCH_EXHAUSTIVE") != "" {
		o.Exhaustive = true
	}
	o.long = os.Getenv("MAILBENCH_LONG") != ""
	o.short = testing.Testing() && testing.Short()
}

// A part is one of the promises.
type part struct {
	name string
	run  func(t T, k *kit)
}

var parts = []part{
	{"Declared", declared}, {"History", history}, {"HistoryMbox", historyMbox}, {"Journal", journal}, {"Cached", cached}, {"Rebuilt", rebuilt}, {"Reopened", reopened},
	{"SameSecond", sameSecond}, {"Compat", compat}, {"Swapped", swapped}, {"Stale", stale}, {"UIDValidity", uidValidity}, {"TwoReaders", twoReaders},
	{"Flipped", flipped}, {"Torn", torn}, {"Checked", checked}, {"Tail", tail}, {"Crashed", crashed}, {"NoSpace", noSpace},
}

// Run holds a design to everything that a design promises.
func Run(t *testing.T, d index.Design) {
	t.Helper()
	RunOptions(t, d, Options{})
}

// RunOptions is Run with options.
func RunOptions(t *testing.T, d index.Design, o Options) {
	t.Helper()
	if obey(t, d) {
		return
	}
	o.fill()
	t.Logf("design %s, seed %d", d.Name(), o.Seed)
	k := &kit{d: d, o: o}
	for _, p := range parts {
		if o.wants(p.name) {
			t.Run(p.name, func(t *testing.T) { p.run(t, k) })
		}
	}
	if o.wants("Killed") && index.AxesOf(d).OwnIO {
		t.Run("Killed", func(t *testing.T) { killed(t, k) })
	}
}

// Sweep runs parts of the kit, by default the histories and what reopening and
// crashes leave, for each value of each option that d declares in its Axes and
// that is not the default, one at a time.
func Sweep(t *testing.T, d index.Design, parts ...string) {
	t.Helper()
	if len(parts) == 0 {
		parts = []string{"History", "HistoryMbox", "Reopened", "TwoReaders", "Crashed"}
	}
	ax := index.AxesOf(d)
	try := func(name string, o index.Options) {
		t.Run(name, func(t *testing.T) { RunOptions(t, d, Options{Index: o, Parts: parts}) })
	}
	for _, v := range others(ax.Fields) {
		try("fields="+v, index.Options{Fields: v})
	}
	for _, v := range others(ax.Answers) {
		try("answers="+v, index.Options{Answers: v})
	}
	for _, x := range ax.Extra {
		for _, v := range others(x.Values) {
			try(x.Name+"="+v, index.Options{Extra: map[string]string{x.Name: v}})
		}
	}
}

// others are all values but the default.
func others(values []string) []string { return values[min(1, len(values)):] }

func (o *Options) wants(part string) bool { return o.Parts == nil || slices.Contains(o.Parts, part) }

// Faults runs the kit outside a test and returns what it found: nothing of a
// design that keeps its promises. Killed, which starts the test binary again,
// is left out. An error is about the options.
func Faults(d index.Design, o Options) ([]Fault, error) {
	o.fill()
	for _, name := range o.Parts {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return nil, fmt.Errorf("indextest: no part %q", name)
		}
	}
	k := &kit{d: d, o: o}
	var out []Fault
	for _, p := range parts {
		if !o.wants(p.name) {
			continue
		}
		var r recorder
		r.run(func() { p.run(&r, k) })
		for _, f := range r.faults {
			out = append(out, Fault{p.name, fmt.Sprintf("seed %d: %s", o.Seed, f)})
		}
	}
	return out, nil
}
