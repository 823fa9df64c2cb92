package index_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
)

// shared finds a folder of the shared cases, "" where there are none.
func shared(name string) string {
	dir := os.Getenv("MAILBENCH_SHARED")
	if dir == "" {
		for _, up := range []string{"../shared", "../../shared", "../../../shared"} {
			if _, err := os.Stat(up); err == nil {
				dir = up
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, name)); dir == "" || err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}

func makeMaildir(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, "cur", n+":2,"), []byte("Subject: x\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// syncUIDs syncs a fresh index in idx and returns it with the UIDs by key.
func syncUIDs(t *testing.T, maildir, idx string) (*index.Base, map[string]uint32) {
	t.Helper()
	src, err := source.Open(maildir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	b, err := index.OpenBase(nil, idx, index.BaseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sync(src); err != nil {
		t.Fatal(err)
	}
	for err := range b.Check() {
		t.Fatal(err)
	}
	tab, err := b.Table()
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]uint32{}
	for i := range tab.Len() {
		uids[string(tab.Key(i))] = tab.UIDs()[i]
	}
	return b, uids
}

func TestAdoptUIDList(t *testing.T) {
	names := []string{"900.d.h", "1001.a.h", "1002.b.h", "1003.c.h"}
	for _, c := range []struct {
		what, list string
		validity   uint32
		uids       string
		next       uint32
	}{
		{"all known but one", "3 V77 N10 G0\n3 :1001.a.h\n5 :1002.b.h\n7 :1003.c.h\n", 77, "900.d.h:10 1001.a.h:3 1002.b.h:5 1003.c.h:7", 11},
		{"extensions", "3 V77 N10 G0\n3 W12 S11 :1001.a.h\n5 Gx:y :1002.b.h\n", 77, "1001.a.h:3 1002.b.h:5 900.d.h:10 1003.c.h:11", 12},
		{"twice", "3 V77 N10\n3 :1001.a.h\n5 :1002.b.h\n7 :1001.a.h\n", 77, "1001.a.h:7 1002.b.h:5 900.d.h:10 1003.c.h:11", 12},
		{"version 1", "1 77 10\n3 1001.a.h\n5 1002.b.h\n", 77, "1001.a.h:3 1002.b.h:5 900.d.h:10 1003.c.h:11", 12},
		{"garbage", "garbage\n3 :1001.a.h\n", 0, "900.d.h:1 1001.a.h:2 1002.b.h:3 1003.c.h:4", 5},
		{"empty", "", 0, "900.d.h:1 1001.a.h:2 1002.b.h:3 1003.c.h:4", 5},
		{"uid above next", "3 V77 N10\n3 :1001.a.h\n15 :1002.b.h\n", 77, "1001.a.h:3 1002.b.h:15 900.d.h:16 1003.c.h:17", 18},
		{"next below", "3 V77 N2\n3 :1001.a.h\n5 :1002.b.h\n", 77, "1001.a.h:3 1002.b.h:5 900.d.h:6 1003.c.h:7", 8},
		{"flags, CRLF", "3 V77 N10\r\n3 :1001.a.h:2,S\r\n5 :1002.b.h:2,\r\n", 77, "1001.a.h:3 1002.b.h:5 900.d.h:10 1003.c.h:11", 12},
		{"bad lines", "3 V77 N10\nx\n\n 3 :q\n99999999999 :1003.c.h\n4294967295 :1003.c.h\n3 :1001.a.h\n3 :1003.c.h\n", 77, "1001.a.h:3 900.d.h:10 1002.b.h:11 1003.c.h:12", 13},
		{"no UIDs left", "3 V77 N4294967294\n3 :1001.a.h\n", 0, "900.d.h:1 1001.a.h:2 1002.b.h:3 1003.c.h:4", 5},
	} {
		t.Run(c.what, func(t *testing.T) {
			md := makeMaildir(t, names...)
			if err := os.WriteFile(filepath.Join(md, "dovecot-uidlist"), []byte(c.list), 0o600); err != nil {
				t.Fatal(err)
			}
			want := map[string]uint32{}
			for rest := c.uids; rest != ""; {
				var pair string
				fmt.Sscan(rest, &pair)
				rest = rest[min(len(pair)+1, len(rest)):]
				i := len(pair) - 1
				for pair[i] != ':' {
					i--
				}
				var u uint32
				fmt.Sscan(pair[i+1:], &u)
				want[pair[:i]] = u
			}
			idx := t.TempDir()
			for range 2 { // the second time from our own files
				b, got := syncUIDs(t, md, idx)
				h := b.Header()
				if !maps.Equal(got, want) || h.UIDNext != c.next || (c.validity != 0) != (h.UIDValidity == 77) {
					t.Fatalf("got %v next %d validity %d, want %v %d %d", got, h.UIDNext, h.UIDValidity, want, c.next, c.validity)
				}
			}
		})
	}
}

func TestSharedUIDLists(t *testing.T) {
	root := shared("cases")
	if root == "" {
		t.Skip("the shared cases are not here")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "U*", "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range dirs {
		var e struct {
			ID     string
			Checks []struct {
				Op, Dir string
				Expect  json.RawMessage
			}
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Checks {
			if c.Op != "uidlist-sync" {
				continue
			}
			var want struct {
				UIDValidity any
				UIDs        map[string]uint32
				UIDNext     uint32
			}
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			t.Run(e.ID, func(t *testing.T) {
				md := filepath.Join(t.TempDir(), "m")
				if err := os.CopyFS(md, os.DirFS(filepath.Join(filepath.Dir(name), c.Dir))); err != nil {
					t.Fatal(err)
				}
				for _, d := range []string{"cur", "new", "tmp"} {
					os.MkdirAll(filepath.Join(md, d), 0o700)
				}
				idx := t.TempDir()
				for range 2 {
					b, got := syncUIDs(t, md, idx)
					h := b.Header()
					if !maps.Equal(got, want.UIDs) || h.UIDNext != want.UIDNext {
						t.Fatalf("got %v next %d, want %v %d", got, h.UIDNext, want.UIDs, want.UIDNext)
					}
					if v, ok := want.UIDValidity.(float64); ok && h.UIDValidity != uint32(v) || !ok && h.UIDValidity <= 1000000 {
						t.Fatalf("uidvalidity %d, want %v", h.UIDValidity, want.UIDValidity)
					}
				}
			})
		}
	}
}

func FuzzParseUIDList(f *testing.F) {
	f.Add([]byte("3 V77 N10 G0\n3 :1001.a.h\n5 W1 :1002.b.h\n"))
	f.Add([]byte("1 77 10\n3 1001.a.h\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := index.ParseUIDList(b)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		var last uint32
		for _, e := range u.Entries {
			if e.UID <= last || e.UID >= u.UIDNext || seen[e.Key] || e.Key == "" {
				t.Fatalf("%+v", u)
			}
			last, seen[e.Key] = e.UID, true
		}
	})
}
