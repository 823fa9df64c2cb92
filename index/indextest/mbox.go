package indextest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/mbox"
)

// newMbox is a scratch mbox. Its keys are the source's, asked for as messages
// come; everything else is the model's own.
func newMbox(t T, r *rand.Rand) *mailbox {
	t.Helper()
	m := &mailbox{t: t, r: r, kind: "mbox", path: filepath.Join(t.TempDir(), "scratch.mbox"), now: 1_600_000_000}
	if err := os.WriteFile(m.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// stored is the message as the file has it: a mail reader's fields in front,
// always as long, so that a change of flags moves nothing.
func (x *mail) stored() []byte {
	seen, letters := " ", ""
	for _, c := range x.flags {
		switch c {
		case 'S':
			seen = "R"
		case 'R':
			letters += "A"
		case 'F':
			letters += "F"
		case 'T':
			letters += "D"
		case 'D':
			letters += "T"
		}
	}
	return fmt.Appendf(nil, "Status: %sO\nX-Status: %-4s\n%s", seen, letters, x.text)
}

// bytes is the whole file.
func (m *mailbox) bytes() []byte {
	var b bytes.Buffer
	w := mbox.NewWriter(&b)
	for _, x := range m.msgs {
		w.Write("ann@example.net", time.Unix(x.date, 0), x.stored()) // a Buffer takes everything
	}
	return b.Bytes()
}

// append adds a message at the end, as a delivery does.
func (m *mailbox) append(x *mail) {
	m.t.Helper()
	x.dir = ""
	b := x.stored()
	x.size = int64(len(b) + bytes.Count(b, []byte{'\n'}))
	before := len(m.bytes())
	m.msgs = append(m.msgs, x)
	m.inPlace(int64(before), m.bytes()[before:])
	m.learn(x)
}

// mark writes the flags into the file that is there.
func (m *mailbox) mark() { m.inPlace(0, m.bytes()) }

func (m *mailbox) inPlace(off int64, b []byte) {
	m.t.Helper()
	f, err := os.OpenFile(m.path, os.O_WRONLY, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, off); err != nil {
		m.t.Fatal(err)
	}
}

// rewrite puts another file in its place.
func (m *mailbox) rewrite() {
	m.t.Helper()
	tmp := m.path + ".new"
	if err := os.WriteFile(tmp, m.bytes(), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(tmp, m.path); err != nil {
		m.t.Fatal(err)
	}
}

// learn finds the key of the last message.
func (m *mailbox) learn(x *mail) {
	m.t.Helper()
	src, err := source.Open(m.path, source.Options{Kind: m.kind})
	if err != nil {
		m.t.Fatal(err)
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		m.t.Fatal(err)
	}
	if len(l.Entries) != len(m.msgs) {
		m.t.Fatalf("kit: the mbox has %d messages, the model %d", len(l.Entries), len(m.msgs))
	}
	x.key = strings.Clone(l.Entries[len(l.Entries)-1].Key)
}
