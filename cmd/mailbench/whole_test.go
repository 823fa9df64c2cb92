//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "box")
	bad := errors.New("no space")
	err := writeWhole(path, func(partial string) error {
		writeFile(t, partial, []byte("half"))
		if _, err := os.Lstat(path); err == nil {
			t.Error("half a mailbox has its name already")
		}
		return bad
	})
	if !errors.Is(err, bad) {
		t.Errorf("%v, want %v", err, bad)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	write := func(partial string) error { return os.WriteFile(partial, []byte("whole"), 0o644) }
	if err := writeWhole(path, write); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v", b, err)
	}
	if err := writeWhole(path, write); err == nil {
		t.Error("an existing mailbox was written over")
	}
}
