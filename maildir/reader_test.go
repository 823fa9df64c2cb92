package maildir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func opened(t testing.TB, dir string) *Reader {
	t.Helper()
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestHeaderEnd(t *testing.T) {
	for text, want := range map[string]int{
		"":                           -1,
		"\n":                         1,
		"\r\n":                       2,
		"\r":                         -1,
		"a: b\n\nbody":               6,
		"a: b\r\n\r\nbody":           8,
		"a: b\n\r\nbody":             7,
		"a: b\r\n\nbody":             7,
		"a: b\n":                     -1,
		"a: b\n\r":                   -1,
		"a: b\n\rc\n\n":              9,
		"a: b\r\rc\n\n":              9,
		"a: b\n \n\n":                8, // white space is a continuation, not the end
		"\x00\n\x00\n\n":             5,
		strings.Repeat("x", 99):      -1,
		strings.Repeat("x\n", 9):     -1,
		"\nno header at all\n\nbody": 1,
	} {
		if got, _ := headerEnd([]byte(text), 0); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		// Growing byte by byte, going on where it says, gives the same.
		line, got := 0, -1
		for n := 0; n <= len(text) && got < 0; n++ {
			got, line = headerEnd([]byte(text)[:n], line)
		}
		if got != want {
			t.Errorf("%q byte by byte: %d, want %d", text, got, want)
		}
	}
}

func TestReader_ReadHeader(t *testing.T) {
	dir := mailbox(t)
	r := opened(t, dir)
	line := strings.Repeat("x", 70) + "\n"
	header := func(n int) string { // n bytes with the empty line
		h := "A: " + strings.Repeat(line, n/len(line)+1)
		return h[:n-3] + "x\n\n"
	}
	cases := map[string]struct{ file, want string }{
		"empty":         {"", ""},
		"header only":   {"A: b\n", "A: b\n"},
		"no line end":   {"A: b", "A: b"},
		"usual":         {"A: b\n\nbody\n\n", "A: b\n\n"},
		"crlf":          {"A: b\r\n\r\nbody", "A: b\r\n\r\n"},
		"body only":     {"\nbody", "\n"},
		"cut":           {strings.Repeat(line, MaxHeader/len(line)+2) + "\n", ""},
		"one long line": {strings.Repeat("x", MaxHeader+5), ""},
	}
	for _, k := range []int{firstRead, 2 * firstRead, 64 << 10, MaxHeader} {
		for n := k - 4; n <= k+4 && n <= MaxHeader; n++ {
			h := header(n)
			cases["border "+time.Duration(n).String()] = struct{ file, want string }{h + "body\n\nmore", h}
		}
	}
	for name, c := range cases {
		want := c.want
		if want == "" {
			want = c.file[:min(len(c.file), MaxHeader)]
		}
		file := strings.ReplaceAll(name, " ", "_")
		put(t, filepath.Join(dir, "cur", file), c.file)
		for _, buf := range [][]byte{nil, make([]byte, 3, 100), make([]byte, 0, 2*MaxHeader)} {
			got, err := r.ReadHeader(&Entry{File: file}, buf)
			if err != nil || string(got) != want {
				t.Fatalf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
			}
			if cut := name == "cut" || name == "one long line"; CutHeader(got) != cut {
				t.Errorf("%s: CutHeader %v", name, !cut)
			}
		}
		all, err := r.ReadAll(&Entry{File: file}, nil)
		if err != nil || string(all) != c.file {
			t.Fatalf("%s: ReadAll %d bytes, %v; want %d", name, len(all), err, len(c.file))
		}
	}
}

func TestReader_sizes(t *testing.T) {
	dir := mailbox(t)
	r := opened(t, dir)
	for _, tt := range []struct {
		text string
		crlf int64
	}{
		{"", 0}, {"\n", 2}, {"\r\n", 2}, {"a\nb\r\nc\rd\n", 11}, {"\r", 1}, {"\n\r", 3},
		{strings.Repeat("a\r\n", 5000), 15000}, {"x" + strings.Repeat("\r\n", 5000), 10001}, {strings.Repeat("\n", 9999), 19998},
	} {
		put(t, filepath.Join(dir, "new", "m"), tt.text)
		when := time.Unix(1700000000, 123456789)
		os.Chtimes(filepath.Join(dir, "new", "m"), when, when)
		e := &Entry{File: "m", Dir: New}
		size, vsize, err := r.Sizes(e, make([]byte, 4096))
		if err != nil || size != int64(len(tt.text)) || vsize != tt.crlf || CRLFSize([]byte(tt.text)) != tt.crlf {
			t.Errorf("%.20q: %d, %d, %v; want %d, %d", tt.text, size, vsize, err, len(tt.text), tt.crlf)
		}
		size, mtime, err := r.Stat(e)
		if err != nil || size != int64(len(tt.text)) || mtime != when.UnixNano() {
			t.Errorf("%.20q: Stat %d, %d, %v", tt.text, size, mtime, err)
		}
	}
}

func TestReader_findsRenamed(t *testing.T) {
	dir := mailbox(t, "new/1.a", "cur/2.b:2,", "cur/3.c:2,", "cur/4.d:2,S")
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	SortBase(s.Entries)
	r := opened(t, dir)
	os.Rename(filepath.Join(dir, "new/1.a"), filepath.Join(dir, "cur/1.a:2,"))
	os.Rename(filepath.Join(dir, "cur/2.b:2,"), filepath.Join(dir, "cur/2.b:2,FS"))
	os.Remove(filepath.Join(dir, "cur/3.c:2,"))
	for range 2 {
		for i, want := range []string{"Subject: new/1.a\n\n", "Subject: cur/2.b:2,\n\n", "", "Subject: cur/4.d:2,S\n\n"} {
			e := &s.Entries[i]
			h, err := r.ReadHeader(e, nil)
			all, allErr := r.ReadAll(e, nil)
			size, _, statErr := r.Stat(e)
			_, _, sizesErr := r.Sizes(e, nil)
			if want == "" {
				for _, err := range []error{err, allErr, statErr, sizesErr} {
					if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), e.File) {
						t.Errorf("%s: %v", e.File, err)
					}
				}
				continue
			}
			if err != nil || string(h) != want {
				t.Errorf("%s: %q, %v", e.File, h, err)
			}
			if allErr != nil || statErr != nil || sizesErr != nil || !bytes.HasPrefix(all, h) || size != int64(len(all)) {
				t.Errorf("%s: %v, %v, %v", e.File, allErr, statErr, sizesErr)
			}
		}
		// Renamed once more: what was learnt is out of date.
		os.Rename(filepath.Join(dir, "cur/2.b:2,FS"), filepath.Join(dir, "cur/2.b:2,T"))
	}
	// An entry without a base is looked for by the base of its name.
	if _, err := r.ReadHeader(&Entry{File: "2.b:2,R"}, nil); err != nil {
		t.Error(err)
	}
}

// Names that no listing gives, as from a damaged index, and things that took a
// message's name are errors, not ways out of the maildir.
func TestReader_oddNames(t *testing.T) {
	dir := mailbox(t, "cur/1.a")
	put(t, filepath.Join(dir, "secret"), "x")
	os.Mkdir(filepath.Join(dir, "cur", "sub"), 0o700)
	if err := syscall.Mkfifo(filepath.Join(dir, "cur", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Symlink("/dev/zero", filepath.Join(dir, "cur", "zero"))
	r := opened(t, dir)
	for _, e := range []Entry{{File: "../secret"}, {File: ""}, {File: "1.a\x00b"}, {File: "1.b", Dir: 7},
		{File: strings.Repeat("n", 256)}, {File: strings.Repeat("n", 70000)}, {File: "."}, {File: ".."}, {File: "sub"}} {
		if b, err := r.ReadHeader(&e, nil); err == nil {
			t.Errorf("%.20q: read %q", e.File, b)
		}
	}
	for _, name := range []string{"sub", "pipe", "zero"} {
		if b, err := r.ReadAll(&Entry{File: name}, nil); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if h, err := r.ReadHeader(&Entry{File: "zero"}, nil); len(h) != MaxHeader || err != nil {
		t.Errorf("endless file: %d bytes, %v", len(h), err)
	}
	if h, err := r.ReadHeader(&Entry{File: "pipe"}, nil); len(h) != 0 || err == nil {
		t.Errorf("pipe: %d bytes, %v", len(h), err) // pread of a pipe: ESPIPE; above all it returns
	}
	f, err := os.Create(filepath.Join(dir, "cur", "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Truncate(1<<40) == nil { // some file systems refuse
		if _, err := r.ReadAll(&Entry{File: "sparse"}, nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("sparse: %v", err)
		}
	}
	f.Close()
	if _, err := Open(filepath.Join(dir, "cur"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no maildir: %v", err)
	}
}

func TestReader_noAllocation(t *testing.T) {
	dir := mailbox(t, "cur/1700000000.M1P1.host,S=20:2,S")
	r := opened(t, dir)
	e := &Entry{File: "1700000000.M1P1.host,S=20:2,S"}
	buf := make([]byte, 0, firstRead)
	for what, f := range map[string]func() error{
		"ReadHeader": func() error { _, err := r.ReadHeader(e, buf); return err },
		"ReadAll":    func() error { _, err := r.ReadAll(e, buf); return err },
		"Stat":       func() error { _, _, err := r.Stat(e); return err },
		"Sizes":      func() error { _, _, err := r.Sizes(e, buf); return err },
	} {
		if n := testing.AllocsPerRun(50, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
