package conform

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/maildir"
)

type dirKeys struct {
	Dir     string
	Options struct {
		Separator string `json:"info_separator"`
	}
}

// maildirOf copies the case's maildir and reads its options.
func maildirOf(t *testing.T, c *check) (path string, o maildir.Options) {
	t.Helper()
	var k dirKeys
	c.decode(t, &k)
	path = copyTree(t, filepath.Join(c.Dir, cmp.Or(k.Dir, "maildir")))
	if s := k.Options.Separator; s != "" {
		o.Separator = s[0]
	}
	return path, o
}

func runMaildirScan(t *testing.T, c *check) {
	path, o := maildirOf(t, c)
	// M06: git keeps no empty directory, so the case asks for one.
	if strings.HasPrefix(filepath.Base(c.Dir), "M06") {
		if err := os.Mkdir(filepath.Join(path, "cur", "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var s maildir.Scan
	if err := s.Read(path, o); err != nil {
		t.Fatal(err)
	}
	letters, err := maildir.Keywords(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := maildir.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []map[string]any
	for i := range s.Entries {
		e := &s.Entries[i]
		size, _, err := r.Stat(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, map[string]any{
			"dir": dirName(e.Dir), "file": e.File, "base": e.Base, "flags": strings.ReplaceAll(e.Flags.String(), "P", ""), // the cases know D, F, R, S and T
			"keywords": strings.Join(maildir.KeywordNames(e.Keywords, letters), " "), "size": float64(size),
		})
	}
	slices.SortFunc(got, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(a["dir"].(string), b["dir"].(string)), cmp.Compare(a["file"].(string), b["file"].(string)))
	})
	c.accept(t, got, func(_, want any) bool {
		entries, ok := want.([]any)
		if !ok || len(entries) != len(got) {
			return false
		}
		for i, e := range entries {
			if !subset(got[i], e.(map[string]any)) {
				return false
			}
		}
		return true
	})
}

func dirName(d maildir.Dir) string {
	if d == maildir.New {
		return "new"
	}
	return "cur"
}

// runMaildirSizes: the S= and W= values of each name.
func runMaildirSizes(t *testing.T, c *check) {
	path, o := maildirOf(t, c)
	var s maildir.Scan
	if err := s.Read(path, o); err != nil {
		t.Fatal(err)
	}
	claimed := map[string]map[string]any{}
	for _, e := range s.Entries {
		v := map[string]any{}
		for key, n := range map[string]int64{"S": e.Size, "W": e.VSize} {
			v[key] = nil
			if n >= 0 {
				v[key] = float64(n)
			}
			v[strings.ToLower(key)] = v[key]
		}
		v["size"], v["vsize"] = v["S"], v["W"]
		v["file"], v["base"] = e.File, e.Base
		claimed[e.File], claimed[e.Base] = v, v
	}
	c.accept(t, claimed, func(_, want any) bool {
		switch want := want.(type) {
		case map[string]any: // by name
			for name, w := range want {
				w, ok := w.(map[string]any)
				if !ok || claimed[name] == nil || !subset(claimed[name], w) {
					return false
				}
			}
			return len(want) == len(s.Entries)
		case []any: // a list
			for _, w := range want {
				w, ok := w.(map[string]any)
				name, _ := cmp.Or(w["file"], w["base"]).(string)
				if !ok || claimed[name] == nil || !subset(claimed[name], w) {
					return false
				}
			}
			return len(want) == len(s.Entries)
		}
		return false
	})
}

// runMaildirRead: the real size and CRLF size of each message, whatever its
// name claims.
func runMaildirRead(t *testing.T, c *check) {
	path, o := maildirOf(t, c)
	var s maildir.Scan
	if err := s.Read(path, o); err != nil {
		t.Fatal(err)
	}
	if len(s.Entries) == 0 {
		t.Fatal("no message")
	}
	r, err := maildir.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range s.Entries {
		size, vsize, err := r.Sizes(&s.Entries[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.ReadAll(&s.Entries[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(b)) != size || crlfSize(b) != vsize {
			t.Errorf("%s: read %d (%d with CRLF), Sizes says %d and %d", s.Entries[i].File, len(b), crlfSize(b), size, vsize)
		}
		c.accept(t, map[string]any{"size": size, "vsize": vsize}, nil)
	}
}

func runMaildirMoveNew(t *testing.T, c *check) {
	path, o := maildirOf(t, c)
	if _, err := maildir.MoveNew(path, o); err != nil {
		t.Fatal(err)
	}
	c.accept(t, map[string]any{"cur": names(t, filepath.Join(path, "cur")), "new": names(t, filepath.Join(path, "new"))}, nil)
}

func runMaildirFolders(t *testing.T, c *check) {
	path, o := maildirOf(t, c)
	folders, err := maildir.Folders(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range folders {
		var s maildir.Scan
		if err := s.Read(f.Path, o); err != nil {
			t.Fatal(err)
		}
		got[f.Name] = len(s.Entries)
	}
	c.accept(t, got, nil)
}
