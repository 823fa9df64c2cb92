package suite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mailbench/index"
)

// A history changes a live mailbox as its owner and his mail clients do.
type history struct {
	m     *live
	rnd   *rand.Rand
	there []int // messages that are there, ascending
}

// begin takes the mailbox as it is.
func newHistory(m *live, seed uint64) *history {
	h := &history{m: m, rnd: rand.New(rand.NewPCG(uint64(len(m.home)), seed))}
	for i, rel := range m.at {
		if rel != "" {
			h.there = append(h.there, i)
		}
	}
	return h
}

// draw picks k messages that are there, each once.
func (h *history) draw(k int) []int {
	k = min(k, len(h.there))
	picked := map[int]bool{}
	out := make([]int, 0, k)
	for len(out) < k {
		at := h.rnd.IntN(len(h.there))
		if !picked[at] {
			picked[at] = true
			out = append(out, h.there[at])
		}
	}
	return out
}

// flag gives message i one of the flags that clients give, or takes it.
func (h *history) flag(i int) error {
	letters := []byte(nameFlags(h.m.at[i]))
	c := "SSSRF"[h.rnd.IntN(5)]
	if at := slices.Index(letters, c); at >= 0 {
		letters = slices.Delete(letters, at, at+1)
	} else {
		letters = append(letters, c)
		slices.Sort(letters)
	}
	return h.m.put(i, "cur/"+baseName(h.m.at[i])+":2,"+string(letters))
}

// expunge removes message i.
func (h *history) expunge(i int) error {
	if at, ok := slices.BinarySearch(h.there, i); ok {
		h.there = slices.Delete(h.there, at, at+1)
	}
	return h.m.put(i, "")
}

// deliver brings message i, which must be above all that are there.
func (h *history) deliver(i int) error {
	h.there = append(h.there, i)
	return h.m.put(i, "new/"+baseName(h.m.home[i]))
}

func baseName(rel string) string {
	base, _, _ := strings.Cut(filepath.Base(rel), ":")
	return base
}

// sync lets the index see what happened. A message is taken for expunged only
// when nothing else can have hidden it, so it may take a second look.
func (h *history) sync(mb index.Mailbox) error {
	for try := range 10 {
		if try > 1 {
			time.Sleep(60 * time.Millisecond)
		}
		if _, err := mb.Sync(); err != nil {
			return err
		}
		if mb.Status().Messages == len(h.there) {
			return nil
		}
	}
	return fmt.Errorf("after ten looks the index has %d messages, want %d", mb.Status().Messages, len(h.there))
}

// A past is what a history left: the mailbox, and an index that lived through
// it. It is made once for the rows that need it.
type past struct {
	dir   string // index files
	at    []string
	times map[string]time.Time // of cur/ and new/
	seen  []round
}

// A round is what happened between two syncs.
type round struct {
	modseq           uint64 // before it
	flagged, removed []int
}

// keep notes how things are.
func (h *history) keep(p *past) error {
	p.at = slices.Clone(h.m.at)
	p.times = map[string]time.Time{}
	for _, dir := range []string{"cur", "new"} {
		info, err := os.Stat(filepath.Join(h.m.path, dir))
		if err != nil {
			return err
		}
		p.times[dir] = info.ModTime()
	}
	return nil
}

// bring makes the mailbox what it was, to the times of its directories: what
// the index remembers of it is then still true.
func (p *past) bring(m *live) error {
	for i, rel := range p.at {
		if err := m.put(i, rel); err != nil {
			return err
		}
	}
	for dir, t := range p.times {
		if err := os.Chtimes(filepath.Join(m.path, dir), t, t); err != nil {
			return err
		}
	}
	return nil
}

// pastScene gives the mailbox of p and a copy of its index to a row.
func (r *Runner) pastScene(m *live, p *past) (*scene, error) {
	if err := p.bring(m); err != nil {
		return nil, err
	}
	clone := &fixture{path: m.path, kind: "maildir"}
	src, err := clone.source(r.scratch)
	if err != nil {
		return nil, err
	}
	st, err := r.newStage("past")
	if err != nil {
		return nil, err
	}
	if err := copyTree(p.dir, st.dir); err != nil {
		return nil, err
	}
	files, err := mailFiles(m.path, "maildir")
	if err != nil {
		return nil, err
	}
	s := &scene{src: src, st: st, files: files, box: m.present()}
	s.flags = func() (map[uint32]string, error) {
		out := map[uint32]string{}
		for i, rel := range m.at {
			if rel != "" {
				out[uint32(i+1)] = nameFlags(rel)
			}
		}
		return out, nil
	}
	s.close = func() error { return joinClose(src.Close, st.close, m.restore) }
	return s, joinClose(func() error { return settle(src) }, st.reset)
}

// pastOf makes what make makes once for each name of a run.
func (r *Runner) pastOf(f *fixture, name string, make func(*live, *past) error) (*scene, *past, error) {
	m, err := r.live(f)
	if err != nil {
		return nil, nil, err
	}
	p := r.pasts[name]
	if p == nil {
		p = &past{}
		if p.dir, err = os.MkdirTemp(r.index, "past-"); err != nil {
			return nil, nil, err
		}
		if err := make(m, p); err != nil {
			return nil, nil, joinClose(func() error { return err }, m.restore)
		}
		if r.pasts == nil {
			r.pasts = map[string]*past{}
		}
		r.pasts[name] = p
	}
	s, err := r.pastScene(m, p)
	return s, p, err
}
