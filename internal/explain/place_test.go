package explain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/scan"
	"mailbench/thread"
)

// placed threads mails (message n has UID n+1) and explains the places of the
// wanted ones, as "uid parent root by".
func placed(t *testing.T, mails []string, wanted map[uint32]bool) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "md")
	if err := os.MkdirAll(filepath.Join(dir, "cur"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, m := range mails {
		head := fmt.Sprintf("Date: Thu, 1 Jan 2015 10:00:%02d +0000\n%s\n\n", i, m)
		if err := os.WriteFile(filepath.Join(dir, "cur", fmt.Sprintf("%d.m:2,", 100+i)), []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open(dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	mb, err := scan.Design.Open(index.Config{Dir: t.TempDir(), Source: src})
	if err != nil {
		t.Fatal(err)
	}
	defer mb.Close()
	if _, err := mb.Sync(); err != nil {
		t.Fatal(err)
	}
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	src.Order(l.Entries)
	ans, err := mb.Thread(thread.References, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	places, err := Places(src, ans, wanted, func(uid uint32) *index.Entry { return &l.Entries[uid-1] }, index.CompatRFC)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for uid := uint32(1); int(uid) <= len(mails); uid++ {
		p, ok := places[uid]
		if !ok {
			continue
		}
		x, err := Explain(src, &l.Entries[uid-1], index.Message{UID: uid, Key: l.Entries[uid-1].Key}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		x.Put(p)
		show := func(u *uint32) string {
			if u == nil {
				return "-"
			}
			return fmt.Sprint(*u)
		}
		out = append(out, fmt.Sprintf("%d %s %s %s", uid, show(x.ParentUID), show(x.RootUID), x.By))
	}
	return out
}

func TestPlaces(t *testing.T) {
	id := func(n string) string { return "Message-ID: <" + n + "@x>" }
	for _, c := range []struct {
		name  string
		mails []string
		want  []string
	}{
		{"own references and in-reply-to", []string{
			id("a") + "\nSubject: one",
			id("b") + "\nReferences: <a@x>\nSubject: Re: one",
			id("c") + "\nIn-Reply-To: <b@x>\nSubject: two",
			id("d") + "\nReferences: <a@x> <gone@x>\nSubject: three",
		}, []string{"1 - 1 none", "2 1 1 references", "3 2 1 in-reply-to", "4 1 1 references"}},
		{"by another's references", []string{
			id("a") + "\nSubject: one",
			id("b") + "\nSubject: two",
			id("c") + "\nReferences: <a@x> <b@x>\nSubject: three",
		}, []string{"1 - 1 none", "2 1 1 references", "3 2 1 references"}},
		{"by subject, below a message", []string{
			id("a") + "\nSubject: one",
			id("b") + "\nSubject: Re: one",
			id("c") + "\nSubject: other",
		}, []string{"1 - 1 none", "2 1 1 subject", "3 - 3 none"}},
		{"by subject, below a dummy", []string{
			id("a") + "\nSubject: one",
			id("b") + "\nSubject: one",
		}, []string{"1 - 1 subject", "2 - 1 subject"}},
		{"below a missing message", []string{
			id("a") + "\nReferences: <gone@x>\nSubject: one",
			id("b") + "\nIn-Reply-To: <gone@x>\nSubject: two",
		}, []string{"1 - 1 references", "2 - 1 in-reply-to"}},
		{"a missing message, and one more by subject", []string{
			id("a") + "\nReferences: <gone@x>\nSubject: Re: one",
			id("b") + "\nReferences: <gone@x>\nSubject: Re: one",
			id("c") + "\nSubject: Re: one",
		}, []string{"1 - 1 references", "2 - 1 references", "3 - 1 subject"}},
		{"the same id twice", []string{
			id("a") + "\nSubject: one",
			id("a") + "\nSubject: two",
			id("b") + "\nReferences: <a@x>\nSubject: three",
		}, []string{"1 - 1 none", "2 - 2 none", "3 1 1 references"}},
		{"no ids at all", []string{"Subject: x", "X: y"}, []string{"1 - 1 none", "2 - 2 none"}},
	} {
		if got := placed(t, c.mails, nil); strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		// Each by itself, without the headers of other threads.
		for i, want := range c.want {
			if got := placed(t, c.mails, map[uint32]bool{uint32(i + 1): true}); len(got) != 1 || got[0] != want {
				t.Errorf("%s: UID %d alone: %q, want %q", c.name, i+1, got, want)
			}
		}
	}
}

// A message with a body of any size is explained with its header in memory
// alone, and a header that is longer than a source gives is read whole.
func TestExplain_sizes(t *testing.T) {
	long := "X-Long: " + strings.Repeat("x", 1<<20) + "\nSubject: after it\n\nbody\n"
	x := explain(t, long, Options{})
	if x.Subject == nil || *x.Subject != "after it" || x.HeaderSize != int64(len(long)-len("body\n")) || x.Size != int64(len(long)) || x.RFC822Size != x.Size+4 {
		t.Errorf("subject %v, header %d, size %d, %d; want %d", x.Subject, x.HeaderSize, x.Size, x.RFC822Size, len(long))
	}

	dir := filepath.Join(t.TempDir(), "md")
	if err := os.MkdirAll(filepath.Join(dir, "cur"), 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "cur", "1.m:2,")
	if err := os.WriteFile(name, []byte("Subject: s\r\n\nline\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 256 << 20
	if err := os.Truncate(name, size); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	src, err := source.Open(dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	bytes := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if x, err = Explain(src, &l.Entries[0], index.Message{UID: 1}, nil, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if x.Size != size || x.RFC822Size != size+2 || bytes > 4<<20 {
		t.Errorf("size %d, %d, %d bytes allocated", x.Size, x.RFC822Size, bytes)
	}
}
