package indextest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"mailbench/index"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// bitsOf turns letters into bits.
func bitsOf(letters, of string) (bits uint32) {
	for _, c := range letters {
		bits |= 1 << strings.IndexRune(of, c)
	}
	return bits
}

func newShelfMailbox(_ T, r *rand.Rand) *mailbox {
	return &mailbox{r: r, kind: "shelf", path: "shelf", now: 1_600_000_000, shelf: NewShelf()}
}

// shelve delivers x.
func (m *mailbox) shelve(x *mail) {
	x.dir = ""
	if m.r.IntN(4) == 0 {
		x.flags = "S"
	}
	x.key = m.shelf.Deliver(x.text, x.date, index.Flags(bitsOf(x.flags, "DFPRST")), 0)
	m.msgs = append(m.msgs, x)
}

// journal: an index that is told what happened is the one that looks for itself.
func journal(t T, k *kit) {
	k.histories(t, 2, 900, func(t T, r *rand.Rand) *mailbox {
		m := newShelfMailbox(t, r)
		m.t = t
		return m
	})
	k.o.Index.UIDValidity = 7
	defer func() { k.o.Index.UIDValidity = 0 }()
	for round := range 2 {
		m := newShelfMailbox(t, k.rand(950+uint64(round)))
		m.t = t
		r := m.r
		deaf := *m // the same shelf
		deaf.plain = true
		dirs := [2]string{filepath.Join(t.TempDir(), "told"), filepath.Join(t.TempDir(), "looked")}
		boxes := [2]*opened{k.mustOpen(t, m, dirs[0]), k.mustOpen(t, &deaf, dirs[1])}
		for step := range 60 {
			what := fmt.Sprintf("round %d step %d:", round, step)
			for range []int{0, 1, 1, 1, 2, 3, 5}[r.IntN(7)] {
				what += " " + m.mutate()
			}
			switch r.IntN(12) {
			case 0:
				what += " reopen"
				mustClose(t, boxes[0])
				boxes[0] = k.mustOpen(t, m, dirs[0])
			case 1:
				what += " compact"
				for _, b := range boxes {
					if err := b.Compact(); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
			case 2:
				what += " forget"
				m.shelf.Forget()
			}
			var c [2]index.Changes
			for i, b := range boxes {
				c[i] = mustSync(t, b)
			}
			if c[0] != c[1] {
				t.Fatalf("%s: told %+v, looked %+v", what, c[0], c[1])
			}
			if a, b := m.state(t, boxes[0]), m.state(t, boxes[1]); a != b {
				t.Fatalf("%s:\ntold   %s\nlooked %s", what, a, b)
			}
			if r.IntN(4) == 0 {
				m.mustAnswer(t, boxes[0], r.IntN(2) == 0, what)
				mustCheck(t, boxes[0], what)
			}
		}
		for _, b := range boxes {
			mustClose(t, b)
		}
	}
}
