package indextest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// This file is for the tests that designs have of their own: small mailboxes,
// and everything that can be asked of an index as one text.

// A Maildir is a scratch maildir whose messages have numbers from 0.
type Maildir struct {
	Path string
	N    int // messages delivered so far
	t    testing.TB
	text func(i int) string
}

// NewMaildir makes one of n messages, with the text that text gives each.
func NewMaildir(t testing.TB, n int, text func(i int) string) *Maildir {
	t.Helper()
	m := &Maildir{Path: filepath.Join(t.TempDir(), "maildir"), t: t, text: text}
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(m.Path, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		m.Deliver()
	}
	return m
}

// File is the path of message i.
func (m *Maildir) File(i int) string {
	return filepath.Join(m.Path, "cur", fmt.Sprintf("%d.M1P1.host:2,", 1_600_000_000+i))
}

// Deliver adds the next message.
func (m *Maildir) Deliver() {
	m.t.Helper()
	if err := os.WriteFile(m.File(m.N), []byte(m.text(m.N)), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.N++
}

// Expunge removes message i.
func (m *Maildir) Expunge(i int) {
	m.t.Helper()
	if err := os.Remove(m.File(i)); err != nil {
		m.t.Fatal(err)
	}
}

// Config is one for an index of it in dir, with a source that the test closes.
func (m *Maildir) Config(dir string, o index.Options) index.Config {
	m.t.Helper()
	return index.Config{Dir: dir, Source: sourceOf(m.t, m.Path), Options: o}
}

func sourceOf(t testing.TB, path string) index.Source {
	t.Helper()
	src, err := source.Open(path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// Mbox is a source of mails in one file.
func Mbox(t testing.TB, mails ...string) index.Source {
	t.Helper()
	var b bytes.Buffer
	for i, m := range mails {
		fmt.Fprintf(&b, "From a@example.net Mon Jan  2 15:04:%02d 2006\n%s\n", i%60, m)
	}
	path := filepath.Join(t.TempDir(), "mbox")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return sourceOf(t, path)
}

// Open opens an index, which the test closes, and syncs it.
func Open(t testing.TB, d index.Design, dir string, src index.Source, o index.Options) index.Mailbox {
	t.Helper()
	box, err := d.Open(index.Config{Dir: dir, Source: src, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	if _, err := box.Sync(); err != nil {
		t.Fatal(err)
	}
	return box
}

// AskAll asks everything and returns the answers, one a line, and the first error.
func AskAll(box index.Mailbox) (string, error) {
	var out []byte
	var first error
	note := func(err error) bool {
		if first == nil {
			first = err
		}
		return err == nil
	}
	for _, alg := range []thread.Alg{thread.References, thread.Refs, thread.OrderedSubject} {
		if a, err := box.Thread(alg, index.Search{}); note(err) {
			out = append(a.AppendIMAP(out), '\n')
		}
	}
	for _, keys := range []string{"arrival", "date", "subject", "from", "to", "cc", "size", "reverse date", "displayfrom subject", "reverse displayto"} {
		crit, err := mailsort.ParseCriteria(keys)
		if err != nil {
			panic(err)
		}
		if uids, err := box.Sort(crit, index.Search{}); note(err) {
			out = append(mailsort.AppendIMAP(out, uids), '\n')
		}
	}
	if f, ok := box.(index.Fetcher); ok {
		note(f.Fetch([]uint32{1, 2, 3, 5, 8, 1 << 30}, append([]string{"References"}, index.EnvelopeFields...), func(uid uint32, values [][]byte) error {
			out = fmt.Appendf(out, "%d %q\n", uid, values)
			return nil
		}))
	}
	return string(out), first
}

// SameAs holds an index's answers against those of a design that keeps none,
// opened with the same reading of the RFC, and lets it check itself.
func SameAs(t testing.TB, plain index.Design, box index.Mailbox, src index.Source, compat index.Compat) {
	t.Helper()
	got, err := AskAll(box)
	if err != nil {
		t.Fatal(err)
	}
	want, err := AskAll(Open(t, plain, t.TempDir(), src, index.Options{Compat: compat}))
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("%d lines of answers, want %d", len(g), len(w))
	}
	for i := range w {
		if g[i] != w[i] {
			t.Errorf("line %d\ngot  %.300q\nwant %.300q", i, g[i], w[i])
		}
	}
	for err := range box.Check() {
		t.Error(err)
	}
}
