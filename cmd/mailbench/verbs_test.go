//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mailbench/internal/temp"
)

// verbs are all commands with arguments that work, PATH for a maildir.
var verbs = []struct {
	verb string
	args []string
}{
	{"thread", []string{"PATH"}},
	{"sort", []string{"-keys", "reverse date", "PATH"}},
	{"select", []string{"PATH"}},
	{"explain", []string{"PATH"}},
	{"index build", []string{"PATH"}},
	{"index info", []string{"PATH"}},
	{"index check", []string{"PATH"}},
	{"index compact", []string{"PATH"}},
	{"corpus generate", []string{"synthetic:5", "NEW"}},
	{"corpus info", []string{"PATH"}},
	{"corpus import", []string{"PATH", "NEW"}},
	{"floors", []string{"-n", "1", "PATH"}},
	{"plan", []string{"-corpus", "PATH"}},
	{"verify", []string{"PATH"}},
}

// command fills in the paths.
func command(verb string, args []string, path, fresh string) []string {
	out := strings.Fields(verb)
	for _, a := range args {
		switch a {
		case "PATH":
			a = path
		case "NEW":
			a = fresh
		}
		out = append(out, a)
	}
	return out
}

// TestHelp holds that every verb explains itself with an example, and that the
// example runs.
func TestHelp(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	must(t, "index", "build", md)
	if got := must(t, "--help"); !strings.Contains(got, "explain") || !strings.Contains(got, "plan") {
		t.Errorf("--help: %s", got)
	}
	for i, v := range append(verbs, verbs[0:0]...) {
		t.Run(v.verb, func(t *testing.T) {
			got := must(t, append(strings.Fields(v.verb), "--help")...)
			_, example, ok := strings.Cut(got, "Example: mailbench "+v.verb)
			if !ok {
				t.Fatalf("no example in\n%s", got)
			}
			example, _, _ = strings.Cut(v.verb+example, "\n")
			args := fields(example)
			for j, a := range args {
				switch {
				case a == "17" || a == "42": // UIDs
					args[j] = "1"
				case strings.HasPrefix(a, "synthetic:"):
					args[j] = "synthetic:20"
				case v.verb != "plan" && j == len(args)-1 && strings.HasPrefix(v.verb, "corpus") && v.verb != "corpus info":
					args[j] = filepath.Join(dir, "made"+itoa(i))
				case strings.ContainsAny(a, "/.") && !strings.HasPrefix(a, "-"):
					args[j] = md
				}
			}
			must(t, args...)
		})
	}
	for _, group := range []string{"index", "corpus"} {
		if got := must(t, group); got != must(t, group, "--help") || !strings.Contains(got, "Example: mailbench "+group) {
			t.Errorf("%s alone: %s", group, got)
		}
	}
}

// fields splits a command line at spaces outside double quotes.
func fields(line string) []string {
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// TestUnusable holds that arguments and input that cannot be used give one
// line on the standard error, nothing on the standard output, and exit code 2.
func TestUnusable(t *testing.T) {
	dir := home(t)
	all := boxes(t, dir)
	md, mbox := all[0].path, all[1].path
	empty := filepath.Join(dir, "empty")
	mkdir(t, empty)
	broken := filepath.Join(dir, "broken.zst")
	writeFile(t, broken, []byte("(\xb5/\xfd...."))
	for _, c := range []struct {
		args string // PATH, MBOX, EMPTY, BROKEN for the files
		want string
	}{
		{"nope", `no command "nope"`},
		{"-x", "-x"},
		{"thread", "want one PATH"},
		{"thread PATH PATH", "want one PATH, got 2"},
		{"thread PATH -alg refs", "flags stand before the PATH"},
		{"thread -nope PATH", "-nope"},
		{"thread -alg x PATH", `"x"`},
		{"thread -alg", "flag needs an argument"},
		{"thread -search x PATH", "-search x"},
		{"thread -design x PATH", `no design "x" (there are column, `},
		{"thread -compat x PATH", "-compat x"},
		{"thread -fields x PATH", "-fields x"},
		{"thread -answers x PATH", "-answers x"},
		{"thread -dialect x MBOX", `"x"`},
		{"thread -uidlist /nonexistent PATH", "/nonexistent"},
		{"thread -index-dir /proc/nowhere PATH", "/proc/nowhere"},
		{"thread -index-dir PATH PATH", "lies inside the mail"},
		{"thread -index-dir PATH/tmp/x PATH", "lies inside the mail"},
		{"thread /nonexistent", "/nonexistent"},
		{"thread EMPTY", "EMPTY"},
		{"thread BROKEN", "BROKEN"},
		{"thread /dev/null", "/dev/null"},
		{"sort -keys bogus PATH", `"bogus"`},
		{"sort -keys reverse PATH", "reverse"},
		{"sort", "want one PATH"},
		{"select /nonexistent", "/nonexistent"},
		{"explain", "want a PATH"},
		{"explain /nonexistent", "/nonexistent"},
		{"explain PATH x", `"x" is no UID`},
		{"explain PATH 0", `"0" is no UID`},
		{"explain PATH -1", `"-1" is no UID`},
		{"explain PATH 99999999999", "is no UID"},
		{"index nope PATH", `no subcommand "nope"`},
		{"index build", "want one PATH"},
		{"index check PATH", "no index of"},
		{"corpus generate synthetic:5", "want SPEC and PATH"},
		{"corpus generate nonsense NEW", "nonsense"},
		{"corpus generate -format x synthetic:5 NEW", "-format x"},
		{"corpus generate synthetic:5 PATH", "exists"},
		{"corpus import PATH", "want PATH and MAILDIR"},
		{"corpus import PATH PATH", "inside the mail"},
		{"corpus import /nonexistent NEW", "/nonexistent"},
		{"corpus info /nonexistent", "/nonexistent"},
		{"corpus info synthetic:x", "synthetic:x"},
		{"floors MBOX", "want a maildir"},
		{"floors", "want one PATH"},
		{"floors -n x PATH", "-n"},
		{"plan -corpus /nonexistent", "/nonexistent"},
		{"plan -corpus synthetic:0", "no messages"},
		{"plan -corpus EMPTY", "EMPTY"},
		{"plan -rows x", "-rows x"},
		{"plan -designs x", `no design "x"`},
		{"plan -samples x", "-samples"},
		{"plan -samples -2", "want a number from 1"},
		{"plan PATH", "unexpected"},
		{"verify", "want one PATH"},
		{"verify /nonexistent", "/nonexistent"},
		{"verify EMPTY", "EMPTY"},
		{"verify synthetic:x", "synthetic:x"},
		{"verify -oracle x PATH", "-oracle x"},
		{"verify -system x PATH", "want NAME=COMMAND"},
		{"verify -design x PATH", `no design "x"`},
		{"verify -clone x PATH", "-clone"},
		{"verify -bin /nonexistent PATH", "/nonexistent"},
	} {
		names := strings.NewReplacer("PATH", md, "MBOX", mbox, "EMPTY", empty, "BROKEN", broken, "NEW", filepath.Join(dir, "new"))
		got := mailbench(t, strings.Fields(names.Replace(c.args))...)
		want := names.Replace(c.want)
		if strings.Contains(c.want, "PATH") {
			want = c.want
		}
		if strings.HasPrefix(c.args, "thread BROKEN") { // nothing of it can be read
			got.out = strings.TrimPrefix(got.out, "* THREAD\n")
		}
		if got.code != 2 || got.out != "" || strings.Count(got.errs, "\n") != 1 || !strings.HasPrefix(got.errs, "mailbench: ") || !strings.Contains(got.errs, want) {
			t.Errorf("%s: exit code %d, standard output %q, standard error %q; want %q", c.args, got.code, got.out, got.errs, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a refused command made its output")
	}
}

// TestDamaged holds that what can be read of a cut file is answered, with the
// damage told and an exit code of 2.
func TestDamaged(t *testing.T) {
	dir := home(t)
	for _, b := range boxes(t, dir)[2:] {
		data, err := os.ReadFile(b.path)
		if err != nil {
			t.Fatal(err)
		}
		cut := filepath.Join(dir, "cut-"+b.name)
		writeFile(t, cut, data[:len(data)-9])
		got := mailbench(t, "thread", cut)
		if got.code != 2 || !strings.Contains(got.errs, "cut-"+b.name) || strings.Count(got.errs, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q", b.name, got.code, got.out, got.errs)
		}
	}
}

// TestMail_isNeverTouched runs every verb on a maildir and on files, and
// compares all that stat tells before and after.
func TestMail_isNeverTouched(t *testing.T) {
	dir := home(t)
	for _, b := range boxes(t, dir) {
		t.Run(b.name, func(t *testing.T) {
			before := snapshot(t, b.path)
			for i, v := range verbs {
				if v.verb == "floors" && b.mbox {
					continue
				}
				for _, design := range []string{"column", "scan"} {
					args := command(v.verb, v.args, b.path, filepath.Join(dir, "new", fmt.Sprint(b.name, i, design)))
					if !strings.HasPrefix(v.verb, "corpus") && v.verb != "floors" && v.verb != "plan" {
						at := len(strings.Fields(v.verb))
						args = append(append(append([]string{}, args[:at]...), "-design", design), args[at:]...)
					}
					must(t, args...)
				}
			}
			if after := snapshot(t, b.path); !reflect.DeepEqual(before, after) {
				for path, was := range before {
					if after[path] != was {
						t.Errorf("%s was\n%s, is\n%s", path, was, after[path])
					}
				}
				for path := range after {
					if before[path] == "" {
						t.Errorf("%s is new", path)
					}
				}
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "cache/mailbench/tmp/*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestIndex_roundTrip builds, describes, checks, damages, finds the damage,
// repairs and compacts.
func TestIndex_roundTrip(t *testing.T) {
	dir := home(t)
	for _, b := range boxes(t, dir)[:2] {
		for _, design := range []string{"column", "scan"} {
			t.Run(b.name+" "+design, func(t *testing.T) {
				where := filepath.Join(dir, "index", b.name, design)
				ix := func(verb string) result {
					return mailbench(t, "index", verb, "-design", design, "-index-dir", where, b.path)
				}
				if got := ix("check"); got.code != 2 || !strings.Contains(got.errs, "no index") {
					t.Errorf("check before build: %+v", got)
				}
				for _, verb := range []string{"build", "info", "compact", "info"} {
					if got := ix(verb); got.code != 0 || verb != "compact" && !strings.Contains(got.out, "\nmessages 4\n") {
						t.Fatalf("%s: %+v", verb, got)
					}
				}
				if got := ix("info"); !strings.Contains(got.out, fmt.Sprintf(" %d ", totalBytes(t, where))) {
					t.Errorf("info does not sum to the %d bytes on disk:\n%s", totalBytes(t, where), got.out)
				}
				for range 2 {
					if got := ix("check"); got.code != 0 || got.out != "no inconsistency\n" {
						t.Fatalf("check: %+v", got)
					}
				}
				if !b.mbox { // a log of changes
					old := filepath.Join(b.path, "cur", name(1)+":2,"+flags[1])
					if err := os.Rename(old, old+"T"); err != nil {
						t.Fatal(err)
					}
					defer os.Rename(old+"T", old)
					if got := ix("build"); got.code != 0 {
						t.Fatalf("build after a change: %+v", got)
					}
					if _, err := os.Stat(filepath.Join(where, "mailbench.log")); design == "column" && err != nil {
						t.Error(err)
					}
				}
				damage(t, design, where, ix)
				if got := must(t, "thread", "-design", design, "-index-dir", where, b.path); got != answerThread {
					t.Errorf("thread: %q", got)
				}
			})
		}
	}
}

// damage flips a byte of each file, one after the other. A design that
// promises to detect damage must find it, and no answer may be wrong.
func damage(t *testing.T, design, where string, ix func(string) result) {
	t.Helper()
	files, err := os.ReadDir(where)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 7))
	// The log first: a repair of anything else ends it.
	if i := slices.IndexFunc(files, func(f os.DirEntry) bool { return f.Name() == "mailbench.log" }); i > 0 {
		files[0], files[i] = files[i], files[0]
	}
	for _, f := range files {
		path := filepath.Join(where, f.Name())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if len(whole) == 0 {
				break
			}
			bad := append([]byte{}, whole...)
			at := r.IntN(len(bad))
			bad[at] ^= 1 << r.IntN(8)
			writeFile(t, path, bad)
			got := ix("check")
			if design == "column" && (got.code != 1 || got.out == "" || strings.Contains(got.out, "no inconsistency") || got.errs != "") {
				t.Errorf("byte %d of %s flipped: %+v", at, f.Name(), got)
			}
			if got.code != 0 && got.code != 1 {
				t.Errorf("byte %d of %s flipped: exit code %d, %q", at, f.Name(), got.code, got.errs)
			}
		}
		writeFile(t, path, whole)
		if got := ix("check"); got.code != 0 {
			t.Fatalf("%s is whole again: %+v", f.Name(), got)
		}
		if design == "column" { // the next build repairs it
			writeFile(t, path, whole[:len(whole)/2])
			if got := ix("build"); got.code != 0 {
				t.Errorf("build on a cut %s: %+v", f.Name(), got)
			}
			if got := ix("check"); got.code != 0 {
				t.Errorf("after it: %+v", got)
			}
		}
	}
}

func totalBytes(t *testing.T, dir string) int64 {
	t.Helper()
	set, err := temp.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set.Bytes()
}
