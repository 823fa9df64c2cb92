package suite

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/index/scan"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A fake is the scan design with one fault.
type fake struct {
	index.Design
	name string
	bend func(fakeBox) index.Mailbox
}

func (f fake) Name() string { return f.name }

func (f fake) Open(cfg index.Config) (index.Mailbox, error) {
	mb, err := f.Design.Open(cfg)
	if err != nil {
		return nil, err
	}
	return f.bend(fakeBox{mb}), nil
}

// Axes let a fake be compacted.
func (fake) Axes() index.Axes { return index.Axes{Compacts: true} }

type fakeBox struct{ index.Mailbox }

func fakes() []index.Design {
	var ds []index.Design
	add := func(name string, bend func(fakeBox) index.Mailbox) {
		ds = append(ds, fake{scan.Design, name, bend})
	}
	add("right", func(m fakeBox) index.Mailbox { return m })
	add("tie", func(m fakeBox) index.Mailbox { return tieBox{m} })
	add("lost", func(m fakeBox) index.Mailbox { return lostBox{m} })
	add("status", func(m fakeBox) index.Mailbox { return statusBox{m} })
	add("changes", func(m fakeBox) index.Mailbox { return changesBox{m} })
	add("flags", func(m fakeBox) index.Mailbox { return flagsBox{m} })
	add("keys", func(m fakeBox) index.Mailbox { return keysBox{m} })
	add("error", func(m fakeBox) index.Mailbox { return errorBox{m} })
	add("variable", func(m fakeBox) index.Mailbox { return variableBox{m} })
	ds = append(ds, optioned{scan.Design}, fetches{fake{scan.Design, "fetch", func(m fakeBox) index.Mailbox { return fetchBox{m} }}})
	add("file", func(m fakeBox) index.Mailbox { return fileBox{m} })
	ds = append(ds, readers()...)
	return append(ds, designs.All...)
}

// tieBox breaks ties by the highest number instead of the lowest, and swaps
// two threads that nothing hangs below.
type tieBox struct{ fakeBox }

func (m tieBox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	return m.Mailbox.Sort(append(slices.Clone(crit), mailsort.Criterion{Key: mailsort.Arrival, Reverse: true}), s)
}

func (m tieBox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	a, err := m.Mailbox.Thread(alg, s)
	if err != nil {
		return a, err
	}
	f := &a.Forest
	for i := 1; i < len(f.Row); i++ {
		if f.Kids[i-1] == 0 && f.Kids[i] == 0 {
			f.Row[i-1], f.Row[i] = f.Row[i], f.Row[i-1]
			return a, nil
		}
	}
	return a, fmt.Errorf("no two leaves side by side")
}

// lostBox loses one message of every answer, though not of the mailbox.
type lostBox struct{ fakeBox }

func (m lostBox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	uids, err := m.Mailbox.Sort(crit, s)
	return slices.DeleteFunc(slices.Clone(uids), func(u uint32) bool { return u == 7 }), err
}

func (m lostBox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	s.Kind, s.UIDs = "uids", nil
	for u := uint32(1); int(u) <= m.Mailbox.Status().Messages; u++ {
		if u != 7 {
			s.UIDs = append(s.UIDs, u)
		}
	}
	return m.Mailbox.Thread(alg, s)
}

// statusBox counts one too many.
type statusBox struct{ fakeBox }

func (m statusBox) Status() index.Status {
	st := m.Mailbox.Status()
	st.Messages++
	return st
}

// changesBox does not notice the last arrival.
type changesBox struct{ fakeBox }

func (m changesBox) Sync() (index.Changes, error) {
	c, err := m.Mailbox.Sync()
	c.Added = max(0, c.Added-1)
	return c, err
}

// flagsBox forgets \Flagged.
type flagsBox struct{ fakeBox }

func (m flagsBox) Messages(fn func(index.Message) bool) error {
	return m.Mailbox.Messages(func(msg index.Message) bool {
		msg.Flags &^= index.FlagFlagged
		return fn(msg)
	})
}

// keysBox gives two messages each other's name.
type keysBox struct{ fakeBox }

func (m keysBox) Messages(fn func(index.Message) bool) error {
	var keys []string
	if err := m.Mailbox.Messages(func(msg index.Message) bool { keys = append(keys, string([]byte(msg.Key))); return true }); err != nil {
		return err
	}
	if len(keys) > 9 {
		keys[8], keys[9] = keys[9], keys[8]
	}
	i := -1
	return m.Mailbox.Messages(func(msg index.Message) bool {
		i++
		msg.Key = keys[i]
		return fn(msg)
	})
}

// errorBox cannot answer.
type errorBox struct{ fakeBox }

func (errorBox) Thread(thread.Alg, index.Search) (*index.Answer, error) {
	return nil, fmt.Errorf("first line\nsecond line")
}

// remembered are answers by query, without a thought of the mail.
type remembered map[string]*index.Answer

func query1(alg thread.Alg, s index.Search) string { return fmt.Sprint(alg, s) }

// work is what finding an answer costs: some tenths of a second of CPU.
func work() {
	var sum [32]byte
	for range 3_000_000 {
		sum = sha256.Sum256(sum[:])
	}
}

func clone(a *index.Answer) *index.Answer {
	return &index.Answer{Forest: thread.Forest{Row: slices.Clone(a.Forest.Row), Kids: slices.Clone(a.Forest.Kids)}, UID: slices.Clone(a.UID)}
}

// variableBox remembers answers in a variable of its package.
type variableBox struct{ fakeBox }

var variable = remembered{}

func (m variableBox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	key := query1(alg, s)
	if a := variable[key]; a != nil {
		return a, nil
	}
	work()
	a, err := m.Mailbox.Thread(alg, s)
	if err == nil {
		variable[key] = clone(a)
	}
	return a, err
}

// fileBox remembers answers in a file beside all indexes.
type fileBox struct{ fakeBox }

func (m fileBox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	file := filepath.Join(os.Getenv("PWD"), "remembered.json")
	all := remembered{}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			return nil, err
		}
	}
	key := query1(alg, s)
	if a := all[key]; a != nil {
		return a, nil
	}
	a, err := m.Mailbox.Thread(alg, s)
	if err != nil {
		return a, err
	}
	all[key] = clone(a)
	b, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return a, os.WriteFile(file, b, 0o600)
}

// fetches says that it answers FETCH.
type fetches struct{ fake }

func (fetches) Axes() index.Axes { return index.Axes{Fetches: true} }

// fetchBox knows no message to have a subject.
type fetchBox struct{ fakeBox }

func (fetchBox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	for _, u := range uids {
		if err := fn(u, make([][]byte, len(fields))); err != nil {
			return err
		}
	}
	return nil
}

// optioned has an option of its own. It refuses the value "bad" and, the
// option once set to "wrong", answers wrongly.
type optioned struct{ index.Design }

func (optioned) Name() string { return "optioned" }

func (optioned) Axes() index.Axes {
	return index.Axes{Compacts: true, Extra: []index.Extra{{Name: "mode", Values: []string{"plain", "1,2", "wrong"}, Help: "a test's", Trigger: true}}}
}

func (d optioned) Open(cfg index.Config) (index.Mailbox, error) {
	mode := d.Axes().Extra[0].Value(cfg.Options)
	if mode == "bad" {
		return nil, fmt.Errorf("mode %q", mode)
	}
	mb, err := d.Design.Open(cfg)
	if err == nil && mode == "wrong" {
		mb = lostBox{fakeBox{mb}}
	}
	return mb, err
}
