package sqlidx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/index/scan"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

func TestConformance(t *testing.T) { indextest.Run(t, Design) }

// The promises that an option could break.
func TestConformance_options(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("the kit with other options: MAILBENCH_LONG=1")
	}
	for name, o := range map[string]index.Options{
		"delete":   {Extra: map[string]string{"journal_mode": "delete", "headers": "use"}},
		"truncate": {Extra: map[string]string{"journal_mode": "truncate", "page_size": "8192"}, Fields: "envelope"},
		"use":      {Extra: map[string]string{"headers": "use", "synchronous": "normal"}},
	} {
		t.Run(name, func(t *testing.T) {
			indextest.RunOptions(t, Design, indextest.Options{Index: o, Parts: []string{"History", "HistoryMbox", "Reopened", "TwoReaders", "Stale", "Killed"}})
		})
	}
}

func TestOptions_wrong(t *testing.T) {
	src := indextest.Mbox(t, "Subject: x\n\n")
	for name, value := range map[string]string{"journal_mode": "memory", "synchronous": "2", "cache_kib": "much", "page_size": "1000", "headers": ""} {
		_, err := Design.Open(index.Config{Dir: t.TempDir(), Source: src, Options: index.Options{Extra: map[string]string{name: value}}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%q: %v", name, value, err)
		}
	}
}

// Real mail, read in either way, one after the other in the same database.
func TestRealMail(t *testing.T) {
	root := os.Getenv("MAILBENCH_SHARED")
	for _, up := range []string{"../../shared", "../../../shared"} {
		if _, err := os.Stat(up); err == nil && root == "" {
			root = up
		}
	}
	src, err := source.Open(filepath.Join(root, "corpora", "real-500.mbox.zst"), source.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Skip("no real mail beside the repository")
	}
	t.Cleanup(func() { src.Close() })
	dir := t.TempDir()
	for _, o := range []index.Options{{}, {Compat: index.CompatDovecot}, {Fields: "envelope"}} {
		box := indextest.Open(t, Design, dir, src, o)
		indextest.SameAs(t, scan.Design, box, src, o.Compat)
		box.Close()
	}
}

// Bad mail is data, and equal values with other keys are kept apart.
func TestOddMail(t *testing.T) {
	refs := strings.Repeat("<r@example.net>\n ", 20000)
	src := indextest.Mbox(t,
		"Subject: same@example.net\nFrom: same@example.net\nMessage-ID: same@example.net\nTo: same@example.net\n\n",
		"Subject:\nFrom:\nMessage-ID:\nDate:\nReferences:\nIn-Reply-To:\n\n",
		"\n",
		"Subject: a\x00b\xff\xfe\nMessage-ID: <n\x00@example.net>\nReferences: <\xff@example.net> <n\x00@example.net>\n\n",
		"Message-ID: <big@example.net>\nReferences: "+refs+"\n\n",
		"Subject: "+strings.Repeat("s", 1<<20)+"\n\n",
		"Subject: Re: first\nSubject: second\nDate: never\nDate: Mon, 2 Jan 2006 15:04:05 +0000\n\n",
		"Subject: FIRST\nDate: Mon, 2 Jan 2006 15:04:05 +9999\nTo: A <b@example.net>\nCc: A <b@example.net>\n\n",
	)
	for _, headers := range []string{"delivery", "use"} {
		box := indextest.Open(t, Design, t.TempDir(), src, index.Options{Extra: map[string]string{"headers": headers}})
		indextest.SameAs(t, scan.Design, box, src, index.CompatRFC)
	}
}

// missing is a source one of whose mails is away for a while.
type missing struct {
	index.Source
	key string
}

func (m *missing) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	if e.Key == m.key {
		return nil, fs.ErrNotExist
	}
	return m.Source.ReadHeader(e, buf)
}

// A mail that was away when it was to be read is read when it is back.
func TestUnread(t *testing.T) {
	var mails []string
	for i := range 9 {
		mails = append(mails, fmt.Sprintf("Subject: s%d\nMessage-ID: <%d@example.net>\nReferences: <%d@example.net>\nFrom: f%d@example.net\n\n", 9-i, i, i/2, i%3))
	}
	src := &missing{Source: indextest.Mbox(t, mails...)}
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	src.key = l.Entries[4].Key
	box := indextest.Open(t, Design, t.TempDir(), src, index.Options{})
	if _, err := indextest.AskAll(box); err != nil {
		t.Fatal(err)
	}
	m := box.(*mailbox)
	if h, err := m.have(); err != nil || len(h.unread) != 1 {
		t.Fatalf("%v, %v unread, want one", err, h.unread)
	}
	src.key = ""
	indextest.SameAs(t, scan.Design, box, src.Source, index.CompatRFC)
	if h, err := m.have(); err != nil || len(h.unread) != 0 {
		t.Fatalf("%v, %v unread", err, h.unread)
	}
}

// Values that no message has any more go with Compact.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	var mails []string
	for i := range 3000 {
		mails = append(mails, fmt.Sprintf("Subject: subject number %d\nMessage-ID: <%d@example.net>\n\n", i, i))
	}
	box := indextest.Open(t, Design, dir, indextest.Mbox(t, mails...), index.Options{})
	box.Close()
	box = indextest.Open(t, Design, dir, indextest.Mbox(t, mails[:300]...), index.Options{})
	m := box.(*mailbox)
	values := func() int64 {
		n, err := m.db.number("SELECT count(*) FROM headervalue")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, old := values(), size(dir)
	generation := box.Status().Generation
	if err := box.Compact(); err != nil {
		t.Fatal(err)
	}
	if n := values(); before != 6000 || n != 600 {
		t.Errorf("%d values, then %d; want 6000, 600", before, n)
	}
	box.Close()
	if now := size(dir); now > old/4 {
		t.Errorf("%d bytes, before %d", now, old)
	}
	if g := indextest.Open(t, Design, dir, indextest.Mbox(t, mails[:300]...), index.Options{}).Status().Generation; g != generation+1 {
		t.Errorf("generation %d after %d", g, generation)
	}
}

// Two handles that both find new mail: the second one sees the first one's UIDs.
func TestTwoWriters(t *testing.T) {
	dir, path := t.TempDir(), t.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(path, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	deliver := func(i int) {
		if err := os.WriteFile(filepath.Join(path, "new", fmt.Sprintf("%d.M1P1.host", 1600000000+i)), fmt.Appendf(nil, "Subject: %d\n\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var boxes [2]index.Mailbox
	for i := range boxes {
		src, err := source.Open(path, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		boxes[i] = indextest.Open(t, Design, dir, src, index.Options{})
	}
	for i := range 6 {
		deliver(i)
		for k := range boxes {
			c, err := boxes[(i+k)%2].Sync()
			if err != nil || c.Rebuilt || c.Added != 1-k {
				t.Fatalf("mail %d, handle %d: %+v, %v", i, k, c, err)
			}
		}
	}
	n := 0
	boxes[0].Messages(func(m index.Message) bool { n++; return m.UID == uint32(n) })
	if n != 6 {
		t.Fatalf("message %d is out of order", n)
	}
}

// Damage of any kind is an error or a wrong answer, never a panic.
func FuzzDamage(f *testing.F) {
	var mails []string
	for i := range 40 {
		mails = append(mails, fmt.Sprintf("Subject: Re: s%d\nMessage-ID: <%d@example.net>\nReferences: <%d@example.net>\nFrom: f%d@example.net\nDate: Mon, 2 Jan 2006 15:04:%02d +0000\n\n", i%7, i, i/2, i%3, i))
	}
	src := indextest.Mbox(f, mails...)
	dir := f.TempDir()
	o := index.Options{Extra: map[string]string{"synchronous": "off"}}
	box := indextest.Open(f, Design, dir, src, o)
	if _, err := indextest.AskAll(box); err != nil {
		f.Fatal(err)
	}
	box.Close()
	good, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(16), []byte{0, 0}, uint32(len(good)))
	f.Add(uint32(4096+3), []byte{0xff, 0xff}, uint32(len(good)))
	f.Add(uint32(8192+8), []byte{0, 0, 0, 1}, uint32(len(good)-4096))
	f.Add(uint32(0), []byte("SQLite format 3\x00\x02\x00"), uint32(600))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, length uint32) {
		b := bytes.Clone(good[:min(len(good), int(length))])
		if len(b) > 0 {
			copy(b[int(at)%len(b):], patch)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), b, 0o600); err != nil {
			t.Fatal(err)
		}
		// The second time around everything is right again.
		for range 2 {
			box, err := Design.Open(index.Config{Dir: dir, Source: src, Options: o})
			if err != nil {
				continue
			}
			box.Sync()
			box.Thread(thread.References, index.Search{})
			box.Sort([]mailsort.Criterion{{Key: mailsort.Subject}}, index.Search{})
			box.Messages(func(index.Message) bool { return true })
			box.(index.Fetcher).Fetch([]uint32{1, 40}, index.EnvelopeFields, func(uint32, [][]byte) error { return nil })
			box.(index.Changer).ChangesSince(0, func(index.Message) bool { return true }, func(uint32) bool { return true })
			for err := range box.Check() {
				if !errors.Is(err, index.ErrCorrupt) {
					t.Log(err)
				}
			}
			box.Stats()
			box.Close()
		}
	})
}

func size(dir string) (n int64) {
	es, _ := os.ReadDir(dir)
	for _, e := range es {
		if in, err := e.Info(); err == nil {
			n += in.Size()
		}
	}
	return n
}
