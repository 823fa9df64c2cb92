//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/index/designs"
)

// TestIndex_sizesThatStay holds that build and compact print what is there when
// they are gone: some engines write until they are closed.
func TestIndex_sizesThatStay(t *testing.T) {
	for _, design := range designs.Names() {
		dir := home(t)
		md := boxes(t, dir)[0].path
		at := []string{"-design", design, "-index-dir", filepath.Join(dir, "ix"), md}
		built := must(t, append([]string{"index", "build"}, at...)...)
		if info := must(t, append([]string{"index", "info"}, at...)...); info != built {
			t.Errorf("%s: build printed\n%s, info\n%s", design, built, info)
		}
		compacted := mailbench(t, append([]string{"index", "compact"}, at...)...)
		if compacted.code != 0 {
			t.Errorf("%s: %+v", design, compacted)
			continue
		}
		all := 0
		for line := range strings.Lines(must(t, append([]string{"index", "info"}, at...)...)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "all" {
				fmt.Sscan(f[1], &all)
			}
		}
		note, err := os.Stat(filepath.Join(dir, "ix", identityFile)) // of no design's
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(", %d after\n", all-int(note.Size())); !strings.HasSuffix(compacted.out, want) {
			t.Errorf("%s: compact printed %q, want %q", design, compacted.out, want)
		}
	}
}

// TestIndex_foreign holds that compact takes a directory of other files for no
// index, and leaves it alone; an index without the note of its mailbox is one.
func TestIndex_foreign(t *testing.T) {
	for _, design := range designs.Names() {
		dir := home(t)
		md := boxes(t, dir)[0].path
		ix := filepath.Join(dir, "ix")
		mkdir(t, ix)
		writeFile(t, filepath.Join(ix, "letter.txt"), []byte("Dear all\n"))
		before := contents(t, ix)
		got := mailbench(t, "index", "compact", "-design", design, "-index-dir", ix, md)
		if got.code != 2 || !strings.Contains(got.errs, "no index of design "+design+" in "+ix) {
			t.Errorf("%s: %+v", design, got)
		}
		if after := contents(t, ix); after != before {
			t.Errorf("%s: the directory has changed:\n%s\n%s", design, before, after)
		}
		must(t, "index", "build", "-design", design, "-index-dir", ix, md)
		if err := os.Remove(filepath.Join(ix, identityFile)); err != nil {
			t.Fatal(err)
		}
		if got := mailbench(t, "index", "compact", "-design", design, "-index-dir", ix, md); got.code != 0 {
			t.Errorf("%s: without its note: %+v", design, got)
		}
	}
}
