package suite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mailbench/corpus"
)

// A live mailbox is a clone of the corpus that may change: mail is delivered
// to it and expunged from it by renames within its file system. UID i+1 is
// message i, at home where the corpus has it.
type live struct {
	path string
	home []string // "cur/NAME" of each message in the corpus
	at   []string // where it is now; "" = held back in tmp/
}

// live clones the corpus once per run; rows take turns with it.
func (r *Runner) live(f *fixture) (*live, error) {
	at, how := &r.clone, corpus.CloneAuto
	if f.own {
		at, how = &f.clone, corpus.CloneHardlink
	}
	if *at != nil {
		return *at, (*at).restore()
	}
	base, err := os.MkdirTemp(r.scratch, "live-")
	if err != nil {
		return nil, err
	}
	m := &live{path: filepath.Join(base, "maildir")}
	err = corpus.Clone(context.Background(), f.path, m.path, how)
	if err != nil && how == corpus.CloneHardlink { // the scratch directory lies on another file system
		err = corpus.Clone(context.Background(), f.path, m.path, corpus.CloneAuto)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"tmp", "new"} {
		if err := os.MkdirAll(filepath.Join(m.path, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := f.single(m.path); err != nil {
		return nil, err
	}
	order, err := namesInOrder(f)
	if err != nil {
		return nil, err
	}
	where, err := mailNames(m.path)
	if err != nil {
		return nil, err
	}
	for _, base := range order {
		at, ok := where[base]
		if !ok {
			return nil, fmt.Errorf("%s: %s is not in the clone", f.path, base)
		}
		m.home = append(m.home, at.dir+"/"+at.file)
	}
	m.at = slices.Clone(m.home)
	*at = m
	return m, nil
}

// put moves message i to rel, "" holds it back.
func (m *live) put(i int, rel string) error {
	if m.at[i] == rel {
		return nil
	}
	if err := os.Rename(m.file(i, m.at[i]), m.file(i, rel)); err != nil {
		return err
	}
	m.at[i] = rel
	return nil
}

func (m *live) file(i int, rel string) string {
	if rel == "" {
		rel = "tmp/" + filepath.Base(m.home[i])
	}
	return filepath.Join(m.path, rel)
}

// restore brings every message home.
func (m *live) restore() error {
	for i := range m.home {
		if err := m.put(i, m.home[i]); err != nil {
			return err
		}
	}
	return nil
}

// touch gives cur/ a new modification time, as a program does that writes
// there and takes back what it wrote.
func (m *live) touch() error {
	now := time.Now()
	return os.Chtimes(filepath.Join(m.path, "cur"), now, now)
}

// present lists the UIDs of the messages that are there.
func (m *live) present() []uint32 {
	var uids []uint32
	for i, rel := range m.at {
		if rel != "" {
			uids = append(uids, uint32(i+1))
		}
	}
	return uids
}

// A delta is a change of a live mailbox: before is the state that the index
// knows, apply makes the change, and undo returns to before.
type delta struct {
	name    string
	touched []int // messages concerned
	m       *live
}

// deltaSize is how many messages a delta concerns: what arrives between two
// looks at a busy list, never more than a tenth of the mailbox.
const deltaSize = 100

func newDelta(name string, m *live) *delta {
	n := len(m.home)
	k := min(deltaSize, max(1, n/10), n)
	d := &delta{name: name, m: m}
	if name == "deliver" {
		for i := n - k; i < n; i++ {
			d.touched = append(d.touched, i)
		}
		return d
	}
	// Roots, middles and leaves alike: a fixed draw over the whole mailbox.
	d.touched = rand.New(rand.NewPCG(uint64(n), 7)).Perm(n)[:k]
	slices.Sort(d.touched)
	return d
}

// before puts the mailbox into the state that the index is to know.
func (d *delta) before() error {
	for _, i := range d.touched {
		rel := d.m.home[i]
		switch d.name {
		case "deliver":
			rel = ""
		case "rename":
			rel = "new/" + d.base(i)
		}
		if err := d.m.put(i, rel); err != nil {
			return err
		}
	}
	return nil
}

// apply makes the change.
func (d *delta) apply() error {
	if d.name == "none" {
		return d.m.touch()
	}
	for _, i := range d.touched {
		var rel string
		switch d.name {
		case "deliver":
			rel = "new/" + d.base(i)
		case "rename": // new mail is seen by a client and moved
			rel = "cur/" + d.base(i) + ":2,"
		case "flags":
			rel = "cur/" + toggleFlagged(d.base(i), d.m.home[i])
		}
		if err := d.m.put(i, rel); err != nil {
			return err
		}
	}
	return nil
}

func (d *delta) base(i int) string {
	base, _, _ := strings.Cut(filepath.Base(d.m.home[i]), ":")
	return base
}

// toggleFlagged is the name with \Flagged turned over, letters in order.
func toggleFlagged(base, home string) string {
	_, flags, _ := strings.Cut(home, ":2,")
	out := []byte{'F'}
	if strings.Contains(flags, "F") {
		out = out[:0]
	}
	for _, c := range []byte(flags) {
		if c != 'F' {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return base + ":2," + string(out)
}
