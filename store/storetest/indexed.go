package storetest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/scan"
	mailsort "mailbench/sort"
	"mailbench/store"
	"mailbench/thread"
)

// indexed: an index that is brought up to date after each step, by what the
// Source tells, is like one that is made anew.
func indexed(t *testing.T, k *kit) {
	for _, d := range []index.Design{column.Design, scan.Design} {
		t.Run(d.Name(), func(t *testing.T) {
			r := k.rand(800)
			cfg := k.config(t)
			st, m := k.open(t, cfg), newModel()
			dir := filepath.Join(k.temp(t), "index")
			box := openIndex(t, d, dir, st)
			steps := 25
			if k.o.Short {
				steps = 10
			}
			for n := range steps {
				s := k.walk(t, r, st, m)
				for range r.IntN(3) {
					s = k.walk(t, r, st, m)
				}
				if n%7 == 6 {
					mustClose(t, st)
					if err := box.Close(); err != nil {
						t.Fatal(err)
					}
					st = k.open(t, cfg)
					box = openIndex(t, d, dir, st)
				}
				if _, err := box.Sync(); err != nil {
					t.Fatalf("step %d, %s: sync: %v", n, s.what, err)
				}
				anew := openIndex(t, d, filepath.Join(k.temp(t), fmt.Sprint("anew", n)), st)
				if _, err := anew.Sync(); err != nil {
					t.Fatal(err)
				}
				got, err := describe(box, m)
				if err != nil {
					t.Fatalf("step %d, %s: %v", n, s.what, err)
				}
				want, err := describe(anew, m)
				if err != nil {
					t.Fatalf("step %d, made anew: %v", n, err)
				}
				if got != want {
					t.Fatalf("step %d, %s: the index says\n%s\nand one made anew\n%s", n, s.what, got, want)
				}
				if err := anew.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for err := range box.Check() {
				t.Errorf("check of the index: %v", err)
			}
			if err := box.Close(); err != nil {
				t.Fatal(err)
			}
			mustClose(t, st)
		})
	}
}

func openIndex(t *testing.T, d index.Design, dir string, st store.Store) index.Mailbox {
	t.Helper()
	box, err := d.Open(index.Config{Dir: dir, FS: quick, Source: st.Source(), Options: index.Options{UIDList: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// describe is what an index says, with keys for UIDs, after its rows have been
// compared with the model.
func describe(box index.Mailbox, m *model) (string, error) {
	var uids []uint32
	out := ""
	var wrong error
	err := box.Messages(func(x index.Message) bool {
		if len(uids) < len(m.msgs) {
			if w := &m.msgs[len(uids)]; x.Key != w.key || x.Flags != w.flags || x.Keywords != w.keywords {
				wrong = fmt.Errorf("row %d is %s %v %x, want %s %v %x", len(uids), x.Key, x.Flags, x.Keywords, w.key, w.flags, w.keywords)
			}
		}
		uids = append(uids, x.UID)
		return wrong == nil
	})
	if err == nil {
		err = wrong
	}
	if err == nil && len(uids) != len(m.msgs) {
		err = fmt.Errorf("%d rows, want %d", len(uids), len(m.msgs))
	}
	if err != nil {
		return "", err
	}
	for _, keys := range []string{"date", "subject from", "size", "arrival"} {
		crit, err := mailsort.ParseCriteria(keys)
		if err != nil {
			return "", err
		}
		order, err := box.Sort(crit, index.Search{})
		if err != nil {
			return "", err
		}
		out += keys + ":"
		for _, uid := range order {
			row, _ := slices.BinarySearch(uids, uid)
			out += " " + m.msgs[row].key
		}
		out += "\n"
	}
	a, err := box.Thread(thread.References, index.Search{})
	if err != nil {
		return "", err
	}
	return out + fmt.Sprint(a.Forest.Row, a.Forest.Kids, "\n"), nil
}
