package maildir

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// ReadHead gives what ReadHeader gives, and perhaps more behind it: never less
// where there is an empty line.
func TestReadHead(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	md := mailbox(t)
	var names []string
	for i := range 200 {
		var b strings.Builder
		header := r.IntN(300)
		switch r.IntN(4) {
		case 0:
			header = firstRead - 40 + r.IntN(80)
		case 1:
			header = 3*firstRead - 40 + r.IntN(80)
		}
		for b.Len() < header {
			b.WriteString("X: " + strings.Repeat("y", r.IntN(70)) + []string{"\n", "\r\n", "\r"}[r.IntN(3)])
		}
		text := b.String()[:header]
		if r.IntN(5) > 0 {
			text += []string{"\n\n", "\r\n\r\n"}[r.IntN(2)]
		}
		if r.IntN(2) == 0 {
			text += strings.Repeat("body\n", r.IntN(4000))
		}
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ":2,"
		put(t, filepath.Join(md, "cur", name), text)
		names = append(names, name)
	}
	rd, err := Open(md, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	var a, b []byte
	for _, name := range names {
		e := parseEntry(name, Cur, ':')
		if a, err = rd.ReadHeader(&e, a); err != nil {
			t.Fatal(err)
		}
		if b, err = rd.ReadHead(&e, b); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(b, a) {
			t.Fatalf("%s: header of %d bytes, head of %d", name, len(a), len(b))
		}
		if end, _ := headerEnd(b, 0); end >= 0 && end != len(a) {
			t.Fatalf("%s: the head's header ends at %d, ReadHeader's at %d", name, end, len(a))
		}
	}
	gone := Entry{File: "gone:2,", Base: "gone"}
	if _, err := rd.ReadHead(&gone, nil); err == nil {
		t.Error("no error for a file that is not there")
	}
}
