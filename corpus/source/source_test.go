package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mailbench/index"
	"mailbench/mbox"
)

const from = "From a@x.example Mon Jan  1 00:00:00 2024\n"

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string, o Options) index.Source {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func list(t testing.TB, s index.Source) *index.Listing {
	t.Helper()
	l := new(index.Listing)
	if err := s.List(l); err != nil {
		t.Fatal(err)
	}
	return l
}

// message is a message whose header differs with i.
func message(i int, state string) string {
	return fmt.Sprintf("Subject: message %d\nMessage-ID: <%d@x.example>\n%s\nbody %d\n>From quoted\nlast\n\n", i, i, state, i)
}

func sample(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(from + message(i, ""))
	}
	return b.Bytes()
}

func packed(name string, b []byte) []byte {
	var out bytes.Buffer
	if strings.HasSuffix(name, ".gz") {
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
	} else if strings.HasSuffix(name, ".zst") {
		w, _ := zstd.NewWriter(&out)
		w.Write(b)
		w.Close()
	} else {
		out.Write(b)
	}
	return out.Bytes()
}

func TestOpen_looks(t *testing.T) {
	mail := "Subject: x\n\nbody\n"
	for _, test := range []struct{ name, data, kind string }{
		{"a", from + mail, "mbox"},
		{"a.gz", from + mail, "mbox"},
		{"a.eml", from + mail, "mbox"},
		{"a", "", "mbox"},
		{"a.zst", "", "mbox"},
		{"a", "\n" + from + mail, "mbox"},
		{"a", "garbage\n\n" + from + mail, "mbox"},
		{"a", mail, "message"},
		{"a.eml.gz", mail, "message"},
		{"a.zst", mail, "message"},
		{"a", mail + "\n" + from + mail, "message"},
		{"a.mbox.zst", mail + "\n" + from + mail, "mbox"},
		{"a.mbox", mail, "message"},
		{"a", ">" + from + mail, "message"},
		{"a", "no mail at all", "message"},
		{"a", "From me to you\n\nlove", "message"},
	} {
		s := open(t, write(t, test.name, packed(test.name, []byte(test.data))), Options{})
		if s.Kind() != test.kind {
			t.Errorf("%s %q is a %s, want %s", test.name, test.data, s.Kind(), test.kind)
		}
		l := list(t, s)
		if test.kind == "message" && len(l.Entries) != 1 {
			t.Errorf("%s: %d entries", test.name, len(l.Entries))
		}
		for i := range l.Entries {
			got, err := s.ReadMessage(&l.Entries[i], nil)
			if err != nil || !strings.HasSuffix(test.data, strings.TrimSuffix(string(got), "\n")) && !strings.HasSuffix(test.data, string(got)) {
				if len(l.Entries) == 1 {
					t.Errorf("%s %q: message %q, %v", test.name, test.data, got, err)
				}
			}
		}
	}
}

func TestOpen_unusable(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		path, want string
		o          Options
	}{
		{filepath.Join(dir, "none"), "no such file", Options{}},
		{dir, "no maildir", Options{}},
		{dir, "no maildir", Options{Kind: "mbox"}},
		{"/dev/null", "regular file", Options{}},
		{write(t, "file", []byte("x")), "no maildir", Options{Kind: "maildir"}},
		{write(t, "a.bz2", []byte("BZh9")), "bzip2", Options{}},
	} {
		_, err := Open(test.path, test.o)
		if err == nil {
			t.Errorf("%s: opened", test.path)
			continue
		}
		if s := err.Error(); !strings.Contains(s, test.path) || !strings.Contains(s, test.want) || strings.Contains(s, "\n") {
			t.Errorf("%s: %q, want one line with %q", test.path, s, test.want)
		}
	}
	if os.Getuid() != 0 { // root may read everything
		path := write(t, "secret", []byte(from))
		os.Chmod(path, 0)
		if _, err := Open(path, Options{}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want permission denied", err)
		}
	}
	if _, err := Open(dir, Options{Kind: "mh"}); err == nil {
		t.Error("kind mh was taken")
	}
}

func TestMbox(t *testing.T) {
	for _, name := range []string{"a.mbox", "a.mbox.gz", "a.mbox.zst"} {
		s := open(t, write(t, name, packed(name, sample(3))), Options{})
		l := list(t, s)
		if len(l.Entries) != 3 || l.Digest.N != 3 || len(l.Problems) > 0 {
			t.Fatalf("%s: %d entries, digest of %d, %v", name, len(l.Entries), l.Digest.N, l.Problems)
		}
		for i := range l.Entries {
			e := &l.Entries[i]
			full := strings.ReplaceAll(message(i, ""), ">From", "From")
			full = full[:len(full)-1]
			if got, err := s.ReadMessage(e, nil); string(got) != full || err != nil {
				t.Errorf("message %q, %v; want %q", got, err, full)
			}
			head := full[:strings.Index(full, "\n\n")+2]
			if got, err := s.ReadHeader(e, []byte("rubbish")); string(got) != head || err != nil {
				t.Errorf("header %q, %v; want %q", got, err, head)
			}
			if want := int64(len(full) + strings.Count(full, "\n")); e.VSize != want || e.Size != int64(len(full)+1) {
				t.Errorf("size %d, CRLF size %d; want %d, %d", e.Size, e.VSize, len(full)+1, want)
			}
			size, mtime, err := s.Stat(e)
			if size != e.Size || mtime != e.MTime || err != nil || !e.MTimeOK || mtime != 1704067200 {
				t.Errorf("Stat %d, %d, %v", size, mtime, err)
			}
			if !strings.HasSuffix(e.Key, ".1") || len(e.Key) != 18 || e.Dir != index.DirNone {
				t.Errorf("entry %+v", *e)
			}
		}
	}
}

func TestMbox_dialects(t *testing.T) {
	path := write(t, "a", []byte(from+"a: b\n\n>From x\n"))
	for d := mbox.MboxRD; d <= mbox.MboxCL2; d++ {
		s := open(t, path, Options{Dialect: d})
		l := list(t, s)
		want := "a: b\n\n>From x\n"
		if d == mbox.MboxRD {
			want = "a: b\n\nFrom x\n"
		}
		if got, err := s.ReadMessage(&l.Entries[0], nil); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", d, got, err)
		}
	}
}

// keys lists the keys of an mbox made of parts.
func keys(t *testing.T, parts ...string) []string {
	l := list(t, open(t, write(t, "a.mbox", []byte(strings.Join(parts, ""))), Options{}))
	var ks []string
	for _, e := range l.Entries {
		ks = append(ks, strings.Clone(e.Key))
	}
	return ks
}

func TestMbox_keysStay(t *testing.T) {
	m := func(i int, state string) string { return from + message(i, state) }
	all := keys(t, m(1, ""), m(2, ""), m(1, ""), m(3, ""))
	if all[0] == all[1] || all[0][:16] != all[2][:16] || all[0][17:] != "1" || all[2][17:] != "2" {
		t.Errorf("keys %v", all)
	}
	if got := keys(t, m(2, ""), m(3, "")); !slices.Equal(got, []string{all[1], all[3]}) {
		t.Errorf("after an expunge: %v, want %v", got, all)
	}
	// What a server or mail reader writes into the header changes nothing.
	for _, state := range []string{"Status: RO\n", "X-UID: 7\nX-Status: A\nStatus: O\n", "X-Keywords: a\n  b\n", "content-length: 9\n",
		"X-IMAPbase: 1 2\nX-Mozilla-Status: 0001\nX-Mozilla-Status2: 00000000\nX-Mozilla-Keys: \nX-UIDL: x\n"} {
		if got := keys(t, m(2, state)); got[0] != all[1] {
			t.Errorf("with %q: %s, want %s", state, got[0], all[1])
		}
	}
	if got := keys(t, m(2, "X-Statuses: RO\n")); got[0] == all[1] {
		t.Error("a field of the message does not count")
	}
	if got := keys(t, from+"\nx\n\n"+strings.Replace(from, "2024", "2025", 1)+"Status: R\n\nx\n"); got[0][:16] == got[1][:16] {
		t.Error("headless messages with different From_ lines have one key")
	}
}

func TestMbox_flags(t *testing.T) {
	for _, test := range []struct{ fields, flags string }{
		{"", ""}, {"Status: RO\n", "S"}, {"Status: O\n", ""}, {"X-Status: AFDT\nStatus: R\n", "DFRST"}, {"status: r\n", ""},
		{"x-status:A\n", "R"}, {"X-Mozilla-Status: 1003\n", "PRS"}, {"X-Mozilla-Status: 000c\n", "FT"}, {"X-Mozilla-Status: zz\n", ""},
	} {
		l := list(t, open(t, write(t, "a", []byte(from+message(1, test.fields))), Options{}))
		if got := l.Entries[0].Flags.String(); got != test.flags {
			t.Errorf("%q: %q, want %q", test.fields, got, test.flags)
		}
	}
}

func TestMbox_internalMessage(t *testing.T) {
	internal := from + "Subject: DON'T DELETE\nX-IMAP: 1700000000 0000000007 $Junk work\nStatus: RO\n\ndata\n\n"
	s := open(t, write(t, "a", []byte(internal+from+message(1, "X-UID: 5\nX-Keywords: work new\n"))), Options{}).(*Mbox)
	l := list(t, s)
	if len(l.Entries) != 1 || l.Entries[0].Off != int64(len(internal)) {
		t.Fatalf("entries %+v", l.Entries)
	}
	if v, last, ok := s.IMAPBase(); v != 1700000000 || last != 7 || !ok {
		t.Errorf("IMAPBase %d, %d, %v", v, last, ok)
	}
	if uid := s.UID(&l.Entries[0]); uid != 5 || l.Entries[0].Keywords != 1<<1|1<<2 {
		t.Errorf("uid %d, keywords %b", uid, l.Entries[0].Keywords)
	}
	if names, _ := s.Keywords(); fmt.Sprint(names) != fmt.Sprint(map[byte]string{'a': "$Junk", 'b': "work", 'c': "new"}) {
		t.Errorf("keywords %v", names)
	}
	// X-IMAPbase stands in real mail, X-IMAP elsewhere is nobody's.
	s = open(t, write(t, "a", []byte(from+message(1, "X-IMAPbase: 9 3\n")+internal)), Options{}).(*Mbox)
	if l := list(t, s); len(l.Entries) != 2 {
		t.Errorf("%d entries, want 2", len(l.Entries))
	}
	if v, last, ok := s.IMAPBase(); v != 9 || last != 3 || !ok {
		t.Errorf("IMAPBase %d, %d, %v", v, last, ok)
	}
}

func TestMbox_damaged(t *testing.T) {
	data := packed("a.gz", sample(500))
	s := open(t, write(t, "a.gz", data[:len(data)/2]), Options{})
	l := list(t, s)
	var damage *mbox.DamageError
	if len(l.Problems) != 1 || !errors.As(l.Problems[0], &damage) || len(l.Entries) == 0 || len(l.Entries) >= 500 {
		t.Errorf("%d entries, %v", len(l.Entries), l.Problems)
	}
}

// Growing, rewriting by rename and in place: State tells, List sees, reading by
// an old entry gives the same message or says that it has gone.
func TestMbox_changes(t *testing.T) {
	path := write(t, "a", sample(4))
	old := time.Now().Add(-time.Hour)
	os.Chtimes(path, old, old)
	s := open(t, path, Options{})
	before, err := s.State()
	if err != nil || before.Racy || before.Busy {
		t.Fatalf("%+v, %v", before, err)
	}
	l := list(t, s)
	third := l.Entries[2]
	third.Key = strings.Clone(third.Key)

	rest := sample(4)[len(from+message(0, "")):]
	if err := os.WriteFile(path, rest, 0o600); err != nil { // in place: our mapping changes with it
		t.Fatal(err)
	}
	after, err := s.State()
	if err != nil || after.Same(before) || !after.Racy {
		t.Errorf("state %+v after %+v, %v", after, before, err)
	}
	if b, err := s.ReadHeader(&third, nil); !errors.Is(err, fs.ErrNotExist) && !bytes.Contains(b, []byte("message 2")) {
		t.Errorf("stale header %q, %v", b, err)
	}
	last := l.Entries[3]
	if b, err := s.ReadMessage(&last, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stale message %q, %v", b, err)
	}
	l2 := list(t, s)
	if len(l2.Entries) != 3 || l2.Digest == l.Digest || l2.Entries[1].Key != third.Key {
		t.Errorf("%d entries", len(l2.Entries))
	}
	if b, err := s.ReadHeader(&third, nil); err != nil || !bytes.Contains(b, []byte("message 2")) {
		t.Errorf("by an old entry: %q, %v", b, err)
	}
	third.Ref, third.Off = 0, -1 // as from an index
	if b, err := s.ReadHeader(&third, nil); err != nil || !bytes.Contains(b, []byte("message 2")) {
		t.Errorf("by key: %q, %v", b, err)
	}
	if _, err := s.ReadHeader(&index.Entry{Key: "0123456789abcdef.1"}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := s.ReadHeader(&index.Entry{Key: "nonsense"}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.List(l2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("List without the file: %v", err)
	}
}

// An entry that an index kept is found without a List.
func TestMbox_readBeforeList(t *testing.T) {
	path := write(t, "a", sample(50))
	l := list(t, open(t, path, Options{}))
	s := open(t, path, Options{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var buf []byte
			for i := range l.Entries {
				e := l.Entries[(i+g*13)%50]
				e.Ref, e.Off = -1, -1
				var err error
				if buf, err = s.ReadHeader(&e, buf); err != nil || !bytes.Contains(buf, fmt.Appendf(nil, "message %d\n", (i+g*13)%50)) {
					t.Errorf("%d: %q, %v", i, buf, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestMbox_digest(t *testing.T) {
	digest := func(parts ...string) index.Digest {
		return list(t, open(t, write(t, "a", []byte(strings.Join(parts, ""))), Options{})).Digest
	}
	a := digest(from+message(1, "Status: R\n"), from+message(2, ""))
	if a != digest(from+message(1, "Status: R\n"), from+message(2, "")) {
		t.Error("same file, other digest")
	}
	for _, b := range []index.Digest{
		digest(from+message(1, "Status: O\n"), from+message(2, "")), digest(from + message(1, "Status: R\n")),
		digest(from+message(2, ""), from+message(1, "Status: R\n")), digest(),
	} {
		if a == b {
			t.Error("other file, same digest")
		}
	}
}

func TestMbox_listDoesNotAllocate(t *testing.T) {
	s := open(t, write(t, "a.mbox", sample(2000)), Options{})
	l := list(t, s)
	if allocs := testing.AllocsPerRun(5, func() {
		if err := s.List(l); err != nil {
			t.Fatal(err)
		}
	}); allocs > 20 {
		t.Errorf("%v allocations for 2000 messages", allocs)
	}
	buf := make([]byte, 0, 4096)
	if allocs := testing.AllocsPerRun(5, func() {
		for i := range l.Entries {
			buf, _ = s.ReadHeader(&l.Entries[i], buf)
		}
	}); allocs > 20 {
		t.Errorf("%v allocations for 2000 headers", allocs)
	}
}

func TestMbox_undated(t *testing.T) {
	s := open(t, write(t, "a.mbox", []byte("From \na: b\n\nx\n")), Options{})
	l := list(t, s)
	if _, mtime, err := s.Stat(&l.Entries[0]); err != nil || l.Entries[0].MTimeOK || time.Since(time.Unix(mtime, 0)) > time.Hour {
		t.Errorf("%d, %v", mtime, err)
	}
}

func TestMessage(t *testing.T) {
	text := "Status: R\nSubject: x\n\nFrom y\nbody"
	path := write(t, "1.eml", []byte(text))
	s := open(t, path, Options{})
	l := list(t, s)
	e := &l.Entries[0]
	if e.Key != "1.eml" || e.Size != int64(len(text)) || e.VSize != e.Size+4 || e.Off != -1 || !e.MTimeOK || l.Digest.N != 1 || e.Flags != index.FlagSeen {
		t.Errorf("entry %+v", *e)
	}
	if b, err := s.ReadHeader(e, nil); string(b) != text[:22] || err != nil {
		t.Errorf("header %q, %v", b, err)
	}
	if b, err := s.ReadMessage(e, nil); string(b) != text || err != nil {
		t.Errorf("message %q, %v", b, err)
	}
	if size, mtime, err := s.Stat(e); size != e.Size || mtime != e.MTime || err != nil {
		t.Errorf("Stat %d, %d, %v", size, mtime, err)
	}
	if st, err := s.State(); err != nil || !st.Racy {
		t.Errorf("state %+v, %v", st, err)
	}
	if s.Path() != path {
		t.Errorf("path %s", s.Path())
	}
	s.Order(l.Entries)
}

func TestMaildir(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cur/1700000002.M5P1.host,S=12:2,FSa": "Subject: b\n\n", "cur/1700000001.M7P1.host:2,": "Subject: a\n\nx\n",
		"new/1700000003.M1P1.host": "Subject: c\n\n", "cur/.hidden": "",
	} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, Options{})
	if _, ok := s.UIDList(); ok || s.Kind() != "maildir" || s.Path() != dir {
		t.Errorf("%s %s", s.Kind(), s.Path())
	}
	l := list(t, s)
	s.Order(l.Entries)
	var got []string
	for i := range l.Entries {
		e := &l.Entries[i]
		head, err := s.ReadHeader(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Key, " ", e.Folder, " ", e.Flags, " ", e.Keywords, " ", e.Size, " ", string(head)))
	}
	want := []string{"1700000001.M7P1.host cur  0 -1 Subject: a\n\n", "1700000002.M5P1.host,S=12 cur FS 1 12 Subject: b\n\n",
		"1700000003.M1P1.host new  0 -1 Subject: c\n\n"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if b, err := s.ReadMessage(&l.Entries[0], nil); string(b) != "Subject: a\n\nx\n" || err != nil {
		t.Errorf("message %q, %v", b, err)
	}
	if size, mtime, err := s.Stat(&l.Entries[0]); size != 14 || time.Since(time.Unix(mtime, 0)) > time.Hour || err != nil {
		t.Errorf("Stat %d, %d, %v", size, mtime, err)
	}
	st, err := s.State()
	if err != nil || !st.Racy {
		t.Errorf("state %+v, %v", st, err)
	}
	os.WriteFile(filepath.Join(dir, "dovecot-uidlist"), nil, 0o600)
	os.WriteFile(filepath.Join(dir, "dovecot-keywords"), []byte("0 $Work\n"), 0o600)
	if path, ok := s.UIDList(); !ok || path != filepath.Join(dir, "dovecot-uidlist") {
		t.Errorf("uidlist %s, %v", path, ok)
	}
	if names, err := s.(*Maildir).Keywords(); err != nil || names['a'] != "$Work" {
		t.Errorf("%v, %v", names, err)
	}
	var g index.Listing
	if err := s.(*Maildir).Glance(&g); err != nil || g.Digest != l.Digest || len(g.Entries) > 0 {
		t.Errorf("Glance: %v", err)
	}
	s.(*Maildir).Fill(&g)
	if len(g.Entries) != 3 {
		t.Errorf("Fill: %d entries", len(g.Entries))
	}
}

// Order is Compare's, for many names in any order.
func TestMaildir_order(t *testing.T) {
	s := &Maildir{}
	var es []index.Entry
	for i := range 5000 {
		n := i * 2654435761 % 5000
		es = append(es, index.Entry{Key: fmt.Sprintf("%d.M%dP1.host", 1700000000+n/7, n*31%1000), Ref: int32(i)})
	}
	want := slices.Clone(es)
	slices.SortStableFunc(want, compareKeys)
	s.Order(es)
	if !slices.Equal(es, want) {
		t.Error("another order")
	}
}

func TestMaildir_doesNotAllocate(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"cur", "new", "tmp"} {
		os.Mkdir(filepath.Join(dir, sub), 0o700)
	}
	for i := range 1000 {
		if err := os.WriteFile(fmt.Sprintf("%s/cur/%d.M%dP1.host:2,S", dir, 1700000000-i, i), []byte("a: b\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, Options{})
	l := list(t, s)
	if allocs := testing.AllocsPerRun(5, func() {
		if err := s.List(l); err != nil {
			t.Fatal(err)
		}
	}); allocs > 10 {
		t.Errorf("%v allocations for a list of 1000 messages", allocs)
	}
	buf := make([]byte, 0, 16<<10)
	if allocs := testing.AllocsPerRun(5, func() {
		for i := range l.Entries {
			buf, _ = s.ReadHeader(&l.Entries[i], buf)
		}
	}); allocs > 10 {
		t.Errorf("%v allocations for 1000 headers", allocs)
	}
}
