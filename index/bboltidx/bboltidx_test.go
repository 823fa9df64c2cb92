package bboltidx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	boltErrors "go.etcd.io/bbolt/errors"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/index/scan"
	"mailbench/thread"
)

func TestConformance(t *testing.T) { indextest.Run(t, Design) }

// The promises that an option could break.
func TestConformance_options(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("the kit with other options: MAILBENCH_LONG=1")
	}
	for name, o := range map[string]index.Options{
		"delivery": {Extra: map[string]string{"headers": "delivery", "freelist": "array"}},
		"envelope": {Fields: "envelope", Extra: map[string]string{"page_size": "16384", "fill_pct": "50"}},
		"freelist": {Extra: map[string]string{"freelist_sync": "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			indextest.RunOptions(t, Design, indextest.Options{Index: o, Parts: []string{"History", "HistoryMbox", "Reopened", "TwoReaders", "Stale", "Flipped", "Killed"}})
		})
	}
}

func TestOptions_wrong(t *testing.T) {
	src := indextest.Mbox(t, "Subject: x\n\n")
	for name, value := range map[string]string{"sync": "often", "freelist": "tree", "fill_pct": "0", "page_size": "5000", "headers": "", "freelist_sync": "1"} {
		_, err := Design.Open(index.Config{Dir: t.TempDir(), Source: src, Options: index.Options{Extra: map[string]string{name: value}}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%q: %v", name, value, err)
		}
	}
}

// numbered are n mails.
func numbered(n int) (mails []string) {
	for i := range n {
		mails = append(mails, fmt.Sprintf("Subject: Re: s%d\nMessage-ID: <%d@example.net>\nReferences: <%d@example.net>\nFrom: f%d@example.net\nDate: Mon, 2 Jan 2006 15:%02d:00 +0000\n\n", i%7, i, i/2, i%3, i%60))
	}
	return mails
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
		indextest.SameAs(t, scan.Design, indextest.Open(t, Design, dir, src, o), src, o.Compat)
	}
}

// Bad mail is data.
func TestOddMail(t *testing.T) {
	src := indextest.Mbox(t,
		"Subject:\nFrom:\nMessage-ID:\nDate:\nReferences:\nIn-Reply-To:\n\n",
		"\n",
		"Subject: a\x00b\xff\xfe\nMessage-ID: <n\x00@example.net>\nReferences: <\xff@example.net> <n\x00@example.net>\n\n",
		"Message-ID: <big@example.net>\nReferences: "+strings.Repeat("<r@example.net>\n ", 20000)+"\n\n",
		"Subject: "+strings.Repeat("s", 1<<20)+"\n\n",
		"Subject: Re: first\nSubject: second\nDate: never\nDate: Mon, 2 Jan 2006 15:04:05 +0000\n\n",
		"Subject: FIRST\nDate: Mon, 2 Jan 2006 15:04:05 +9999\nTo: A <b@example.net>\nCc: A <b@example.net>\n\n",
	)
	for _, o := range []index.Options{{}, {Fields: "envelope", Extra: map[string]string{"headers": "delivery"}}} {
		indextest.SameAs(t, scan.Design, indextest.Open(t, Design, t.TempDir(), src, o), src, index.CompatRFC)
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
	src := &missing{Source: indextest.Mbox(t, numbered(9)...)}
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	src.key = l.Entries[4].Key
	box := indextest.Open(t, Design, t.TempDir(), src, index.Options{})
	m := box.(*mailbox)
	for range 2 {
		if _, err := indextest.AskAll(box); err != nil || m.box.unread != 1 {
			t.Fatalf("%v, %d unread, want one", err, m.box.unread)
		}
	}
	src.key = ""
	indextest.SameAs(t, scan.Design, box, src.Source, index.CompatRFC)
	if m.box.unread != 0 {
		t.Fatalf("%d unread", m.box.unread)
	}
}

// Free pages go with Compact, and a reader meets the new file.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	mails := numbered(20000)
	box := indextest.Open(t, Design, dir, indextest.Mbox(t, mails...), index.Options{})
	if _, err := box.Thread(thread.References, index.Search{}); err != nil {
		t.Fatal(err)
	}
	src := indextest.Mbox(t, mails[:300]...)
	box = indextest.Open(t, Design, dir, src, index.Options{})
	reader := indextest.Open(t, Design, dir, src, index.Options{})
	old, generation := size(dir), box.Status().Generation
	if err := box.Compact(); err != nil {
		t.Fatal(err)
	}
	if now := size(dir); now > old/5 {
		t.Errorf("%d bytes, before %d", now, old)
	}
	indextest.SameAs(t, scan.Design, reader, src, index.CompatRFC)
	if g := reader.Status().Generation; g != generation+1 {
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
		if err := os.WriteFile(filepath.Join(path, "new", fmt.Sprintf("%d.M1P1.host", 1600000000+i)), fmt.Appendf(nil, "Subject: %d\n\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
		for k := range boxes {
			c, err := boxes[(i+k)%2].Sync()
			if err != nil || c.Rebuilt || c.Added != 1-k {
				t.Fatalf("mail %d, handle %d: %+v, %v", i, k, c, err)
			}
		}
	}
}

// damaged is a database with branch pages, and free ones, as bytes.
func damaged(t testing.TB, n int, o index.Options) (index.Source, []byte) {
	mails := numbered(n)
	dir := t.TempDir()
	indextest.Open(t, Design, dir, indextest.Mbox(t, mails...), o)
	src := indextest.Mbox(t, mails[:n-n/6]...)
	if _, err := indextest.AskAll(indextest.Open(t, Design, dir, src, o)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	return src, b
}

// survive asks a damaged database everything: no panic, and the second time
// around there are answers.
func survive(t *testing.T, src index.Source, b []byte, o index.Options) (first error) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), b, 0o600); err != nil {
		t.Fatal(err)
	}
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	for range 2 {
		box, err := Design.Open(index.Config{Dir: dir, Source: src, Options: o})
		if err != nil {
			note(err)
			continue
		}
		_, err = box.Sync()
		note(err)
		_, err = indextest.AskAll(box)
		note(err)
		note(box.Messages(func(index.Message) bool { return true }))
		note(box.(index.Changer).ChangesSince(0, func(index.Message) bool { return true }, func(uint32) bool { return true }))
		for err := range box.Check() {
			note(err)
			if !errors.Is(err, index.ErrCorrupt) {
				t.Log(err)
			}
		}
		box.Stats()
		note(box.Compact())
		box.Close()
	}
	return first
}

// Branch pages and the list of free pages, damaged on purpose: what the engine
// would die of is noticed before it gets there.
func TestDamagedPages(t *testing.T) {
	for _, sync := range []string{"yes", "no"} {
		t.Run("freelist_sync="+sync, func(t *testing.T) {
			if testing.Short() && sync == "yes" {
				t.Skip("one of the two")
			}
			o := index.Options{Extra: map[string]string{"freelist_sync": sync, "sync": "no"}}
			src, good := damaged(t, 3000, o)
			if err := survive(t, src, good, o); err != nil {
				t.Fatal(err)
			}
			branches, lists := 0, 0
			for at := 2 * pageSize; at < len(good); at += pageSize {
				id := uint64(at / pageSize)
				p := good[at:]
				if le.Uint64(p) != id {
					continue
				}
				try := func(what string, change func(p []byte)) {
					b := bytes.Clone(good)
					change(b[at:])
					survive(t, src, b, o)
				}
				switch le.Uint16(p[8:]) {
				case flagBranch:
					if branches++; branches > 3 {
						continue
					}
					try("to itself", func(p []byte) { le.PutUint64(p[pageHead+8:], id) })
					try("far away", func(p []byte) { le.PutUint64(p[pageHead+8:], 1<<40) })
					try("to nothing", func(p []byte) { le.PutUint64(p[pageHead+8:], 0) })
					try("last one to itself", func(p []byte) {
						le.PutUint64(p[pageHead+branchElem*(int(le.Uint16(p[10:]))-1)+8:], id)
					})
					try("key outside", func(p []byte) { le.PutUint32(p[pageHead:], 1<<31) })
					try("more elements", func(p []byte) { le.PutUint16(p[10:], 0xfff0) })
					try("no elements", func(p []byte) { le.PutUint16(p[10:], 0) })
					try("leaf", func(p []byte) { le.PutUint16(p[8:], flagLeaf) })
					try("overflow", func(p []byte) { le.PutUint32(p[12:], 1<<30) })
				case flagFreelist:
					if lists++; lists > 2 {
						continue
					}
					try("free page far away", func(p []byte) { le.PutUint64(p[pageHead:], 1<<40) })
					try("free meta page", func(p []byte) { le.PutUint64(p[pageHead:], 0) })
					try("more free pages", func(p []byte) { le.PutUint16(p[10:], 0xfff0) })
					try("a long list", func(p []byte) { le.PutUint16(p[10:], 0xffff); le.PutUint64(p[pageHead:], 1<<62) })
				}
			}
			if branches == 0 {
				t.Fatal("the database has no branch page")
			}
		})
	}
}

// A cycle among branch pages is found, and a sound file is not complained about.
func TestVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("a"))
			for i := range 1000 {
				if err == nil {
					err = b.Put(fmt.Appendf(nil, "%08d", (round*7919+i*31)%90000), bytes.Repeat([]byte("v"), (round*i)%900))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, full := range []bool{false, true} {
			if err := verify(bytes.NewReader(b), int64(len(b)), nil, true, full); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Damage of any kind is an error or a wrong answer, never a panic.
func FuzzDamage(f *testing.F) {
	o := index.Options{Extra: map[string]string{"sync": "no"}}
	src, good := damaged(f, 300, o)
	f.Add(uint32(pageSize*3), []byte{0xff}, uint32(len(good)))
	f.Add(uint32(pageSize*9+12), []byte{0xff, 0xff}, uint32(len(good)))
	f.Add(uint32(0), []byte{}, uint32(len(good)/2))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, length uint32) {
		b := bytes.Clone(good[:min(len(good), int(length))])
		if len(b) > 0 {
			copy(b[int(at)%len(b):], patch)
		}
		survive(t, src, b, o)
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

// A key that the engine refuses to copy is damage, not a failure of its own.
func TestFail_keyTooLarge(t *testing.T) {
	m := &mailbox{path: "x"}
	if err := m.fail(fmt.Errorf("copy: %w", boltErrors.ErrKeyTooLarge)); !isCorrupt(err) {
		t.Error(err)
	}
}
