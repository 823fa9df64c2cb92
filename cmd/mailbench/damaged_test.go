//go:build linux

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestThread_damagedIndex holds that a snapshot whose damage only a query
// finds costs its rebuilding and no answer.
func TestThread_damagedIndex(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	ix := filepath.Join(dir, "ix")
	args := []string{"thread", "-index-dir", ix, "-search", "undeleted", md}
	must(t, args...)
	name := filepath.Join(ix, "mailbench.index")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[4100] ^= 1 // in the first section
	writeFile(t, name, b)
	if got := mailbench(t, args...); got.code != 0 || got.out != answerThread {
		t.Errorf("%+v", got)
	}
}

// TestIndex_manyAtOnce holds that processes on one index do not fail because of
// each other.
func TestIndex_manyAtOnce(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	ix := filepath.Join(dir, "ix")
	must(t, "thread", "-index-dir", ix, md) // compact makes none
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 5 {
				args := [][]string{{"index", "build"}, {"thread"}, {"index", "compact"}, {"sort"}}[i%4]
				got := child(t, append(args, "-index-dir", ix, md)...)
				if got.code != 0 || i%4 == 1 && got.out != answerThread {
					t.Errorf("%v: %+v", args, got)
				}
			}
		})
	}
	wg.Wait()
	if got := must(t, "index", "check", "-index-dir", ix, md); got != "no inconsistency\n" {
		t.Error(got)
	}
}
