//go:build linux

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBadInput_isOneLine holds that what cannot be run is one clear line on
// the standard error and an exit code of 2: no page of help, no stack, no row.
func TestBadInput_isOneLine(t *testing.T) {
	dir := diskDir(t)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mkdir := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty := mkdir("empty")
	for _, sub := range []string{"cur", "new", "tmp"} {
		mkdir("nomail/" + sub)
		mkdir("box/" + sub)
	}
	file("box/cur/1.a.b:2,", "Subject: x\n\ny\n")
	locked := file("locked.mbox", "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\ny\n")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	plain := file("plain", "x")
	for _, c := range []struct {
		args, env []string
		want      string
	}{
		{args: []string{"-corpus=/nonexistent"}, want: "/nonexistent: no such file or directory"},
		{args: []string{"-corpus=synthetic:abc"}, want: `bad spec: "abc"`},
		{args: []string{"-corpus=synthetic:0"}, want: "no messages"},
		{args: []string{"-corpus=synthetic:5,shape=round"}, want: "round"},
		{args: []string{"-corpus=" + empty}, want: "no maildir"},
		{args: []string{"-corpus=nomail"}, want: "nomail: no messages"}, // from $PWD
		{args: []string{"-corpus=" + file("empty.mbox", "")}, want: "no messages"},
		{args: []string{"-corpus=" + file("cut.mbox.zst", "(\xb5/\xfd")}, want: "cut.mbox.zst: compressed stream truncated"},
		{args: []string{"-corpus=" + file("cut.mbox.gz", "\x1f\x8b\x08")}, want: "cut.mbox.gz: compressed stream truncated"},
		{args: []string{"-corpus=" + file("bad.mbox.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff")}, want: "bad.mbox.gz: compressed stream damaged"},
		{args: []string{"-corpus=" + file("wide.mbox.zst", "(\xb5/\xfd\xa0\x00\x00\x00\x40\x01\x00\x00")}, want: "wide.mbox.zst: compressed stream not read on"},
		{args: []string{"-corpus=/dev/null"}, want: "/dev/null"},
		{args: []string{"-designs=nope"}, want: `no design "nope" (there are right, `},
		{args: []string{"-designs=scan,"}, want: `no design ""`},
		{args: []string{"-options=mode"}, want: "-options mode: want design.name=value"},
		{args: []string{"-options=optioned.mode="}, want: "want design.name=value"},
		{args: []string{"-options=nope.mode=x"}, want: `no design "nope" (there are right, `},
		{args: []string{"-options=optioned.mode=bad", "-designs=right"}, want: `-options optioned.mode=bad: mode "bad"`},
		{args: []string{"-options=optioned.mood=x"}, want: `optioned has no option "mood" (it has: mode`},
		{args: []string{"-options=optioned.mode=plain, right.x=y"}, want: `-options right.x=y: right has no option "x"`},
		{env: []string{"MAILBENCH_OPTIONS=x"}, want: "-options x"},
		{args: []string{"-tier=fifo"}, want: `-tier fifo: no tier "fifo" (there are none, lru, ristretto, clairvoyant)`},
		{args: []string{"-stores=nope"}, want: `-stores nope: no store "nope" (there are right, `},
		{args: []string{"-stores=right", "-dsn=mysql://me@h/db"}, want: "-dsn is not used: "},
		{args: []string{"-dsn=oracle://me:secret@h/db"}, want: "-dsn: it begins with postgres:// or mysql://"},
		{args: []string{"-slow=x"}, want: `-slow x: latency "x": want a latency`},
		{args: []string{"-scratch=a,a"}, want: "a is named twice"},
		{args: []string{"-rows=x"}, want: "-rows x: want default or all"},
		{args: []string{"-metrics=x"}, want: "-metrics x: want default or all"},
		{args: []string{"-samples=-1"}, want: "-samples=-1: want a number from 1"},
		{args: []string{"-samples=0"}, want: "-samples=0: want a number from 1"},
		{args: []string{"-samples=many"}, want: "-samples=many: want a number from 1"},
		{args: []string{"-drop-caches=maybe"}, want: "-drop-caches=maybe: want true or false"},
		{args: []string{"-corpse=x"}, want: "flag provided but not defined: -corpse"},
		{args: []string{"-test.count=x"}, want: "-test.count"},
		{args: []string{"-corpus"}, want: "flag needs an argument: -corpus"},
		{env: []string{"MAILBENCH_SAMPLES=x"}, want: "MAILBENCH_SAMPLES=x: want a number from 1"},
		{env: []string{"MAILBENCH_DROP_CACHES=x", "MAILBENCH_SAMPLES=y"}, want: "MAILBENCH_DROP_CACHES=x: want true or false"},
		{env: []string{"MAILBENCH_CORPUS=/nonexistent"}, want: "/nonexistent"},
		{env: []string{"MAILBENCH_ROWS=x"}, want: "-rows x"},
		{env: []string{"MAILBENCH_DESIGNS=nope"}, want: "nope"},
		{args: []string{"-index-dir=/proc/nowhere"}, want: "-index-dir: cannot write there"},
		{args: []string{"-index-dir=/proc/self"}, want: "-index-dir: cannot write there"},
		{args: []string{"-scratch=" + plain + "/x"}, want: "-scratch: cannot write there"},
		{args: []string{"-corpus=box", "-scratch=box/tmp"}, want: "-scratch: " + dir + "/box/tmp lies inside the mail"},
		{args: []string{"-corpus=box", "-index-dir=" + dir + "/box"}, want: "lies inside the mail"},
	} {
		t.Run(strings.Join(append(c.env, c.args...), " "), func(t *testing.T) {
			refused(t, benchmarkEnv(t, append([]string{"MAILBENCH_CORPUS=synthetic:20"}, c.env...), dir, ".", c.args...), c.want)
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root reads everything")
		}
		refused(t, benchmark(t, dir, ".", "-corpus="+locked), "permission denied")
	})
	t.Run("in memory", func(t *testing.T) {
		refused(t, benchmark(t, dir, ".", "-index-dir="+shm(t)+"/index"), "is on tmpfs")
	})
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func refused(t *testing.T, got ran, want string) {
	t.Helper()
	if got.code != 2 {
		t.Errorf("exit code %d, want 2", got.code)
	}
	if got.out != "" {
		t.Errorf("standard output: %q", got.out)
	}
	if strings.Count(got.errs, "\n") != 1 || !strings.HasPrefix(got.errs, "mailbench: ") || !strings.Contains(got.errs, want) {
		t.Errorf("standard error %q, want one line with %q", got.errs, want)
	}
}

// TestFullPlace holds that a full disk fails the rows, without a panic.
func TestFullPlace(t *testing.T) {
	place := shm(t)
	if err := unix.Mount("mailbench", place, "tmpfs", 0, "size=8k"); err != nil {
		t.Skip("no permission to mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(place, 0); err != nil {
			t.Error(err)
		}
	})
	got := benchmark(t, diskDir(t), "SelectFirst/.*/mails=warm|Floor/op=write", "-corpus=synthetic:2000", "-designs=column,scan", "-index-dir="+place, "-allow-tmpfs")
	if got.code == 0 || !strings.Contains(got.out, "no space left on device") || len(lines(got.out, "--- FAIL: Benchmark")) < 3 {
		t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	if strings.Contains(got.out+got.errs, "panic") || strings.Contains(got.out+got.errs, "goroutine ") {
		t.Errorf("a stack:\n%s%s", got.out, got.errs)
	}
}

func TestHelp(t *testing.T) {
	got := benchmark(t, diskDir(t), ".", "-h")
	if got.code != 0 || !strings.Contains(got.errs, "-corpus what") || !strings.Contains(got.errs, "MAILBENCH_SAMPLES") {
		t.Errorf("exit code %d:\n%s", got.code, got.errs)
	}
}

func TestFromPWD(t *testing.T) {
	t.Setenv("PWD", "/somewhere")
	t.Setenv("HOME", "/home/u")
	for in, want := range map[string]string{"a/b": "/somewhere/a/b", "/a/../b": "/b", "~": "/home/u", "~/m": "/home/u/m", "~x": "/somewhere/~x"} {
		if got, err := fromPWD(in); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
}
