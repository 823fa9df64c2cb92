package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
)

// plainSource hides what a maildir can do beside its duty.
type plainSource struct{ index.Source }

// An index that takes in new mail by the digests alone is the index that a
// comparison of all names gives, and its log tells what happened since any state
// that it knows.
func TestArrive(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 6 {
		md := makeMaildir(t)
		src, err := source.Open(md, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		dirs := [2]string{t.TempDir(), t.TempDir()}
		var bases [2]*index.Base
		open := func(i int) {
			b, err := index.OpenBase(nil, dirs[i], index.BaseOptions{UIDValidity: 7})
			if err != nil {
				t.Fatal(err)
			}
			bases[i] = b
		}
		open(0)
		open(1)
		clock := 1700000000
		var files []string
		type state struct {
			uidNext uint32
			set     index.SetHash
			uids    []uint32
		}
		var states []state
		told := 0
		for step := range 30 {
			var log []string
			for range r.IntN(4) {
				clock += r.IntN(2)
				name := fmt.Sprintf("%d.M%dP%d.h", clock, step, r.IntN(1<<30))
				if r.IntN(8) == 0 {
					name = fmt.Sprintf("%d.M%dP%d.h", 1600000000+r.IntN(1000), step, r.IntN(1<<30)) // mail with an old name
				}
				rel := []string{"new/" + name, "cur/" + name + ":2,S", "cur/" + name + ":2,Ta"}[r.IntN(3)]
				if err := os.WriteFile(filepath.Join(md, rel), []byte("Subject: x\n\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, rel)
				log = append(log, rel)
			}
			for range []int{0, 0, 0, 1, 2}[r.IntN(5)] {
				if len(files) == 0 {
					break
				}
				i := r.IntN(len(files))
				if r.IntN(2) == 0 {
					os.Remove(filepath.Join(md, files[i]))
					log = append(log, "remove "+files[i])
					files = slices.Delete(files, i, i+1)
				} else {
					e := index.Entry{File: filepath.Base(files[i])}
					to := "cur/" + e.File[:len(e.File)-len(suffix(e.File))] + ":2,F"
					os.Rename(filepath.Join(md, files[i]), filepath.Join(md, to))
					log = append(log, files[i]+" to "+to)
					files[i] = to
				}
			}
			past := time.Now().Add(-time.Hour + time.Duration(round*1000+step)*time.Second)
			for _, d := range []string{"cur", "new"} {
				os.Chtimes(filepath.Join(md, d), past, past)
			}
			if r.IntN(3) == 0 {
				open(0)
			}
			if r.IntN(4) == 0 { // with the rows in memory
				if _, err := bases[0].Table(); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(10) == 0 {
				for _, b := range bases {
					if err := b.Compact(); err != nil {
						t.Fatal(err)
					}
				}
			}
			c0, err := bases[0].Sync(src)
			if err != nil {
				t.Fatal(log, err)
			}
			c1, err := bases[1].Sync(plainSource{src})
			if err != nil {
				t.Fatal(log, err)
			}
			if c0 != c1 {
				t.Fatalf("step %d %v: %+v, by names %+v", step, log, c0, c1)
			}
			h := bases[0].Header()
			if h1 := bases[1].Header(); h.Status.HighestModSeq != h1.HighestModSeq || h.Messages != h1.Messages || h.Unseen != h1.Unseen || h.Deleted != h1.Deleted || h.Digest != h1.Digest {
				t.Fatalf("step %d %v: %+v, by names %+v", step, log, h, h1)
			}
			for _, s := range states { // before the rows are loaded
				l, ok, err := bases[0].Lately(s.uidNext, s.set)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					continue
				}
				told++
				l.Naming(src)
				now := slices.Clone(s.uids)
				now = slices.DeleteFunc(now, func(u uint32) bool { return slices.Contains(l.Removed, u) })
				if len(now)+len(l.Removed) != len(s.uids) {
					t.Fatalf("step %d: removed %v of %v", step, l.Removed, s.uids)
				}
				for i := range l.Added() {
					now = append(now, l.UID(i))
				}
				tab, err := bases[1].Table()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(now, tab.UIDs()) {
					t.Fatalf("step %d: since %+v: removed %v, then %v, want %v", step, s, l.Removed, now, tab.UIDs())
				}
				var e index.Entry
				var buf []byte
				for i := range l.Added() {
					var p *index.Entry
					p, buf = l.EntryInto(i, &e, buf)
					row, _ := tab.Row(l.UID(i))
					if m := tab.Message(row); p.Key != m.Key || p.Flags != m.Flags || p.Folder != m.Folder || p.Keywords != m.Keywords {
						t.Fatalf("step %d: %+v, want %+v", step, p, m)
					}
				}
			}
			var rows [2][]index.Message
			for i, b := range bases {
				tab, err := b.Table()
				if err != nil {
					t.Fatal(err)
				}
				for k := range tab.Len() {
					rows[i] = append(rows[i], tab.Message(k))
				}
				if i == 0 {
					states = append(states, state{h.UIDNext, h.Set, slices.Clone(tab.UIDs())})
				}
			}
			if fmt.Sprint(rows[0]) != fmt.Sprint(rows[1]) {
				t.Fatalf("step %d %v:\n%v\nby names:\n%v", step, log, rows[0], rows[1])
			}
			for err := range bases[0].Check() {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				open(0)
			}
		}
		if told == 0 {
			t.Error("the log never told what happened")
		}
	}
}

// suffix is the info part of a file name.
func suffix(file string) string {
	for i := range file {
		if file[i] == ':' {
			return file[i:]
		}
	}
	return ""
}

// New mail in a snapshot without log is taken in without reading a row, and is
// there when the index is opened again.
func TestArrive_readsNoRows(t *testing.T) {
	md := makeMaildir(t)
	put := func(i int) {
		name := fmt.Sprintf("new/%d.M1P1.h", 1700000000+i)
		if err := os.WriteFile(filepath.Join(md, name), []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		put(i)
	}
	src, err := source.Open(md, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dir := t.TempDir()
	for i := range 3 {
		b, err := index.OpenBase(nil, dir, index.BaseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Sync(src); err != nil {
			t.Fatal(err)
		}
		if rows, keys := b.Loaded(); rows != 0 || keys != 0 {
			t.Errorf("sync %d: %d rows and %d names read", i, rows, keys)
		}
		if n := b.Header().Messages; n != 50+3*i {
			t.Errorf("sync %d: %d messages", i, n)
		}
		for k := range 3 {
			put(60 + 3*i + k)
		}
	}
}
