package linked

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// maildir is a scratch maildir.
type maildir struct {
	t    testing.TB
	path string
	n    int
}

func newMaildir(t testing.TB, n int) *maildir {
	t.Helper()
	m := &maildir{t: t, path: filepath.Join(t.TempDir(), "mail")}
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(m.path, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		m.deliver()
	}
	return m
}

func (m *maildir) name(i int) string {
	return filepath.Join(m.path, "cur", fmt.Sprintf("%d.M%06dP1.host:2,S", 1_600_000_000+i, i))
}

func (m *maildir) deliver() {
	m.t.Helper()
	i := m.n
	m.n++
	text := fmt.Sprintf("From: Ann %d <a%d@example.net>\nTo: list@example.org\nSubject: Re: topic %d\nDate: Mon, 14 Sep 2020 %02d:%02d:00 +0000\nMessage-ID: <%d@example.net>\nReferences: <%d@example.net>\n <%d@example.net>\nX-Odd: %d\n\nbody\n",
		i%5, i%5, i/3, i/60%24, i%60, i, i/3*3, max(0, i-1), i)
	if err := os.WriteFile(m.name(i), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *maildir) remove(is ...int) {
	m.t.Helper()
	for _, i := range is {
		if err := os.Remove(m.name(i)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// box is an opened mailbox whose clock can be set.
type box struct {
	*mailbox
	src index.Source
}

func (m *maildir) open(dir string, now time.Time, extra map[string]string) *box {
	m.t.Helper()
	src, err := source.Open(m.path, source.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	mb, err := Design.Open(index.Config{Dir: dir, Source: src, Now: func() time.Time { return now }, Options: index.Options{Extra: extra}})
	if err != nil {
		m.t.Fatal(err)
	}
	b := &box{mb.(*mailbox), src}
	if _, err := b.Sync(); err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (b *box) done(t testing.TB) {
	t.Helper()
	for err := range b.Check() {
		t.Error(err)
	}
	b.Close()
	b.src.Close()
}

func (b *box) threads(t testing.TB) string {
	t.Helper()
	a, err := b.Thread(thread.References, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	return string(a.AppendIMAP(nil))
}

func (b *box) sorted(t testing.TB, by string) []uint32 {
	t.Helper()
	crit, err := mailsort.ParseCriteria(by)
	if err != nil {
		t.Fatal(err)
	}
	uids, err := b.Sort(crit, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	return uids
}

// decisions are the registry's, without the fields that nobody wants.
func (b *box) decisions(t testing.TB) map[string]string {
	t.Helper()
	if err := b.openCache(); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range b.cache.fields {
		if f.cached() {
			out[f.name] = f.decision.String()
		}
	}
	return out
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Each trigger of a purge, and just below it none.
func TestPurgeTriggers(t *testing.T) {
	base := map[string]string{"purge-min-size": "0", "cache-fields": ""}
	with := func(kv ...string) map[string]string {
		o := maps.Clone(base)
		for i := 0; i < len(kv); i += 2 {
			o[kv[i]] = kv[i+1]
		}
		return o
	}
	for _, c := range []struct {
		what  string
		extra map[string]string
		first func(m *maildir, b *box)
		later time.Duration
		want  int64
	}{
		{"nothing", with(), func(m *maildir, b *box) { b.sorted(t, "subject") }, 0, 0},
		{"19 of 100 deleted", with("purge-deleted-pct", "20"), func(m *maildir, b *box) { b.sorted(t, "subject"); m.remove(span(10, 29)...) }, 0, 0},
		{"20 of 100 deleted", with("purge-deleted-pct", "20"), func(m *maildir, b *box) { b.sorted(t, "subject"); m.remove(span(10, 30)...) }, 0, 1},
		{"the file is small", with("purge-deleted-pct", "20", "purge-min-size", "1000000"), func(m *maildir, b *box) { b.sorted(t, "subject"); m.remove(span(10, 30)...) }, 0, 0},
		{"99 continued", with("purge-continued-pct", "101"), func(m *maildir, b *box) { b.sorted(t, "subject"); b.sorted(t, "from") }, 0, 0},
		{"100 continued", with("purge-continued-pct", "100"), func(m *maildir, b *box) { b.sorted(t, "subject"); b.sorted(t, "from") }, 0, 1},
		{"registry blocks", with("purge-header-continue", "1"), func(m *maildir, b *box) { b.sorted(t, "subject"); b.sorted(t, "from"); b.sorted(t, "to") }, 0, 1},
		{"a field unused for a month", with(), func(m *maildir, b *box) { b.sorted(t, "subject") }, 31 * 24 * time.Hour, 1},
		{"not quite", with(), func(m *maildir, b *box) { b.sorted(t, "subject") }, 29 * 24 * time.Hour, 0},
		{"as configured", with("cache-fields", "flags"), func(m *maildir, b *box) { b.sorted(t, "subject") }, 0, 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			m := newMaildir(t, 101) // 100 of them with a record: see below
			dir := t.TempDir()
			b := m.open(dir, start, c.extra)
			m.remove(100)
			if _, err := b.Sync(); err != nil {
				t.Fatal(err)
			}
			c.first(m, b)
			b.done(t)
			b = m.open(dir, start.Add(c.later), c.extra)
			if err := b.Fetch([]uint32{1}, []string{"X-Odd"}, func(uint32, [][]byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if b.counts.purges != c.want {
				t.Errorf("%d purges, want %d", b.counts.purges, c.want)
			}
			b.done(t)
		})
	}
}

func span(from, to int) (out []int) {
	for ; from < to; from++ {
		out = append(out, from)
	}
	return out
}

// What a purge does to fields that nobody used, and to those wanted of new mail
// only: they stay cached for the last week.
func TestPurgeDrops(t *testing.T) {
	m := newMaildir(t, 60)
	dir := t.TempDir()
	extra := map[string]string{"purge-min-size": "0", "cache-fields": "", "never-cache-fields": "hdr.to"}
	var all []uint32
	fetch := func(b *box, fields ...string) {
		t.Helper()
		all = all[:0]
		b.Messages(func(msg index.Message) bool { all = append(all, msg.UID); return true })
		if err := b.Fetch(all, fields, func(uint32, [][]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	b := m.open(dir, start, extra)
	fetch(b, "X-Odd", "From", "To")
	b.sorted(t, "subject")
	want := map[string]string{"hdr.x-odd": "temp", "hdr.from": "temp", "hdr.subject": "yes"}
	if got := b.decisions(t); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	b.done(t)
	// Mail on each of the next days moves the week on.
	now := start
	for range 8 {
		now = now.Add(24 * time.Hour)
		m.deliver()
		b = m.open(dir, now, extra)
		fetch(b, "X-Odd")
		b.done(t)
	}
	b = m.open(dir, now, extra)
	if first := b.disk.hdr.dayFirst[7]; first != 61 {
		t.Errorf("the week begins with uid %d, want 61", first)
	}
	b.done(t)
	now = start.Add(70 * 24 * time.Hour) // nobody has asked for From in two months
	b = m.open(dir, now, extra)
	b.sorted(t, "cc")
	if err := b.Compact(); err != nil {
		t.Fatal(err)
	}
	b.done(t)
	b = m.open(dir, now, extra)
	b.loadRows()
	if got := b.decisions(t); got["hdr.from"] != "" || got["hdr.cc"] != "yes" {
		t.Errorf("after two months: %v", got)
	}
	b.done(t)
}

// Temporary fields of old mail go, those of new mail stay.
func TestPurgeTemporary(t *testing.T) {
	m := newMaildir(t, 20)
	dir := t.TempDir()
	b := m.open(dir, start, nil)
	now := start
	for range 8 {
		now = now.Add(24 * time.Hour)
		m.deliver()
		b.cfg.Now = func() time.Time { return now }
		if _, err := b.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	b.loadRows()
	if err := b.Fetch(b.disk.uid[20:], []string{"X-Odd"}, func(uint32, [][]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := b.decisions(t)["hdr.x-odd"]; got != "temp" {
		t.Fatalf("decision %q", got)
	}
	rows := func() (n int64) {
		for _, s := range b.fieldStats() {
			if strings.HasPrefix(s.Part, "hdr.x-odd") {
				n = s.Rows
			}
		}
		return n
	}
	if n := rows(); n != 8 {
		t.Errorf("cached of %d messages, want 8", n)
	}
	b.disk.hdr.dayFirst[7] = 25 // as if the week began there
	if err := b.Compact(); err != nil {
		t.Fatal(err)
	}
	if n := rows(); n != 4 {
		t.Errorf("after a purge of %d messages, want 4", n)
	}
	b.done(t)
}

// fields=envelope: whatever reads the mail first caches the whole envelope.
func TestEnvelopeFields(t *testing.T) {
	m := newMaildir(t, 5)
	b := m.open(t.TempDir(), start, nil)
	b.cfg.Options.Fields = "envelope"
	b.threads(t)
	opened := b.counts.mails
	var got []string
	err := b.Fetch([]uint32{3, 99, 1}, []string{"from", "TO", "Bcc", "From"}, func(uid uint32, v [][]byte) error {
		got = append(got, fmt.Sprintf("%d %q %q %v %q", uid, v[0], v[1], v[2] == nil, v[3]))
		return nil
	})
	want := []string{`3 "Ann 2 <a2@example.net>" "list@example.org" true "Ann 2 <a2@example.net>"`, `1 "Ann 0 <a0@example.net>" "list@example.org" true "Ann 0 <a0@example.net>"`}
	if err != nil || !slices.Equal(got, want) || b.counts.mails != opened {
		t.Errorf("%v %v, want %v; %d mails opened", got, err, want, b.counts.mails-opened)
	}
	b.done(t)
}

// What the log tells of changes, and what is told when it does not reach.
func TestChangesSince(t *testing.T) {
	m := newMaildir(t, 10)
	dir := t.TempDir()
	extra := map[string]string{"log-rotate-size": "64"}
	b := m.open(dir, start, nil)
	first := b.Status().HighestModSeq
	m.remove(2, 3)
	m.deliver()
	b.Sync()
	second := b.Status().HighestModSeq
	m.remove(7)
	b.Sync()
	ask := func(since uint64) (changed, gone []uint32) {
		t.Helper()
		err := b.ChangesSince(since, func(msg index.Message) bool { changed = append(changed, msg.UID); return true },
			func(uid uint32) bool { gone = append(gone, uid); return true })
		if err != nil {
			t.Fatal(err)
		}
		return changed, gone
	}
	expect := func(when string, since uint64, wantChanged, wantGone []uint32) {
		t.Helper()
		if c, g := ask(since); !slices.Equal(c, wantChanged) || !slices.Equal(g, wantGone) {
			t.Errorf("%s, since %d: %v %v, want %v %v", when, since, c, g, wantChanged, wantGone)
		}
	}
	for _, when := range []string{"at once", "reopened"} {
		expect(when, first, []uint32{11}, []uint32{3, 4, 8})
		expect(when, second, nil, []uint32{8})
		expect(when, second+1, nil, nil)
		b.done(t)
		b = m.open(dir, start, nil)
	}
	b.done(t)
	b = m.open(dir, start, extra) // each change begins a new log
	for _, i := range []int{8, 5, 4} {
		m.remove(i)
		b.Sync()
	}
	last := b.Status().HighestModSeq
	c, g := ask(first)
	if !slices.Equal(c, []uint32{11}) || len(g) != 6 {
		t.Errorf("log gone: %v %v, want all 6 that are not there", c, g)
	}
	if _, g := ask(last - 1); len(g) != 1 {
		t.Errorf("the last change: %v", g)
	}
	b.done(t)
}

// Sort ids of new strings go between old ones until there is no room.
func TestSortIDs(t *testing.T) {
	m := newMaildir(t, 200)
	dir := t.TempDir()
	b := m.open(dir, start, nil)
	b.sorted(t, "subject")
	for i := range 40 {
		if i == 20 { // no room at all: every gap is 1
			b.loadRows()
			ids := b.disk.recs("sort-s")
			ranks := slices.Compact(slices.Sorted(slices.Values(ids)))
			for k, id := range ids {
				n, _ := slices.BinarySearch(ranks, id)
				ids[k] = uint32(n + 1)
			}
		}
		m.deliver()
		b.Sync()
		got := b.sorted(t, "subject")
		fresh := m.open(t.TempDir(), start, nil)
		if want := fresh.sorted(t, "subject"); !slices.Equal(got, want) {
			t.Fatalf("after %d deliveries: %v, want %v", i+1, got, want)
		}
		fresh.done(t)
	}
	b.done(t)
}

// 100,000 messages: everything once, then again from the files.
func TestScale(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("MAILBENCH_LONG is not set")
	}
	m := newMaildir(t, 100_000)
	dir := t.TempDir()
	b := m.open(dir, start, nil)
	b.threads(t)
	b.sorted(t, "subject reverse date")
	if b.counts.mails > 2*100_000 {
		t.Errorf("%d mails opened", b.counts.mails)
	}
	b.done(t)
	m.remove(span(0, 5000)...)
	m.deliver()
	b = m.open(dir, start, nil)
	if err := b.Compact(); err != nil {
		t.Fatal(err)
	}
	fresh := m.open(t.TempDir(), start, nil)
	older := func(uids []uint32) []uint32 { // as the index that was there before numbers them
		for i := range uids {
			uids[i] += 5000
		}
		return uids
	}
	if !slices.Equal(b.sorted(t, "subject reverse date"), older(fresh.sorted(t, "subject reverse date"))) {
		t.Error("another order than that of a fresh index")
	}
	got, err := b.Thread(thread.References, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Thread(thread.References, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Forest.Row, want.Forest.Row) || !slices.Equal(got.Forest.Kids, want.Forest.Kids) {
		t.Error("other threads than those of a fresh index")
	}
	b.done(t)
	fresh.done(t)
}
