package column

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Damage in an order that nobody asks for again, and bytes behind the end: Compact
// drops the answers, and what is asked next is written anew. UIDs stay.
func TestCompact_damagedAnswers(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := small(t, r, dir, 40, index.Options{})
	path := filepath.Join(dir, AnswersFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := [][]byte{append(bytes.Clone(good), "behind the end"...)}
	for at := 64; at < len(good); at += len(good) / 20 {
		b := bytes.Clone(good)
		b[at] ^= 4
		damage = append(damage, b)
	}
	for i, b := range damage {
		writeFile(t, path, b)
		mb := openBox(t, dir, fast, f, index.Options{})
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		was := mb.Status()
		ask := func() {
			if _, err := mb.Thread(thread.References, index.Search{}); err != nil {
				t.Fatal(err)
			}
			if _, err := mb.Sort([]mailsort.Criterion{{Key: mailsort.Date}}, index.Search{}); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		if err := mb.Compact(); err != nil {
			t.Fatal(err)
		}
		ask()
		if err := check(mb); err != nil {
			t.Errorf("damage %d is left: %v", i, err)
		}
		if is := mb.Status(); is.UIDValidity != was.UIDValidity || is.UIDNext != was.UIDNext {
			t.Errorf("damage %d: %+v became %+v", i, was, is)
		}
		if !mb.(*mailbox).hasStored(forestName(thread.References), headerOf(mb)) {
			t.Errorf("damage %d: no answers were written", i)
		}
		mb.Close()
	}
}

func headerOf(mb index.Mailbox) *index.BaseHeader {
	h := mb.(*mailbox).base.Header()
	return &h
}
