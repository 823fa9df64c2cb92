package box

import (
	"fmt"
	"path/filepath"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// A cost is what the disk is waited for: syncs of files and of directories.
type cost struct{ files, dirs int64 }

func costOf(c fsys.Counts) cost { return cost{c.Syncs, c.SyncDirs} }

// storeCosts are the syncs of the store for one message, and for one group of
// 30 (docs/RELIABILITY.md shows them). A mailbox that has just been made or a
// file that is full costs more.
var storeCosts = map[string]struct{ one, group cost }{
	"spool":   {cost{1, 0}, cost{1, 0}},
	"maildir": {cost{1, 1}, cost{30, 1}},
	"mbox":    {cost{1, 0}, cost{1, 0}},
	"cydir":   {cost{2, 1}, cost{31, 1}},
	"sdbox":   {cost{1, 1}, cost{30, 1}},
	"mdbox":   {cost{1, 0}, cost{1, 0}},
}

// designCosts are those of the index for a Sync that sees new mail, and with
// the cache.
var designCosts = map[string]struct{ sync, cache cost }{
	"column":   {cost{1, 0}, cost{2, 0}},
	"linked":   {cost{2, 0}, cost{4, 0}},
	"envelope": {cost{5, 0}, cost{5, 0}},
	"pebble":   {cost{1, 0}, cost{1, 0}},
	"scan":     {cost{1, 1}, cost{1, 1}},
}

// counted opens a box whose mail and index are counted apart.
func counted(t *testing.T, f store.Format, d index.Design, p Fsync, cache bool) (b *Box, mail, idx *fsys.Counter) {
	mail, idx = fsys.Counting(quick), fsys.Counting(quick)
	dir := t.TempDir()
	b = open(t, Config{Store: f, Design: d, Dir: filepath.Join(dir, "mail"), IndexDir: filepath.Join(dir, "index"), FS: mail, IndexFS: idx, Fsync: p, Cache: cache})
	for i := range 20 {
		if _, err := b.Append(store.Message{Body: letter(i)}); err != nil {
			t.Fatal(err)
		}
	}
	return b, mail, idx
}

// TestSyncs_perAppend counts what an append waits for.
func TestSyncs_perAppend(t *testing.T) {
	for _, f := range everyFormat() {
		if f.Name() == "sql" {
			continue // its engine opens the files
		}
		t.Run(f.Name(), func(t *testing.T) {
			b, mail, _ := counted(t, f, everyDesign[0], Always, false)
			before := mail.Counts()
			if _, err := b.Append(store.Message{Body: letter(100)}); err != nil {
				t.Fatal(err)
			}
			got := storeCosts[f.Name()]
			got.one = costOf(mail.Counts().Sub(before))
			var msgs []store.Message
			for i := range 30 {
				msgs = append(msgs, store.Message{Body: letter(200 + i), Date: 1})
			}
			before = mail.Counts()
			if _, err := b.store.Append(msgs); err != nil {
				t.Fatal(err)
			}
			got.group = costOf(mail.Counts().Sub(before))
			if want, ok := storeCosts[f.Name()]; !ok || got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	for _, d := range everyDesign {
		if index.AxesOf(d).OwnIO {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			var got struct{ sync, cache cost }
			for _, cache := range []bool{false, true} {
				b, _, idx := counted(t, &memory{}, d, Always, cache)
				before := idx.Counts()
				if _, err := b.Append(store.Message{Body: letter(100)}); err != nil {
					t.Fatal(err)
				}
				if got.cache = costOf(idx.Counts().Sub(before)); !cache {
					got.sync = got.cache
				}
			}
			if want, ok := designCosts[d.Name()]; !ok || got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// TestSyncs_never: fsync=never syncs nothing, whatever is done.
func TestSyncs_never(t *testing.T) {
	for _, f := range everyFormat() {
		for _, d := range everyDesign {
			t.Run(fmt.Sprintf("%s+%s", f.Name(), d.Name()), func(t *testing.T) {
				b, mail, idx := counted(t, f, d, Never, true)
				if err := b.SetFlags([]uint32{1, 2}, func(uint32, index.Flags, uint32) (index.Flags, uint32) { return index.FlagSeen, 1 }); err != nil {
					t.Fatal(err)
				}
				if err := b.Expunge([]uint32{3}); err != nil {
					t.Fatal(err)
				}
				if err := b.Purge(); err != nil {
					t.Fatal(err)
				}
				if a, c := costOf(mail.Counts()), costOf(idx.Counts()); a != (cost{}) || c != (cost{}) {
					t.Errorf("%+v of the mail, %+v of the index", a, c)
				}
			})
		}
	}
}
