package indextest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/index"
)

// swapped: files that are missing, empty, from another mailbox or older than
// the others are noticed.
func swapped(t T, k *kit) {
	m := newMailbox(t, k.rand(400))
	for range 12 {
		m.deliver()
	}
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	k.build(t, m, dir)
	older := readDir(t, dir)
	for range 6 {
		m.mutate()
	}
	m.settle()
	k.build(t, m, dir)
	good := readDir(t, dir)
	other := newMailbox(t, k.rand(401))
	for range 9 {
		other.deliver()
	}
	otherDir := filepath.Join(root, "other")
	k.build(t, other, otherDir)
	foreign := readDir(t, otherDir)

	for _, name := range slices.Sorted(maps.Keys(good)) {
		for what, with := range map[string]*string{"missing": nil, "empty": new(string), "another mailbox's": ptr(foreign, name), "an older one": ptr(older, name)} {
			f := maps.Clone(good)
			delete(f, name)
			if with != nil {
				f[name] = *with
			}
			x := f.write(t, root)
			k.mustSurvive(t, m, x, name+" is "+what)
			os.RemoveAll(x)
		}
	}
}

func ptr(f files, name string) *string {
	s, ok := f[name]
	if !ok {
		return nil
	}
	return &s
}

// stale: of two states of the index, each set of files of the one among the
// files of the other: an older cache beside a newer index, a newer beside an
// older, an index of before a compaction beside a cache of after it. An
// engine's own files belong together by the engine's word, not the design's:
// what comes of mixing several of them is told and no fault.
func stale(t T, k *kit) {
	m := newMailbox(t, k.rand(450))
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	var states []files
	for i := range 4 {
		for range 5 {
			m.mutate()
		}
		m.settle()
		k.build(t, m, dir)
		if i == 2 {
			box := k.mustOpen(t, m, dir)
			mustSync(t, box)
			if err := box.Compact(); err != nil {
				t.Fatal(err)
			}
			mustClose(t, box)
		}
		states = append(states, readDir(t, dir))
	}
	engine := index.AxesOf(k.d).OwnIO && len(states[3]) > 2
	var count [outcomes]int
	for i, from := range states {
		for j, into := range states {
			if i == j {
				continue
			}
			for _, set := range subsets(differing(from, into)) {
				f := maps.Clone(into)
				for _, name := range set {
					delete(f, name)
					if b, ok := from[name]; ok {
						f[name] = b
					}
				}
				x := f.write(t, root)
				o, wrong := k.ask(m, x, true, nil)
				count[o]++
				if o >= silentWrong && !engine {
					t.Fatalf("%s of state %d among the files of state %d: %s", strings.Join(set, ", "), i, j, wrong)
				}
				if o == failed {
					k.mustSurvive(t, m, x, fmt.Sprintf("%s of state %d among the files of state %d", strings.Join(set, ", "), i, j))
				}
				os.RemoveAll(x)
			}
		}
	}
	t.Logf("right %d, errors %d, wrong %d, panics %d", count[right], count[failed], count[silentWrong], count[panicked])
}

// differing are the names under which a and b do not hold the same bytes.
func differing(a, b files) []string {
	all := map[string]bool{}
	for _, f := range []files{a, b} {
		for name := range f {
			x, inA := a[name]
			y, inB := b[name]
			if inA != inB || x != y {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// subsets are all sets of few names; of many, each alone and all but each.
func subsets(names []string) (out [][]string) {
	if len(names) <= 4 {
		for bits := 1; bits < 1<<len(names); bits++ {
			var set []string
			for i, name := range names {
				if bits>>i&1 != 0 {
					set = append(set, name)
				}
			}
			out = append(out, set)
		}
		return out
	}
	for i := range names {
		out = append(out, names[i:i+1], slices.Concat(names[:i], names[i+1:]))
	}
	return out
}

// uidValidity: while a handle is open another one begins anew with another
// UIDVALIDITY. The old handle goes on with what it knew, or takes up the new,
// or says that it cannot; it never mixes the two.
func uidValidity(t T, k *kit) {
	for i, how := range []string{"all files removed", "all but the note of UIDVALIDITYs removed", "a dovecot-uidlist adopted"} {
		root := t.TempDir()
		m := newMailbox(t, k.rand(470+uint64(i)))
		dir := filepath.Join(root, "index")
		for range 12 {
			m.deliver()
		}
		k.build(t, m, dir)
		for range 3 {
			m.expunge(m.msgs[m.r.IntN(len(m.msgs))])
			m.deliver()
		}
		m.settle()
		seen := newUIDsSeen()
		a := k.mustOpen(t, m, dir)
		mustSync(t, a)
		m.mustAnswer(t, a, false, "the first handle")
		if wrong := seen.wrong(a); wrong != "" {
			t.Fatal(wrong)
		}
		for name := range readDir(t, dir) {
			if i == 1 && name == index.ValidityFile {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		o := k.o.Index
		o.UIDValidity = a.Status().UIDValidity + 1000
		want, listed := o.UIDValidity, map[string]uint32{}
		if i == 2 {
			want += 1000
			o.UIDList = filepath.Join(root, "dovecot-uidlist")
			listed = m.uidList(t, o.UIDList, want)
		}
		b, err := k.openWith(m, dir, quick, o)
		alone := err != nil
		if alone { // an engine's lock: one at a time
			mustClose(t, a)
			if b, err = k.openWith(m, dir, quick, o); err != nil {
				t.Fatal(err)
			}
		}
		mustSync(t, b)
		m.mustAnswer(t, b, true, how)
		if got := b.Status().UIDValidity; got != want {
			t.Fatalf("%s: uidvalidity %d, want %d", how, got, want)
		}
		if wrong := seen.wrong(b); wrong != "" {
			t.Fatalf("%s: %s", how, wrong)
		}
		for key, uid := range listed {
			if got := seen.uid[want][key]; got != uid {
				t.Fatalf("%s: %q is uid %d, want %d", how, key, got, uid)
			}
		}
		if !alone {
			k.oldHandle(t, m, a, b, seen, how)
			mustClose(t, a)
		}
		mustClose(t, b)
		c := k.mustOpen(t, m, dir)
		mustSync(t, c)
		m.mustAnswer(t, c, false, how+", opened again")
		if wrong := seen.wrong(c); wrong != "" {
			t.Fatalf("%s, opened again: %s", how, wrong)
		}
		mustClose(t, c)
	}
}

// oldHandle: a was open when b began anew.
func (k *kit) oldHandle(t T, m *mailbox, a, b *opened, seen *uidsSeen, how string) {
	t.Helper()
	if wrong, err := m.answersWrong(a, false); wrong != "" {
		t.Fatalf("%s: the old handle mixes: %s", how, wrong)
	} else if err == nil {
		if wrong := seen.wrong(a); wrong != "" {
			t.Fatalf("%s: the old handle mixes: %s", how, wrong)
		}
	}
	m.mutate()
	mustSync(t, b)
	m.mustAnswer(t, b, true, how)
	if wrong := seen.wrong(b); wrong != "" {
		t.Fatalf("%s: %s", how, wrong)
	}
	_, err := a.Sync()
	if err != nil {
		if errors.Is(err, index.ErrStale) || errors.Is(err, index.ErrCorrupt) {
			return
		}
		t.Logf("%s: the old handle's Sync: %v", how, err)
		return
	}
	m.mustAnswer(t, a, false, how+": the old handle after a Sync")
	if wrong := seen.wrong(a); wrong != "" {
		t.Fatalf("%s: the old handle after a Sync: %s", how, wrong)
	}
	if got, want := a.Status().UIDValidity, b.Status().UIDValidity; got != want && !index.AxesOf(k.d).OwnIO {
		t.Fatalf("%s: the old handle after a Sync: uidvalidity %d, the new one's is %d", how, got, want)
	}
}

// uidList writes a dovecot-uidlist of the first messages, as far as it can name them.
func (m *mailbox) uidList(t T, path string, validity uint32) map[string]uint32 {
	t.Helper()
	listed := map[string]uint32{}
	text := fmt.Sprintf("3 V%d N900 G00000000000000000000000000000000\n", validity)
	for i, x := range m.msgs {
		if i > len(m.msgs)/2 || strings.ContainsAny(x.key, "\r\n") {
			break
		}
		listed[x.key] = uint32(100 + 10*i)
		text += fmt.Sprintf("%d :%s\n", listed[x.key], x.key)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return listed
}
