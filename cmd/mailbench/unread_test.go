//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index/designs"
)

// A message that may not be read counts as an empty one in every answer, is
// named on standard error, and makes the exit code 2.
func TestUnreadable(t *testing.T) {
	dir := home(t)
	md := filepath.Join(dir, "md")
	mkdir(t, filepath.Join(md, "cur"))
	for n, text := range map[string]string{
		"1.a:2,": "Message-ID: <1@x>\nSubject: a\nDate: Thu, 1 Jan 2015 10:00:00 +0000\n\n0123456789\n",
		"2.b:2,": "Message-ID: <2@x>\nReferences: <1@x>\nSubject: a\nDate: Thu, 1 Jan 2015 11:00:00 +0000\n\n",
		"3.c:2,": "Message-ID: <3@x>\nReferences: <1@x>\nSubject: a\nDate: Thu, 1 Jan 2015 12:00:00 +0000\n\n",
	} {
		writeFile(t, filepath.Join(md, "cur", n), []byte(text))
	}
	forbid(t, filepath.Join(md, "cur", "2.b:2,"))
	ix := filepath.Join(dir, "ix")
	type answer struct {
		args string
		want string // with message 2 empty
	}
	const byDate = "* SORT 1 3 2\n" // INTERNALDATE: when this test wrote it
	others := slices.DeleteFunc(designs.Names(), func(d string) bool {
		return d == "column" || d == "scan" || d == "linked" // the last one gives an error
	})
	cases := []answer{
		{"thread", "* THREAD (1 3)(2)\n"},
		{"sort -keys size", "* SORT 2 1 3\n"},
		{"sort -keys subject", "* SORT 2 1 3\n"},
		{"thread -design scan", "* THREAD (1 3)(2)\n"},
		{"sort -design scan -keys size", "* SORT 2 1 3\n"},
		{"thread -index-dir " + ix, "* THREAD (1 3)(2)\n"},
		{"thread -index-dir " + ix, "* THREAD (1 3)(2)\n"}, // from the cache
		{"sort -keys date", byDate}, {"sort -design scan -keys date", byDate},
	}
	for _, d := range others {
		at := " -design " + d + " -index-dir " + ix + "-" + d
		cases = append(cases, answer{"thread" + at, "* THREAD (1 3)(2)\n"}, answer{"thread" + at, "* THREAD (1 3)(2)\n"},
			answer{"sort -keys size" + at, "* SORT 2 1 3\n"}, answer{"sort -keys subject" + at, "* SORT 2 1 3\n"}, answer{"sort -keys date" + at, byDate})
	}
	for _, c := range cases {
		got := plainChild(t, append(strings.Fields(c.args), md)...)
		if got.code != 2 || got.out != c.want {
			t.Errorf("%s: %+v", c.args, got)
		}
		told := strings.Split(strings.TrimSpace(got.errs), "\n")
		if len(told) != 2 || !strings.HasPrefix(told[0], "mailbench: warning: ") || !strings.Contains(told[0], "2.b") ||
			!strings.Contains(told[1], "cannot be read: 1") {
			t.Errorf("%s: standard error %q", c.args, got.errs)
		}
	}
	if got := plainChild(t, "corpus", "info", md); got.code != 2 || !strings.Contains(got.out, "messages") ||
		!strings.Contains(got.errs, "2.b") || !strings.Contains(got.errs, "cannot be read: 1; they are not described") {
		t.Errorf("corpus info: %+v", got)
	}
	if got := plainChild(t, "floors", "-n", "1", "-scratch", dir, md); got.code != 2 || !strings.Contains(got.errs, "cur/2.b:2,: permission denied") {
		t.Errorf("floors: %+v", got)
	}
	if err := os.Chmod(filepath.Join(md, "cur", "2.b:2,"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range append(others, "column") {
		dir := ix
		if d != "column" {
			dir += "-" + d
		}
		if got := must(t, "thread", "-design", d, "-index-dir", dir, md); got != "* THREAD (1 (2)(3))\n" {
			t.Errorf("%s: readable again: %q", d, got)
		}
	}
}
