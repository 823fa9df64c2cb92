package envelope

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// The other options keep the same promises.
func TestConformance_options(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("the kit with other options: MAILBENCH_LONG=1")
	}
	indextest.RunOptions(t, Design, indextest.Options{Index: index.Options{
		Extra: map[string]string{"read": "header", "headers": "most", "repack": "10pct"}}})
}

func mail(i int) string {
	return fmt.Sprintf("Message-ID: <%d@example.net>\nReferences: <%d@example.net>\nSubject: Re: topic %d\nFrom: Ann %d <ann%d@example.net>\n"+
		"List-Id: <a.example.net>\nX-Loop: %d\nUser-Agent: none\nDate: Mon, 3 Feb 2020 10:%02d:00 +0100\n\nbody\n", i, i/2, i%5, i, i%7, i, i%60)
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

// answers are a mailbox's in one string.
func answers(t testing.TB, m *mailbox) string {
	t.Helper()
	var out []byte
	for _, alg := range []thread.Alg{thread.References, thread.OrderedSubject} {
		a, err := m.Thread(alg, index.Search{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(a.AppendIMAP(out), '\n')
	}
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

// An index made under other options is one: its cache is made again, its UIDs stay.
func TestFlavour(t *testing.T) {
	b := newBox(t, 50)
	dir := t.TempDir()
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	want, before := answers(t, m), m.Status()
	m.Close()
	m = mustOpen(t, b.Config(dir, index.Options{Extra: map[string]string{"headers": "most"}}))
	mustSync(t, m)
	if got := answers(t, m); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	after := m.Status()
	if after.Generation == before.Generation || after.UIDValidity != before.UIDValidity || after.UIDNext != before.UIDNext {
		t.Fatalf("%+v, before %+v", after, before)
	}
	mails := m.Counts()["mails-opened"]
	agents := 0
	err := m.Fetch(m.table.UIDs(), []string{"user-agent", "SUBJECT", "Nothing"}, func(_ uint32, v [][]byte) error {
		if string(v[0]) == "none" && bytes.HasPrefix(v[1], []byte("Re: ")) && v[2] == nil {
			agents++
		}
		return nil
	})
	if err != nil || agents != 50 || m.Counts()["mails-opened"] != mails {
		t.Fatal(err, agents, m.Counts())
	}
	mustCheck(t, m)
}

// Once filled, THREAD, SORT and FETCH of what is cached open no mail, and dates
// alone no cache.
func TestReadsNoMail(t *testing.T) {
	b := newBox(t, 40)
	dir := t.TempDir()
	m := mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, m)
	if n := m.Counts()["mails-opened"]; n != 40 {
		t.Fatalf("%d mails opened, want 40", n)
	}
	m.Close()
	m = mustOpen(t, b.Config(dir, index.Options{}))
	crit, _ := mailsort.ParseCriteria("reverse date arrival size")
	if _, err := m.Sort(crit, index.Search{}); err != nil {
		t.Fatal(err)
	}
	if c := m.Counts(); c["cache-lookups"] != 0 {
		t.Fatalf("sort by date: %v", c)
	}
	answers(t, m)
	if err := m.Fetch([]uint32{7}, []string{"List-Id", "From"}, func(uint32, [][]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if c := m.Counts(); c["mails-opened"] != 0 || c["cache-lookups"] == 0 {
		t.Fatalf("counts %v", c)
	}
}

// Dead records make a Sync compact; without the option they stay until Compact.
// What vanished is told after it, too.
func TestRepack(t *testing.T) {
	for _, auto := range []string{"30pct", "never"} {
		b := newBox(t, 60)
		dir := t.TempDir()
		m := mustOpen(t, b.Config(dir, index.Options{Extra: map[string]string{"repack": auto}}))
		mustSync(t, m)
		modseq := m.Status().HighestModSeq
		for i := range 30 {
			b.Expunge(2 * i)
		}
		mustSync(t, m)
		if dead := m.h.cacheDead; (dead == 0) != (auto != "never") {
			t.Fatalf("repack=%s: %d dead bytes", auto, dead)
		}
		mustCheck(t, m)
		if err := m.Compact(); err != nil {
			t.Fatal(err)
		}
		if m.h.cacheDead != 0 || m.h.count != 30 || m.h.vanished != 30 {
			t.Fatalf("repack=%s: %+v", auto, m.h)
		}
		mustCheck(t, m)
		m.Close()
		m = mustOpen(t, b.Config(dir, index.Options{}))
		var gone []uint32
		err := m.ChangesSince(modseq, func(index.Message) bool { t.Error("nothing has changed"); return false },
			func(uid uint32) bool { gone = append(gone, uid); return true })
		if err != nil || len(gone) != 30 || !slices.IsSorted(gone) || gone[0] != 1 {
			t.Fatalf("vanished %v, %v", gone, err)
		}
	}
}

// A message that cannot be read when it is first seen is read later.
func TestUnread(t *testing.T) {
	b := newBox(t, 10)
	cfg := b.Config(t.TempDir(), index.Options{})
	cfg.Source = &hiding{Source: cfg.Source, hide: "1600000003.M1P1.host"}
	m := mustOpen(t, cfg)
	mustSync(t, m)
	if n := len(m.unread()); n != 1 {
		t.Fatalf("%d unread", n)
	}
	answers(t, m)
	mustCheck(t, m)
	if err := m.Compact(); err != nil {
		t.Fatal(err)
	}
	cfg.Source.(*hiding).hide = ""
	b.Deliver()
	mustSync(t, m)
	if n := len(m.unread()); n != 0 {
		t.Fatalf("%d unread", n)
	}
	mustCheck(t, m)
	fresh := mustOpen(t, b.Config(t.TempDir(), index.Options{}))
	mustSync(t, fresh)
	if got, want := answers(t, m), answers(t, fresh); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

// hiding is a source one of whose messages has gone for a moment.
type hiding struct {
	index.Source
	hide string
}

func (h *hiding) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	if e.Key == h.hide {
		return buf, os.ErrNotExist
	}
	return h.Source.ReadMessage(e, buf)
}

// Fields too long to be cached are fetched from the mail.
func TestLongField(t *testing.T) {
	b := newBox(t, 1)
	long := strings.Repeat("x", maxValue+1)
	if err := os.WriteFile(b.File(0), []byte("Subject: "+long+"\nList-Post: "+long+"\nFrom: a@example.net\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := mustOpen(t, b.Config(t.TempDir(), index.Options{}))
	mustSync(t, m)
	for field, want := range map[string]string{"subject": long, "list-post": long, "from": "a@example.net"} {
		n := 0
		err := m.Fetch([]uint32{1}, []string{field}, func(_ uint32, v [][]byte) error {
			n++
			if string(v[0]) != want {
				t.Errorf("%s: %d bytes", field, len(v[0]))
			}
			return nil
		})
		if err != nil || n != 1 {
			t.Fatal(err, n)
		}
	}
	if m.h.cacheEnd > 3*maxValue {
		t.Fatalf("cache of %d bytes", m.h.cacheEnd)
	}
}

// The field iterator finds what rfc5322.Get finds.
func TestEachField(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{"A", "B b", ":", " ", "\t", "\n", "\r\n", "\r", "Subject", "subject:", "x", "\n\n", "From x", ": y"}
	for range 5000 {
		var h strings.Builder
		for range r.IntN(14) {
			h.WriteString(pieces[r.IntN(len(pieces))])
		}
		compareFields(t, []byte(h.String()))
	}
}

func compareFields(t *testing.T, h []byte) {
	t.Helper()
	first := map[string][]byte{}
	eachField(h, func(name, raw []byte) {
		k := string(name)
		for seen := range first {
			if equalFold(seen, k) {
				return
			}
		}
		first[k] = index.AppendValue([]byte{}, raw)
	})
	for name, got := range first {
		raw, ok := rfc5322.Get(h, name)
		if want := index.AppendValue(nil, raw); !ok || !bytes.Equal(got, want) {
			t.Fatalf("header %q: field %q is %q, want %q (%v)", h, name, got, want, ok)
		}
	}
	for _, name := range []string{"subject", "a", "b b", "x", "from x"} {
		found := false
		for seen := range first {
			found = found || equalFold(seen, name)
		}
		if _, ok := rfc5322.Get(h, name); ok != found {
			t.Fatalf("header %q: field %q found %v, want %v", h, name, found, ok)
		}
	}
}

// A cache record says what the header says, whatever the header.
func FuzzCacheRecord(f *testing.F) {
	f.Add([]byte("Subject: a\nFrom: b\n c\nList-Id: x\nReferences: <a@b> <c@d>\n\n"))
	f.Add([]byte("Subject:\r\nsubject: 2\r\n\r\nbody"))
	f.Fuzz(func(t *testing.T, h []byte) {
		compareFields(t, h)
		for _, flavour := range []uint32{0, flavourList} {
			mk := newMaker(&mailbox{flavour: flavour})
			b := mk.append(nil, h)
			if !wellFormed(b) {
				t.Fatalf("record of %q", h)
			}
			for _, name := range append([]string{"List-Id", "References", "Content-Type"}, index.EnvelopeFields...) {
				v := make([][]byte, 1)
				complete, ok := pick(b, []place{{envelopeField(name), name}}, v)
				raw, has := rfc5322.Get(h, name)
				if want := index.AppendValue(nil, raw); !ok || complete && ((v[0] != nil) != has || !bytes.Equal(v[0], want)) {
					t.Fatalf("header %q: %s is %q, want %q", h, name, v[0], want)
				}
			}
		}
	})
}

// Bytes that are no cache record are told, without a panic.
func FuzzParseCacheRecord(f *testing.F) {
	mk := newMaker(&mailbox{})
	f.Add(mk.append(nil, []byte("Subject: a\nFrom: b\nList-Id: x\nReferences: <a@b>\n\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := make([][]byte, 2)
		_, ok := pick(b, []place{{1, "Subject"}, {-1, "List-Id"}}, v)
		if wellFormed(b) && !ok {
			t.Fatal("a whole record cannot be read")
		}
		var h header
		h.decode(b)
		decodeJournal(bytes.Clone(b))
		if len(b) >= recordSize {
			var r record
			if r.decode(b) && !bytes.Equal(r.append(nil), b[:recordSize]) {
				t.Fatal("a record is another one when written again")
			}
		}
	})
}

// A second handle that has written meanwhile is noticed, and reading goes on.
func TestStale(t *testing.T) {
	b := newBox(t, 20)
	dir := t.TempDir()
	one, two := mustOpen(t, b.Config(dir, index.Options{})), mustOpen(t, b.Config(dir, index.Options{}))
	mustSync(t, one)
	want := answers(t, one)
	if got := answers(t, two); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	b.Deliver()
	mustSync(t, two)
	if err := two.Compact(); err != nil {
		t.Fatal(err)
	}
	if got, want := answers(t, one), answers(t, two); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.Chtimes(filepath.Join(b.Path, "cur"), time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	mustSync(t, one)
	mustSync(t, two)
	mustCheck(t, two)
}
