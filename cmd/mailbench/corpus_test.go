//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/internal/temp"
)

func TestCorpus_generate(t *testing.T) {
	dir := home(t)
	md, mb := filepath.Join(dir, "md"), filepath.Join(dir, "list.mbox")
	made := must(t, "corpus", "generate", "synthetic:300,seed=4", md)
	if !strings.Contains(made, "\nmessages 300\n") || !strings.Contains(made, "\ndigest ") {
		t.Errorf("generate: %q", made)
	}
	must(t, "corpus", "generate", "-format", "mbox", "synthetic:300,seed=4", mb)
	again := filepath.Join(dir, "again.mbox")
	must(t, "corpus", "generate", "-format=mbox", "synthetic:300,seed=4", again)
	a, err := os.ReadFile(mb)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(again); err != nil || string(a) != string(b) {
		t.Errorf("the same spec gave other bytes: %v", err)
	}
	// The same mail in both forms, and in the form made from the other.
	imported := filepath.Join(dir, "imported")
	if got := must(t, "corpus", "import", mb, imported); got != "300 messages\n" {
		t.Errorf("import: %q", got)
	}
	for _, args := range [][]string{{"thread"}, {"thread", "-alg", "orderedsubject"}, {"sort", "-keys", "subject"}, {"sort", "-keys", "size"}} {
		want := must(t, append(args, mb)...)
		if got := must(t, append(args, imported)...); got != want {
			t.Errorf("%q: the imported maildir gives %.200q, the mbox %.200q", args, got, want)
		}
		if got := must(t, append(args, md)...); args[0] == "thread" && got != want {
			t.Errorf("%q: the maildir gives %.200q, the mbox %.200q", args, got, want)
		}
	}
}

// The form follows the name of the file, unless -format says.
func TestCorpus_generateByName(t *testing.T) {
	dir := home(t)
	want := ""
	for _, name := range []string{"a.mbox", "b.mbox.gz", "c.MBOX.zst", "d.zst"} {
		path := filepath.Join(dir, name)
		must(t, "corpus", "generate", "synthetic:50", path)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			t.Fatalf("%s: %v, %v", name, info, err)
		}
		got := must(t, "thread", path)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: %.100q, want %.100q", name, got, want)
		}
	}
	plain, err := os.Stat(filepath.Join(dir, "a.mbox"))
	if err != nil {
		t.Fatal(err)
	}
	if packed, err := os.Stat(filepath.Join(dir, "c.MBOX.zst")); err != nil || packed.Size() > plain.Size()/2 {
		t.Errorf("%v, %v: not compressed", packed, err)
	}
	for name, format := range map[string]string{"e.mbox": "maildir", "f": ""} {
		args := []string{"corpus", "generate"}
		if format != "" {
			args = append(args, "-format", format)
		}
		must(t, append(args, "synthetic:50", filepath.Join(dir, name))...)
		if info, err := os.Stat(filepath.Join(dir, name, "cur")); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if got := mailbench(t, "corpus", "generate", "-format", "mh", "synthetic:5", filepath.Join(dir, "g")); got.code != 2 || !strings.Contains(got.errs, "want maildir or mbox") {
		t.Errorf("%+v", got)
	}
}

func TestCorpus_info(t *testing.T) {
	dir := home(t)
	for _, b := range boxes(t, dir) {
		got := must(t, "corpus", "info", b.path)
		for _, word := range []string{"messages", "header", "References"} {
			if !strings.Contains(got, word) {
				t.Errorf("%s: no %q in\n%s", b.name, word, got)
			}
		}
	}
	if got := must(t, "corpus", "info", "synthetic:30"); !strings.Contains(got, "30") {
		t.Errorf("of a spec:\n%s", got)
	}
}

func TestFloors(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	got := must(t, "floors", "-n", "2", "-scratch", dir, md)
	for _, word := range []string{"readdir", "open, read header, close", "radix sort", "hash join", "format UIDs", "fsync", "fdatasync"} {
		if !strings.Contains(got, word) {
			t.Errorf("no %q in\n%s", word, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "floor-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A place in memory is refused as by the run, and so is a number of runs that
// is none; -options are looked at.
func TestPlan_refuses(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	for _, c := range []struct{ args, want string }{
		{"floors -n 0 " + md, "-n 0: want a number from 1"}, {"floors -n=-2 " + md, "-n -2: want"},
		{"plan -options linked.fsync=maybe -designs column", `-options linked.fsync=maybe: linked: option fsync: "maybe" is none of`},
		{"plan -options envelope.repack=maybe", "envelope: repack"}, {"plan -options pebble.memtable=much", "pebbleidx: memtable"},
		{"plan -options bbolt.page_size=5000", "no power of two"}, {"plan -options sqlite.journal_mode=x", "sqlidx: journal_mode"},
	} {
		got := mailbench(t, strings.Fields(c.args)...)
		if got.code != 2 || got.out != "" || strings.Count(got.errs, "\n") != 1 || !strings.Contains(got.errs, c.want) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	must(t, "plan", "-options", "linked.fsync=never,linked.log-rotate-size=1,envelope.repack=7pct,pebble.memtable=1MiB")
	if m, err := temp.Mount("/dev/shm"); err != nil || !m.Memory() {
		t.Skip("/dev/shm is not a file system in memory")
	}
	t.Setenv("MAILBENCH_ALLOW_TMPFS", "")
	for _, args := range []string{"plan -index-dir /dev/shm/x", "plan -scratch /dev/shm/x", "floors -scratch /dev/shm " + md} {
		got := mailbench(t, strings.Fields(args)...)
		if got.code != 2 || got.out != "" || !strings.Contains(got.errs, "is on tmpfs") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	must(t, "plan", "-allow-tmpfs", "-index-dir", "/dev/shm/x")
}

func TestPlan(t *testing.T) {
	dir := home(t)
	got := must(t, "plan")
	if !strings.Contains(got, "20000 messages") || strings.Count(got, "\nBenchmark") < 40 || !strings.Contains(got, " rows, ") {
		t.Errorf("default plan:\n%s", got)
	}
	all := must(t, "plan", "-rows", "all", "-designs", "column", "-corpus", "synthetic:367918", "-samples", "1", "-loop-image", "false")
	if !strings.Contains(all, "/design=column/") || strings.Contains(all, "/design=scan/") || !strings.Contains(all, "skipped: cold needs -drop-caches") {
		t.Errorf("plan of all rows:\n%s", all)
	}
	some := must(t, "plan", "-rows", "all", "-bench", "Append/design=column/store=mdbox|Floor", "-tier", "lru", "-slow", "1ms")
	if strings.Count(some, "\nBenchmarkAppend/design=column/store=mdbox/") < 10 || !strings.Contains(some, "\nBenchmarkFloor/") ||
		strings.Contains(some, "store=maildir") || strings.Contains(some, "\nBenchmarkFetch/") {
		t.Errorf("plan of some rows:\n%s", some)
	}
	mbox := boxes(t, dir)[1].path
	if got := must(t, "plan", "-corpus", mbox); !strings.Contains(got, "4 messages") || !strings.Contains(got, "skipped: a change of the mailbox needs a maildir") {
		t.Errorf("plan of an mbox:\n%s", got)
	}
	t.Setenv("MAILBENCH_CORPUS", "synthetic:77")
	if got := must(t, "plan"); !strings.Contains(got, "77 messages") {
		t.Errorf("plan with MAILBENCH_CORPUS:\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "cache/mailbench")); err == nil {
		names, _ := filepath.Glob(filepath.Join(dir, "cache/mailbench/*"))
		if len(names) > 0 && !(len(names) == 1 && filepath.Base(names[0]) == "tmp") {
			t.Errorf("a plan made %q", names)
		}
	}
}
