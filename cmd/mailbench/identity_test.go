//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two mailboxes cannot share an -index-dir; one that was moved keeps its own.
func TestIdentity(t *testing.T) {
	dir := home(t)
	ix := filepath.Join(dir, "ix")
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, md := range []string{a, b} {
		mkdir(t, filepath.Join(md, "cur"))
		writeFile(t, filepath.Join(md, "cur", "1.x:2,"), []byte("Subject: s\n\n"))
	}
	must(t, "thread", "-index-dir", ix, a)
	before := contents(t, ix)
	for _, args := range [][]string{{"thread"}, {"select", "-json"}, {"index", "build"}, {"index", "check"}, {"index", "info"}, {"thread", "-design", "scan"}} {
		got := mailbench(t, append(args, "-index-dir", ix, b)...)
		if got.code != 2 || got.out != "" || strings.Count(got.errs, "\n") != 1 || !strings.Contains(got.errs, "holds the index of "+a+", not of "+b) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if after := contents(t, ix); after != before {
		t.Errorf("the index has changed from\n%s to\n%s", before, after)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	must(t, "thread", "-index-dir", ix, link)
	if err := os.Rename(a, a+"2"); err != nil {
		t.Fatal(err)
	}
	must(t, "thread", "-index-dir", ix, a+"2")
	if got := must(t, "index", "check", "-index-dir", ix, a+"2"); got != "no inconsistency\n" {
		t.Error(got)
	}
	// An index of before there were identities gets one.
	if err := os.Remove(filepath.Join(ix, identityFile)); err != nil {
		t.Fatal(err)
	}
	must(t, "index", "check", "-index-dir", ix, b)
	must(t, "thread", "-index-dir", ix, a+"2")
	if got := mailbench(t, "thread", "-index-dir", ix, b); got.code != 2 {
		t.Errorf("%+v", got)
	}
}

// Two designs cannot share an -index-dir either: their files have the same
// names. What looks says that there is no such index.
func TestIdentity_design(t *testing.T) {
	dir := home(t)
	ix, md := filepath.Join(dir, "ix"), boxes(t, dir)[0].path
	must(t, "thread", "-design", "linked", "-index-dir", ix, md)
	before := contents(t, ix)
	for _, c := range []struct{ args, want string }{
		{"index check", "no index of design scan in " + ix}, {"index info", "no index of design scan in " + ix},
		{"index compact", "no index of design scan in " + ix}, {"index build", ix + " holds an index of design linked"},
		{"thread", ix + " holds an index of design linked"}, {"sort", ix + " holds an index of design linked"},
	} {
		got := mailbench(t, append(strings.Fields(c.args), "-design", "scan", "-index-dir", ix, md)...)
		if got.code != 2 || got.out != "" || strings.Count(got.errs, "\n") != 1 || !strings.Contains(got.errs, c.want) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	if after := contents(t, ix); after != before {
		t.Errorf("the index has changed from\n%s to\n%s", before, after)
	}
	// An identity of before it told the design, and none at all.
	a, ok, err := readIdentity(ix)
	if err != nil || !ok || a.design != "linked" {
		t.Fatalf("%+v, %v, %v", a, ok, err)
	}
	a.design = ""
	writeFile(t, filepath.Join(ix, identityFile), []byte(a.text()))
	must(t, "index", "check", "-design", "linked", "-index-dir", ix, md)
	for range 2 {
		if got := mailbench(t, "index", "check", "-design", "scan", "-index-dir", ix, md); got.code != 2 || !strings.Contains(got.errs, "no index of design scan in "+ix) {
			t.Errorf("%+v", got)
		}
		os.Remove(filepath.Join(ix, identityFile))
	}
}

// index info, check and compact name themselves as they were called.
func TestIndex_hint(t *testing.T) {
	home(t)
	for _, args := range [][]string{{"index", "info"}, {"index", "check", "-x", "y"}, {"corpus", "info"}} {
		name := args[0] + " " + args[1]
		if got := mailbench(t, args...); got.code != 2 || !strings.HasPrefix(got.errs, "mailbench: "+name+": ") || !strings.Contains(got.errs, "(see mailbench "+name+" --help)") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// index info, check and compact want an index. The first two only look: they
// make no directory and repair nothing, and say the same thing once.
func TestIndex_onlyLooks(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	ix := filepath.Join(dir, "ix")
	for _, verb := range []string{"check", "info", "compact"} {
		for _, more := range [][]string{{"-index-dir", ix}, nil} {
			got := mailbench(t, append(append([]string{"index", verb}, more...), md)...)
			if got.code != 2 || !strings.Contains(got.errs, "no index of "+md) {
				t.Errorf("%s: %+v", verb, got)
			}
		}
	}
	if _, err := os.Lstat(ix); err == nil {
		t.Error("the directory was made")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "cache/mailbench/index/*")); len(left) > 0 {
		t.Errorf("%q", left)
	}
	must(t, "index", "build", "-index-dir", ix, md)
	for _, file := range []string{"mailbench.index", "mailbench.cache"} {
		name := filepath.Join(ix, file)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{20, 4100} {
			bad := append([]byte(nil), whole...)
			bad[at] ^= 1
			writeFile(t, name, bad)
			before := contents(t, ix)
			for _, verb := range []string{"check", "info"} {
				got := mailbench(t, "index", verb, "-index-dir", ix, md)
				if verb == "info" && got.code == 2 { // nothing of it can be opened
					continue
				}
				told := got.out
				if verb == "info" {
					told = got.errs
				}
				seen := map[string]bool{}
				for line := range strings.Lines(told) {
					if seen[line] {
						t.Errorf("%s of %s, byte %d: twice %q", verb, file, at, line)
					}
					seen[line] = true
				}
				if got.code != 1 || len(seen) == 0 {
					t.Errorf("%s of %s, byte %d: %+v", verb, file, at, got)
				}
			}
			if after := contents(t, ix); after != before {
				t.Errorf("%s, byte %d: the index has changed", file, at)
			}
			writeFile(t, name, whole)
		}
	}
}

// Names that are not UTF-8 stay apart in JSON.
func TestSelect_jsonOddNames(t *testing.T) {
	dir := home(t)
	md := filepath.Join(dir, "md")
	mkdir(t, filepath.Join(md, "cur"))
	for _, n := range []string{"1.\xff:2,S", "1.\xfe:2,F", "2.ok:2,"} {
		if err := os.WriteFile(filepath.Join(md, "cur", n), []byte("\n"), 0o600); err != nil {
			t.Skip("the file system takes no such names: ", err)
		}
	}
	x := objects(t, must(t, "select", "-json", md))[0]
	flags := x["flags"].(map[string]any)
	if len(flags) != 3 || flags["b64:MS7/"] != "S" || flags["b64:MS7+"] != "F" || flags["2.ok"] != "" {
		t.Errorf("flags %v", flags)
	}
	names := map[any]bool{}
	for _, row := range x["uids"].([]any) {
		name := row.([]any)[1]
		if o, ok := name.(map[string]any); ok {
			name = o["b64"]
		}
		names[name] = true
	}
	if len(names) != 3 || !names["MS7/"] || !names["2.ok"] {
		t.Errorf("names %v", names)
	}
	for _, x := range explained(t, md) {
		if o, ok := x["key"].(map[string]any); x["key"] != "2.ok" && (!ok || !names[o["b64"]]) {
			t.Errorf("explain: key %v", x["key"])
		}
	}
}

// contents is every file of dir with its bytes and time.
func contents(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %v %x\n", f.Name(), info.ModTime(), b)
	}
	return out.String()
}
