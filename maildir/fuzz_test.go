package maildir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "1.h", "1.h:2,S", "1.h,S=5,W=6:2,FSab,x", "1.h:2,:2,S", "1.h:1,S", "1:2,TSSX9F", "a:2,::2", "1.h;2,F"} {
		f.Add(s, byte(0))
		f.Add(s, byte(';'))
	}
	f.Fuzz(func(t *testing.T, file string, sep byte) {
		// Separators that programs use are punctuation; letters would be flags.
		if sep != 0 && !strings.ContainsRune(":;!-_+", rune(sep)) {
			sep = 0
		}
		o := Options{sep}
		n := Parse(file, o)
		if !strings.HasPrefix(file, n.Base) || strings.IndexByte(n.Base, o.separator()) >= 0 {
			t.Fatalf("base %q of %q", n.Base, file)
		}
		back := n.File(o)
		if again := Parse(back, o); again != n {
			t.Fatalf("%q\nis      %+v\nwritten %q\nis      %+v", file, n, back, again)
		}
		if twice := Parse(back, o).File(o); twice != back {
			t.Fatalf("%q is written %q, then %q", file, back, twice)
		}
		e := parseEntry(file, New, o.separator())
		if e != (Entry{file, n.Base, New, n.Flags, n.Keywords, n.Size, n.VSize}) {
			t.Fatalf("%q: entry %+v, name %+v", file, e, n)
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add("1700000000.M1P2.h", "1700000000.M10P2.h", "1700000000.1_2.h")
	f.Add("1.9M1", "1.1M2", "1.5")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, ba, bc, ac := Compare(a, b), Compare(b, a), Compare(b, c), Compare(a, c)
		if ab != -ba || (ab == 0) != (a == b) {
			t.Fatalf("%q, %q: %d and %d", a, b, ab, ba)
		}
		if ab < 0 && bc < 0 && ac >= 0 {
			t.Fatalf("not transitive: %q %q %q", a, b, c)
		}
		list := []Entry{{Base: c}, {Base: b}, {Base: a}}
		SortBase(list)
		for i := range list[1:] {
			if Compare(list[i].Base, list[i+1].Base) > 0 {
				t.Fatalf("sorted: %q before %q", list[i].Base, list[i+1].Base)
			}
		}
	})
}

func FuzzFolders(f *testing.F) {
	f.Add(".lists.go")
	f.Add("..gone")
	f.Add(".a b.&AOQ-")
	f.Fuzz(func(t *testing.T, dir string) {
		name, ok := folderName(dir)
		if ok && "."+strings.ReplaceAll(name, "/", ".") != dir && !strings.Contains(dir, "/") {
			t.Fatalf("%q became %q, which is not its name", dir, name)
		}
		if dir == "" || dir == "cur" || strings.ContainsAny(dir, "/\x00") || dir == "." || dir == ".." {
			return
		}
		root := t.TempDir()
		if os.MkdirAll(filepath.Join(root, dir, "cur"), 0o700) != nil {
			return // too long, or not a name here
		}
		folders, err := Folders(root)
		if err != nil {
			t.Fatal(err)
		}
		if (len(folders) == 1) != ok || ok && (folders[0] != Folder{name, filepath.Join(root, dir)}) {
			t.Fatalf("%q: %+v, name %q %v", dir, folders, name, ok)
		}
	})
}

func FuzzHeaderEnd(f *testing.F) {
	f.Add("a: b\r\n\r\nbody", 3)
	f.Add("\r", 1)
	f.Fuzz(func(t *testing.T, text string, step int) {
		b := []byte(text)
		want, _ := headerEnd(b, 0)
		line, got := 0, -1
		step = 1 + max(0, step)%7
		for n := 0; got < 0; n = min(n+step, len(b)) {
			got, line = headerEnd(b[:n], line)
			if n == len(b) {
				break
			}
		}
		if got != want {
			t.Fatalf("%q in steps of %d: %d, at once %d", text, step, got, want)
		}
		if want > 0 && text[want-1] != '\n' {
			t.Fatalf("%q: header ends at %d", text, want)
		}
	})
}
