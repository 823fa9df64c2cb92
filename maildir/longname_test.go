package maildir

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A name so long that ":2," has no room behind it is found by its base name.
func TestReader_longNames(t *testing.T) {
	for _, n := range []int{252, 253, 254, 255} {
		for _, dir := range []Dir{Cur, New} {
			base := strings.Repeat("x", n)
			r, err := Open(mailbox(t, dir.String()+"/"+base), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for _, guessed := range []Dir{Cur, New} { // what an index knows may be old
				for _, f := range []Flags{0, FlagSeen | FlagReplied} {
					e := Entry{Base: base, Dir: guessed, File: string(AppendFile(nil, base, guessed, f, 0, Options{}))}
					want := "Subject: " + dir.String() + "/" + base + "\n\n"
					if h, err := r.ReadHeader(&e, nil); string(h) != want || err != nil {
						t.Errorf("%d bytes in %v as in %v: %q, %v", n, dir, guessed, h, err)
					}
					if h, err := r.ReadAll(&e, nil); string(h) != want+"body\n" || err != nil {
						t.Errorf("%d bytes in %v as in %v: %q, %v", n, dir, guessed, h, err)
					}
					if size, _, err := r.Stat(&e); size != int64(len(want)+5) || err != nil {
						t.Errorf("%d bytes in %v as in %v: size %d, %v", n, dir, guessed, size, err)
					}
				}
			}
			gone := Entry{Base: base[1:] + "y", File: base[1:] + "y:2,"}
			if _, err := r.ReadHeader(&gone, nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%d bytes, gone: %v", n, err)
			}
		}
	}
}
