//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
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
	err := (&mailbox{dir: "/dir"}).left(&os.PathError{Op: "write", Path: "/dir/mailbench.answers", Err: syscall.ENOSPC})
	if !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "remove") {
		t.Error(err)
	}
}

// TestBuild_puttingAside holds that build ends with a usable index where the
// design cannot repair its file: the file is put aside, the UIDVALIDITY raised.
func TestBuild_puttingAside(t *testing.T) {
	for design, c := range map[string]struct {
		file   string
		damage func(t *testing.T, name string)
	}{
		"scan":  {"mailbench.uids", trailing},
		"bbolt": {"mailbench.bolt", noUID},
	} {
		dir := home(t)
		md := boxes(t, dir)[0].path
		ix := filepath.Join(dir, "ix")
		build := []string{"index", "build", "-design", design, "-fields", "envelope", "-index-dir", ix, md}
		before := must(t, build...)
		must(t, "sort", "-design", design, "-fields", "envelope", "-keys", "size from", "-index-dir", ix, md)
		name := filepath.Join(ix, c.file)
		c.damage(t, name)
		after := must(t, build...)
		if validity(t, after) <= validity(t, before) {
			t.Errorf("%s: UIDVALIDITY was not raised:\n%s\n%s", design, before, after)
		}
		if got := must(t, "index", "check", "-design", design, "-index-dir", ix, md); got != "no inconsistency\n" {
			t.Errorf("%s: %s", design, got)
		}
		if got := must(t, "thread", "-design", design, "-index-dir", ix, md); got != answerThread {
			t.Errorf("%s: %s", design, got)
		}
		if _, err := os.Stat(name + ".damaged"); err != nil {
			t.Errorf("%s: %v", design, err)
		}
	}
}

// validity reads it off the description of an index.
func validity(t *testing.T, info string) (v int) {
	t.Helper()
	_, line, _ := strings.Cut(info, "uidvalidity ")
	if _, err := fmt.Sscan(line, &v); err != nil {
		t.Fatal(err, info)
	}
	return v
}

func trailing(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, append(b, "\x00trailing\nbytes"...))
}

// noUID puts a key that is no UID where build does not look.
func noUID(t *testing.T, name string) {
	t.Helper()
	db, err := bbolt.Open(name, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("size")).Put([]byte("12345"), []byte{1}) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
