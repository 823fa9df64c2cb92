package maildir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared finds the folder of cases beside the repository; "" if there is none.
func shared() string {
	if dir := os.Getenv("MAILBENCH_SHARED"); dir != "" {
		return dir
	}
	for _, up := range []string{"../shared", "../../shared", "../../../shared"} {
		if st, err := os.Stat(filepath.Join(up, "cases")); err == nil && st.IsDir() {
			return up
		}
	}
	return ""
}

type scanCase struct {
	Dir, File, Base, Flags, Keywords string
	Size                             *int64
}

// TestCases runs the cases of public fault reports that concern this package.
func TestCases(t *testing.T) {
	dir := shared()
	if dir == "" {
		t.Log("no shared/cases here; the tables of this package cover the same kinds")
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*", "expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	ran := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			ID     string
			Checks []struct {
				Op, Dir string
				Options struct {
					Separator string `json:"info_separator"`
				}
				Expect json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, check := range c.Checks {
			if !strings.HasPrefix(check.Op, "maildir-") {
				continue
			}
			t.Run(c.ID+"/"+check.Op, func(t *testing.T) {
				box := t.TempDir()
				if err := os.CopyFS(box, os.DirFS(filepath.Join(filepath.Dir(file), check.Dir))); err != nil {
					t.Fatal(err)
				}
				for _, sub := range []string{"cur/sub", "new", "tmp"} { // cur/sub: see M06
					if err := os.MkdirAll(filepath.Join(box, sub), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				var o Options
				if s := check.Options.Separator; s != "" {
					o.Separator = s[0]
				}
				switch check.Op {
				case "maildir-scan":
					caseScan(t, box, o, check.Expect)
				case "maildir-sizes":
					caseSizes(t, box, o, check.Expect)
				case "maildir-read":
					caseRead(t, box, o, check.Expect)
				case "maildir-move-new":
					caseMoveNew(t, box, o, check.Expect)
				case "maildir-folders":
					caseFolders(t, box, o, check.Expect)
				case "maildir-race", "maildir-steps":
					return // UIDs: package index runs these
				default:
					t.Fatalf("unknown operation %q", check.Op)
				}
				ran++
			})
		}
	}
	if ran < 8 {
		t.Errorf("only %d checks were run", ran)
	}
}

func want[T any](t *testing.T, expect json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(expect, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func caseScan(t *testing.T, box string, o Options, expect json.RawMessage) {
	var s Scan
	if err := s.Read(box, o); err != nil {
		t.Fatal(err)
	}
	names, err := Keywords(box)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(box, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	entries := want[[]scanCase](t, expect)
	slices.SortFunc(s.Entries, func(a, b Entry) int {
		return strings.Compare(a.Dir.String()+"/"+a.File, b.Dir.String()+"/"+b.File)
	})
	slices.SortFunc(entries, func(a, b scanCase) int { return strings.Compare(a.Dir+"/"+a.File, b.Dir+"/"+b.File) })
	if len(entries) != len(s.Entries) {
		t.Fatalf("%d entries, want %d", len(s.Entries), len(entries))
	}
	for i, w := range entries {
		e := s.Entries[i]
		// Passed is no IMAP flag; the cases list those that are.
		flags := (e.Flags &^ FlagPassed).String()
		got := scanCase{e.Dir.String(), e.File, e.Base, flags, strings.Join(KeywordNames(e.Keywords, names), " "), w.Size}
		if got != w {
			t.Errorf("got  %+v\nwant %+v", got, w)
		}
		if size, _, err := r.Stat(&e); err != nil || w.Size != nil && size != *w.Size {
			t.Errorf("%s: size %d, %v", e.File, size, err)
		}
	}
}

func caseSizes(t *testing.T, box string, o Options, expect json.RawMessage) {
	for file, w := range want[map[string]map[string]*int64](t, expect) {
		n := Parse(file, o)
		for key, got := range map[string]int64{"S": n.Size, "W": n.VSize} {
			if v := w[key]; v == nil && got != -1 || v != nil && got != *v {
				t.Errorf("%s: %s=%d, want %v", file, key, got, v)
			}
		}
	}
}

func caseRead(t *testing.T, box string, o Options, expect json.RawMessage) {
	w := want[struct{ Size, VSize int64 }](t, expect)
	var s Scan
	if err := s.Read(box, o); err != nil {
		t.Fatal(err)
	}
	r, err := Open(box, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range s.Entries {
		size, vsize, err := r.Sizes(&s.Entries[i], nil)
		if err != nil || size != w.Size || vsize != w.VSize {
			t.Errorf("%s: %d, %d, %v; want %+v", s.Entries[i].File, size, vsize, err, w)
		}
	}
}

func caseMoveNew(t *testing.T, box string, o Options, expect json.RawMessage) {
	if _, err := MoveNew(box, o); err != nil {
		t.Fatal(err)
	}
	w := want[struct{ Cur, New []string }](t, expect)
	var s Scan
	if err := s.Read(box, o); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range w.Cur {
		names = append(names, "cur/"+n)
	}
	for _, n := range w.New {
		names = append(names, "new/"+n)
	}
	slices.Sort(names)
	if got := listed(&s); !slices.Equal(got, names) {
		t.Errorf("got %q, want %q", got, names)
	}
}

func caseFolders(t *testing.T, box string, o Options, expect json.RawMessage) {
	w := want[map[string]int](t, expect)
	folders, err := Folders(box)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		var s Scan
		if err := s.Read(f.Path, o); err != nil {
			t.Fatal(err)
		}
		if n, ok := w[f.Name]; !ok || n != len(s.Entries) {
			t.Errorf("folder %q: %d messages, want %d (%v)", f.Name, len(s.Entries), n, ok)
		}
		delete(w, f.Name)
	}
	if len(w) > 0 {
		t.Errorf("not found: %v", w)
	}
}
