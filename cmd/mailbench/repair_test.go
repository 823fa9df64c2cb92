//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBuild_damagedAnswers holds that build repairs an order that it does not
// ask for, and that UIDs stay.
func TestBuild_damagedAnswers(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	ix := filepath.Join(dir, "ix")
	build := []string{"index", "build", "-index-dir", ix, md}
	must(t, build...)
	must(t, "sort", "-keys", "size from", "-index-dir", ix, md)
	uids := must(t, "select", "-json", "-index-dir", ix, md)
	name := filepath.Join(ix, "mailbench.answers")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 64; at <= len(good); at += 31 {
		b := append([]byte(nil), good...)
		if at+31 > len(good) {
			b = append(b, "trailing"...)
		} else {
			b[at] ^= 4
		}
		writeFile(t, name, b)
		must(t, build...)
		if got := must(t, "index", "check", "-index-dir", ix, md); got != "no inconsistency\n" {
			t.Errorf("byte %d: %s", at, got)
		}
		if got := must(t, "select", "-json", "-index-dir", ix, md); got != uids {
			t.Errorf("byte %d: other messages or UIDs:\n%s\n%s", at, got, uids)
		}
	}
}

// TestBuild_notWritten holds that a write that failed is told as such.
func TestBuild_notWritten(t *testing.T) {
	err := left("/dir", &os.PathError{Op: "write", Path: "/dir/mailbench.answers", Err: syscall.ENOSPC})
	if !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "remove") {
		t.Error(err)
	}
}
