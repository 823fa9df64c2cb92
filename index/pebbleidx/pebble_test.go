package pebbleidx

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// The other options keep the same promises.
func TestConformance_options(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("the kit with other options: MAILBENCH_LONG=1")
	}
	indextest.RunOptions(t, Design, indextest.Options{Index: index.Options{Fields: "envelope",
		Extra: map[string]string{"flush": "never", "compression": "none", "memtable": "4MiB"}}})
}

func mail(i int) string {
	return fmt.Sprintf("Message-ID: <%d@example.net>\nReferences: <%d@example.net>\nSubject: Re: topic %d\nFrom: Ann %d <ann%d@example.net>\nDate: Mon, 3 Feb 2020 10:%02d:00 +0100\n\nbody\n",
		i, i/2, i%5, i, i%7, i%60)
}

func newBox(t testing.TB, n int) *indextest.Maildir {
	t.Helper()
	return indextest.NewMaildir(t, n, mail)
}

func mustOpen(t testing.TB, cfg index.Config) *mailbox {
	t.Helper()
	mb, err := Design.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return mb.(*mailbox)
}

func mustSync(t testing.TB, m *mailbox) index.Changes {
	t.Helper()
	c, err := m.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustClose(t testing.TB, m *mailbox) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// answers are a mailbox's in one string.
func answers(t testing.TB, m *mailbox) string {
	t.Helper()
	var out []byte
	a, err := m.Thread(thread.References, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	out = append(a.AppendIMAP(out), '\n')
	for _, keys := range []string{"date", "arrival", "size", "subject", "displayfrom"} {
		crit, _ := mailsort.ParseCriteria(keys)
		uids, err := m.Sort(crit, index.Search{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(mailsort.AppendIMAP(out, uids), '\n')
	}
	return string(out)
}

func mustCheck(t testing.TB, m *mailbox) {
	t.Helper()
	for err := range m.Check() {
		t.Fatal(err)
	}
}

// Mail is read once: by the first use, and of new messages only.
func TestFilledByUse(t *testing.T) {
	for _, fields := range []string{"thread", "envelope"} {
		b := newBox(t, 30)
		dir := t.TempDir()
		m := mustOpen(t, b.Config(dir, index.Options{Fields: fields}))
		mustSync(t, m)
		want := func(n int64, when string) {
			t.Helper()
			if got := m.Counts()["mails-opened"]; got != n {
				t.Fatalf("fields=%s, %s: %d mails opened, want %d", fields, when, got, n)
			}
		}
		want(0, "sync")
		first := answers(t, m)
		want(90, "first use") // fields, arrival, size
		if got := answers(t, m); got != first {
			t.Fatalf("got\n%s\nwant\n%s", got, first)
		}
		want(90, "second use")
		b.Deliver()
		mustSync(t, m)
		answers(t, m)
		want(93, "a new message")
		mustClose(t, m)
		m = mustOpen(t, b.Config(dir, index.Options{Fields: fields}))
		answers(t, m)
		want(0, "opened again")
		n := 0
		err := m.Fetch([]uint32{31, 2, 2, 99}, []string{"from", "Cc"}, func(uid uint32, v [][]byte) error {
			if n++; string(v[0]) != fmt.Sprintf("Ann %d <ann%d@example.net>", uid-1, (uid-1)%7) || v[1] != nil {
				t.Errorf("uid %d: %q", uid, v)
			}
			return nil
		})
		if err != nil || n != 3 {
			t.Fatal(n, err)
		}
		if fields == "envelope" {
			want(0, "envelopes")
		}
		mustCheck(t, m)
		mustClose(t, m)
	}
}

// Envelopes are filled in when they were not asked for before.
func TestEnvelopesLater(t *testing.T) {
	b := newBox(t, 600)
	dir := t.TempDir()
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	answers(t, m)
	mustClose(t, m)
	m = mustOpen(t, b.Config(dir, index.Options{Fields: "envelope"}))
	defer mustClose(t, m)
	if err := m.load(); err != nil {
		t.Fatal(err)
	}
	for _, opened := range []int64{600, 600} {
		n := 0
		err := m.Fetch(m.table.UIDs(), index.EnvelopeFields, func(uint32, [][]byte) error { n++; return nil })
		if err != nil || n != 600 || m.Counts()["mails-opened"] != opened {
			t.Fatal(n, err, m.Counts())
		}
	}
	mustCheck(t, m)
}

// An index made under another Compat is read under this one.
func TestCompat(t *testing.T) {
	b := newBox(t, 10)
	dir := t.TempDir()
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	answers(t, m)
	mustClose(t, m)
	m = mustOpen(t, b.Config(dir, index.Options{Compat: index.CompatDovecot}))
	defer mustClose(t, m)
	answers(t, m)
	if got := m.Counts()["mails-opened"]; got != 10 || m.st.compat != mailsort.Dovecot {
		t.Fatalf("%d mails opened, compat %v", got, m.st.compat)
	}
	mustCheck(t, m)
}

// Mailboxes of one process share an engine, and the last one closes it.
func TestShared(t *testing.T) {
	b := newBox(t, 10)
	dir := t.TempDir()
	one := mustOpen(t, b.Config(dir, index.Options{}))
	two := mustOpen(t, b.Config(dir, index.Options{}))
	if one.engine != two.engine {
		t.Fatal("two engines of one directory")
	}
	mustSync(t, one)
	want := answers(t, one)
	mustClose(t, one)
	if got := answers(t, two); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	mustClose(t, two)
	engines.Lock()
	defer engines.Unlock()
	for d := range engines.of {
		if strings.HasSuffix(d, dir) {
			t.Fatal("an engine is left")
		}
	}
}

// Another process may read beside this one and write when it has gone. The
// other process is this test, run again.
func TestOtherProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no flock: fsys.TryLockDir lets everybody in")
	}
	if dir := os.Getenv("PEBBLEIDX_TEST_DIR"); dir != "" {
		src, err := source.Open(os.Getenv("PEBBLEIDX_TEST_MAIL"), source.Options{})
		if err != nil {
			t.Fatal("open mail: ", err)
		}
		defer src.Close()
		m, err := Design.Open(index.Config{Dir: dir, Source: src})
		if err != nil {
			t.Fatal("open: ", err)
		}
		defer m.Close()
		if _, err := m.Sync(); err != nil {
			t.Fatal("sync: ", err)
		}
		if n := m.Status().Messages; n != 11 {
			t.Fatalf("%d messages", n)
		}
		return
	}
	b := newBox(t, 10)
	dir := t.TempDir()
	other := func() (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOtherProcess$")
		cmd.Env = append(os.Environ(), "PEBBLEIDX_TEST_DIR="+dir, "PEBBLEIDX_TEST_MAIL="+b.Path)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	b.Deliver()
	if out, err := other(); err == nil || !strings.Contains(out, "open: ") || !strings.Contains(out, fsys.ErrLocked.Error()) {
		t.Fatalf("beside a writer: %v\n%s", err, out)
	}
	mustClose(t, m)
	m = mustOpen(t, b.Config(dir, index.Options{})) // reads only
	if out, err := other(); err == nil || !strings.Contains(out, "sync: ") || !strings.Contains(out, fsys.ErrLocked.Error()) {
		t.Fatalf("a writer beside a reader: %v\n%s", err, out)
	}
	mustClose(t, m)
	if out, err := other(); err != nil {
		t.Fatalf("alone: %v\n%s", err, out)
	}
}

// A disk that fails under pebble is an error of the call, not the end of the
// process, and the next opening finds what was there.
func TestDiskFails(t *testing.T) {
	b := newBox(t, 10)
	dir := t.TempDir()
	boom := errors.New("boom")
	fail := false
	cfg := b.Config(dir, index.Options{})
	cfg.FS = fsys.Failing(fsys.OS, func(op fsys.Op, _ string, _ int64, _ int) error {
		if fail && op.Changes() {
			return boom
		}
		return nil
	})
	m := mustOpen(t, cfg)
	mustSync(t, m)
	before := m.Status()
	b.Deliver()
	fail = true
	if _, err := m.Sync(); !errors.Is(err, boom) {
		t.Fatalf("error %v", err)
	}
	fail = false
	if c := mustSync(t, m); c.Rebuilt || c.Added != 1 || m.Status().UIDValidity != before.UIDValidity {
		t.Fatalf("%+v %+v", c, m.Status())
	}
	answers(t, m)
	mustCheck(t, m)
	mustClose(t, m)
}

// Damaged values are noticed, whatever they are.
func TestForeignValue(t *testing.T) {
	b := newBox(t, 10)
	dir := t.TempDir()
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	want := answers(t, m)
	v := m.Status().UIDValidity
	// The fields of another index's message 3.
	f := index.AppendFields(nil, &index.Fields{Subject: []byte("another"), DateOK: true})
	m.st.identity++
	err := m.update(false, func(batch *pebble.Batch, st *state) error {
		st.identity--
		return batch.Set(appendKey(nil, keyFields, 3), seal(m.st.identity, keyFields, 3, f), nil)
	})
	if !errors.Is(err, index.ErrStale) { // the state on disk is another one
		t.Fatal(err)
	}
	m.st.identity--
	err = m.update(false, func(batch *pebble.Batch, _ *state) error {
		return batch.Set(appendKey(nil, keyFields, 3), seal(m.st.identity+1, keyFields, 3, f), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Thread(thread.References, index.Search{}); !errors.Is(err, index.ErrCorrupt) {
		t.Fatalf("error %v", err)
	}
	if c := mustSync(t, m); !c.Rebuilt || m.Status().UIDValidity <= v {
		t.Fatalf("%+v %+v", c, m.Status())
	}
	if got := answers(t, m); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	mustClose(t, m)
}

// The envelope says what rfc5322.Get says; other bytes are told.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte("Subject: a\nFrom: b\n c\n\n"))
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var env [10][]byte
		parseEnvelope(b, &env)
		if !parseEnvelope(appendEnvelope(nil, b), &env) {
			t.Fatal("what was written cannot be read")
		}
		for i, name := range index.EnvelopeFields {
			raw, ok := rfc5322.Get(b, name)
			if (env[i] != nil) != ok || !bytes.Equal(env[i], index.AppendValue(nil, raw)) {
				t.Fatalf("%s is %q, want %q", name, env[i], raw)
			}
		}
		var st state
		if st.decode(b) && !bytes.Equal(st.encode(), b) {
			t.Fatal("a state is another one when written again")
		}
		addRow(index.NewTable(1, 10, 1, 1), []byte{keyMessage, 0, 0, 0, 1}, b)
	})
}
