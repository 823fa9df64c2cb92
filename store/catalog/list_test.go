package catalog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
)

var quick = fsys.Unsynced(fsys.OS)

func newList(t testing.TB, fsy index.FS, name string) *List {
	t.Helper()
	l, err := CreateList(fsy, name, New("test", name, nil), 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openList(t testing.TB, fsy index.FS, name string) *List {
	t.Helper()
	l, err := OpenList(fsy, name, New("test", name, nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func rowsOf(c *Catalog) (rows []Row) {
	c.Each(func(r Row) bool { rows = append(rows, r); return true })
	return rows
}

// life makes random changes of a list and of a slice.
type life struct {
	r    *rand.Rand
	rows []Row
}

func (f *life) newRow(id uint64) Row {
	r := f.r
	return Row{Key: IDKey(id), Flags: index.Flags(r.IntN(64)), Keywords: r.Uint32(), Dir: uint8(r.IntN(3)), Size: r.Int64N(1e6), VSize: r.Int64N(1e6),
		Date: r.Int64N(4e9) - 2e9, File: r.Int64N(9), Off: r.Int64N(1e9)}
}

func (f *life) step(l *List) error {
	r := f.r
	switch op := r.IntN(8); {
	case op < 4 || len(f.rows) < 3:
		n := 1 + r.IntN(4)
		id := l.Reserve(n)
		var rows []Row
		for i := range n {
			rows = append(rows, f.newRow(id+uint64(i)))
		}
		if err := l.Add(rows, r.IntN(2) == 0); err != nil {
			return err
		}
		f.rows = append(f.rows, rows...)
	case op < 6:
		x := &f.rows[r.IntN(len(f.rows))]
		now := f.newRow(KeyID(x.Key))
		if op == 4 {
			if err := l.SetFlags([]Row{now, {Key: "999999"}}); err != nil {
				return err
			}
			x.Flags, x.Keywords, x.Dir = now.Flags, now.Keywords, now.Dir
		} else {
			if err := l.Move([]Row{now}); err != nil {
				return err
			}
			x.File, x.Off = now.File, now.Off
		}
	default:
		at := r.IntN(len(f.rows))
		removed, err := l.Remove([]string{f.rows[at].Key, "999999"})
		if err != nil {
			return err
		}
		if len(removed) != 1 || removed[0] != f.rows[at] {
			return fmt.Errorf("removed %v, want %v", removed, f.rows[at])
		}
		f.rows = slices.Delete(f.rows, at, at+1)
	}
	return nil
}

func (f *life) same(c *Catalog) error {
	if got := rowsOf(c); !slices.Equal(got, f.rows) {
		return fmt.Errorf("%d rows %v, want %d %v", len(got), got, len(f.rows), f.rows)
	}
	return nil
}

func TestList_model(t *testing.T) {
	r := fresh(t)
	name := filepath.Join(t.TempDir(), "list")
	l, f := newList(t, quick, name), &life{r: r}
	for n := range 600 {
		if err := f.step(l); err != nil {
			t.Fatal(err)
		}
		if n%20 > 0 {
			continue
		}
		if n%40 == 0 {
			if err := l.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		for err := range l.Check() {
			t.Fatal(err)
		}
		next := l.Next()
		if n%60 == 0 {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		again := openList(t, quick, name)
		if err := f.same(again.cat); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if again.Clean() != (n%60 == 0) {
			t.Errorf("step %d: clean is %v", n, again.Clean())
		}
		if n%60 == 0 && again.Next() != next {
			t.Errorf("step %d: next id %d, was %d", n, again.Next(), next)
		}
		l = again
	}
	l.Close()
}

// TestList_idsAreNotUsedAgain: not those of removed messages, nor, after a Close,
// those that were handed out and not used.
func TestList_idsAreNotUsedAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	l := newList(t, quick, name)
	id := l.Reserve(3)
	if err := l.Add([]Row{{Key: IDKey(id + 1)}}, true); err != nil {
		t.Fatal(err)
	}
	l.Remove([]string{IDKey(id + 1)})
	killed := openList(t, quick, name)
	if killed.Next() != id+2 {
		t.Errorf("next id %d, want %d", killed.Next(), id+2)
	}
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	l.Reserve(5)
	l.Close()
	if l = openList(t, quick, name); l.Next() != id+8 {
		t.Errorf("next id %d after a Close, want %d", l.Next(), id+8)
	}
	before, _ := os.ReadFile(name)
	for range 3 { // opening changes nothing
		l.Close()
		l = openList(t, quick, name)
	}
	l.Close()
	if after, _ := os.ReadFile(name); string(after) != string(before) {
		t.Error("opening and closing changed the file")
	}
	if l.Add([]Row{{Key: "99"}}, true) == nil || l.Compact() == nil {
		t.Error("a closed list takes changes")
	}
}

// TestList_cut: cut at any byte of what was synced last it is an older list; before
// that, an error.
func TestList_cut(t *testing.T) {
	r := fresh(t)
	name := filepath.Join(t.TempDir(), "list")
	l, f := newList(t, quick, name), &life{r: r}
	for range 5 {
		f.step(l)
	}
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	snapshot, _ := os.ReadFile(name)
	states := map[int][]Row{len(snapshot): slices.Clone(f.rows)}
	for range 8 {
		if err := f.step(l); err != nil {
			t.Fatal(err)
		}
		states[int(l.size)] = slices.Clone(f.rows)
	}
	full, _ := os.ReadFile(name)
	want, tried := []Row(nil), 0
	lasts := int(le.Uint64(full[lastsAt:]) & maxLasts)
	if lasts <= len(snapshot) {
		t.Fatalf("the header says that %d bytes last, the snapshot has %d", lasts, len(snapshot))
	}
	for n := range len(full) + 1 {
		cut := filepath.Join(filepath.Dir(name), "cut")
		if err := os.WriteFile(cut, full[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, whole := states[n]; whole {
			want = rows
		}
		got, err := OpenList(quick, cut, New("test", cut, nil))
		if n < len(snapshot) {
			if !errors.Is(err, index.ErrCorrupt) || !strings.Contains(err.Error(), cut) {
				t.Fatalf("cut at %d of a snapshot of %d: %v", n, len(snapshot), err)
			}
			continue
		}
		if n < lasts {
			var where *index.CorruptError
			if !errors.As(err, &where) || where.File != cut || where.Off != int64(n) {
				t.Fatalf("cut at %d, it had lasted up to %d: %v", n, lasts, err)
			}
			continue
		}
		tried++
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", n, len(full), err)
		}
		if rows := rowsOf(got.cat); !slices.Equal(rows, want) {
			t.Fatalf("cut at %d: %d rows, want %d", n, len(rows), len(want))
		}
		// And goes on.
		if err := got.Add([]Row{{Key: IDKey(got.Reserve(1))}}, true); err != nil {
			t.Fatal(err)
		}
		got.Close()
		again := openList(t, quick, cut)
		if again.cat.Len() != len(want)+1 {
			t.Fatalf("cut at %d: %d rows after one more, want %d", n, again.cat.Len(), len(want)+1)
		}
		again.Close()
	}
	if tried == 0 {
		t.Error("no cut is an older list")
	}
	l.Close()
}

// TestList_flip: each bit of each byte, one at a time: an error with the file's
// name, or nothing is different.
func TestList_flip(t *testing.T) {
	r := fresh(t)
	name := filepath.Join(t.TempDir(), "list")
	l, f := newList(t, quick, name), &life{r: r}
	for range 12 {
		if err := f.step(l); err != nil {
			t.Fatal(err)
		}
	}
	full, _ := os.ReadFile(name)
	l.Close()
	bad := filepath.Join(filepath.Dir(name), "bad")
	for i := range full {
		b := slices.Clone(full)
		b[i] ^= 1 << r.IntN(8)
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := OpenList(quick, bad, New("test", bad, nil))
		if i >= lastsAt && i < lastsAt+8 { // it then tells nothing
			if err != nil || !slices.Equal(rowsOf(got.cat), f.rows) {
				t.Fatalf("byte %d of %d: %v, or other rows", i, len(full), err)
			}
			got.Close()
			continue
		}
		if err == nil {
			t.Fatalf("byte %d of %d: opened with %d rows", i, len(full), got.cat.Len())
		}
		var where *index.CorruptError
		if !errors.As(err, &where) || where.File != bad || where.Off > int64(i) {
			t.Fatalf("byte %d of %d: %v", i, len(full), err)
		}
	}
}

// TestList_lostPages: of records that were not synced a crash may leave any
// sectors, also later ones alone. That is no damage.
func TestList_lostPages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	l, f := newList(t, quick, name), &life{r: fresh(t)}
	if err := l.Add([]Row{f.newRow(1)}, true); err != nil {
		t.Fatal(err)
	}
	synced := int(l.size)
	l.Raise(2)
	for range 400 {
		if err := l.Add([]Row{f.newRow(l.Reserve(1))}, false); err != nil {
			t.Fatal(err)
		}
	}
	full, _ := os.ReadFile(name)
	for sect := synced/sector + 1; sect < len(full)/sector; sect++ {
		b := slices.Clone(full)
		clear(b[sect*sector : (sect+1)*sector])
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got := openList(t, quick, name)
		if n := got.cat.Len(); n < 1 || n > 1+sect*sector/60 {
			t.Fatalf("sector %d: %d rows", sect, n)
		}
		got.f.Close()
	}
	// After a sync the same is damage.
	if err := os.WriteFile(name, full, 0o600); err != nil {
		t.Fatal(err)
	}
	l = openList(t, quick, name)
	l.SetFlags([]Row{{Key: "1", Flags: 1}})
	l.SetFlags([]Row{{Key: "1", Flags: 2}})
	full, _ = os.ReadFile(name)
	clear(full[4*sector : 5*sector])
	os.WriteFile(name, full, 0o600)
	if _, err := OpenList(quick, name, New("test", name, nil)); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("a lost sector of what had been synced: %v", err)
	}
}

// TestList_errors: any call that changes something may fail; then the change is
// not there, and the next is made.
func TestList_errors(t *testing.T) {
	boom := errors.New("boom")
	for nth, calls := 0, 1; nth < calls; nth++ {
		name := filepath.Join(t.TempDir(), "list")
		f := &life{r: rand.New(rand.NewPCG(7, 7))}
		calls = 0
		failing := fsys.Failing(quick, func(op fsys.Op, _ string, _ int64, n int) error {
			if !op.Changes() {
				return nil
			}
			if calls++; calls != nth+1 {
				return nil
			}
			if op == fsys.OpWrite && n > 9 {
				return &fsys.ShortWrite{N: 9, Err: boom}
			}
			return boom
		})
		l, err := CreateList(failing, name, New("test", name, nil), 1)
		if err != nil {
			l = newList(t, failing, name)
		}
		for n := range 30 {
			if n == 15 {
				if err := l.Compact(); err != nil && !errors.Is(err, boom) {
					t.Fatal(err)
				}
			}
			before := slices.Clone(f.rows)
			if err := f.step(l); err != nil {
				if !errors.Is(err, boom) {
					t.Fatal(err)
				}
				f.rows = before
			}
			if err := f.same(l.cat); err != nil {
				t.Fatalf("call %d, step %d: %v", nth, n, err)
			}
			killed := openList(t, quick, name)
			if err := f.same(killed.cat); err != nil {
				t.Fatalf("call %d, step %d, opened: %v", nth, n, err)
			}
			killed.f.Close()
		}
		l.Close()
	}
}

// TestList_group: changes that wait at the same time are one write and one sync.
func TestList_group(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	slow := fsys.Counting(fsys.Delaying(quick, 2*time.Millisecond, 0))
	l := newList(t, slow, name)
	names := 0
	l.BeforeAdd = func() error { names++; return nil }
	before := slow.Counts()
	const n = 50
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if err := l.Add([]Row{{Key: IDKey(l.Reserve(1))}}, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c := slow.Counts().Sub(before)
	if int64(names) != c.Syncs || c.Writes > 2*c.Syncs || c.Syncs >= n/2 { // a write may be of the header (L7)
		t.Errorf("%d changes at the same time: %d writes, %d syncs, %d of the directory", n, c.Writes, c.Syncs, names)
	}
	if l.Close(); openList(t, quick, name).cat.Len() != n {
		t.Error("changes are missing")
	}
}

func TestList_compactsByItself(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	l := newList(t, quick, name)
	l.Add([]Row{{Key: IDKey(l.Reserve(1))}}, true)
	for i := range 20_000 {
		if err := l.SetFlags([]Row{{Key: "1", Keywords: uint32(i)}}); err != nil {
			t.Fatal(err)
		}
		if l.size > 300<<10 {
			t.Fatalf("after %d changes of one message the list has %d bytes", i, l.size)
		}
	}
	if l.h.generation < 3 {
		t.Errorf("generation %d", l.h.generation)
	}
	l.Close()
	if r, _ := openList(t, quick, name).cat.Get("1"); r.Keywords != 19_999 {
		t.Errorf("keywords %d", r.Keywords)
	}
}

// TestList_compactsAtEnd holds that a long log does not outlive Close, and that
// one that Close cannot compact does.
func TestList_compactsAtEnd(t *testing.T) {
	for _, full := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "list")
		var closing bool
		l := newList(t, fsys.Failing(quick, func(op fsys.Op, path string, _ int64, _ int) error {
			if full && closing && op == fsys.OpOpen && path != name {
				return errors.New("no space left on device")
			}
			return nil
		}), name)
		rows := make([]Row, 100_000) // with fewer the two limits are the same
		first := l.Reserve(len(rows))
		for i := range rows {
			rows[i].Key = IDKey(first + uint64(i))
		}
		l.Add(rows, true)
		if err := l.Compact(); err != nil {
			t.Fatal(err)
		}
		snapshot := int64(l.h.snapshot)
		if snapshot <= 512<<10 {
			t.Fatalf("a snapshot of %d bytes", snapshot)
		}
		for i := range rows {
			rows[i].Keywords = uint32(i) + 1
		}
		for at := 0; l.size-snapshot <= max(256<<10, snapshot/2); at = (at + 1000) % len(rows) {
			if err := l.SetFlags(rows[at : at+1000]); err != nil {
				t.Fatal(err)
			}
		}
		before := l.h.generation
		closing = true
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		closing = false
		r := openList(t, quick, name)
		if (r.h.generation == before) != full {
			t.Errorf("full %t: generation %d, was %d", full, r.h.generation, before)
		}
		if got, _ := r.cat.Get(rows[50].Key); r.cat.Len() != len(rows) || got.Keywords != 51 {
			t.Errorf("full %t: %d rows, keywords %d", full, r.cat.Len(), got.Keywords)
		}
		r.Close()
	}
}

func TestList_ofAnotherFormat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	newList(t, quick, name).Close()
	if _, err := OpenList(quick, name, New("other", name, nil)); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("opened: %v", err)
	}
}

func FuzzOpenList(f *testing.F) {
	dir := f.TempDir()
	name := filepath.Join(dir, "seed")
	l, x := newList(f, quick, name), &life{r: rand.New(rand.NewPCG(1, 1))}
	for range 10 {
		x.step(l)
	}
	l.Close()
	seed, _ := os.ReadFile(name)
	f.Add(seed)
	f.Add(seed[:listHead])
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenList(quick, name, New("test", name, nil))
		if err != nil {
			return
		}
		for err := range l.Check() {
			t.Error(err)
		}
		l.Close()
	})
}

func FuzzOps(f *testing.F) {
	var d delta
	b := d.appendAdd(nil, 3, &Row{Size: 5, VSize: 6, Date: 7, Flags: 8, Keywords: 9, File: 1, Off: 2})
	f.Add(appendMarks(d.appendID(b, 'S', 2), &Row{Flags: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		eachOp(b, func(op byte, id uint64, r *Row) {
			if (id == 0) != (op == 'C' || op == 'D') {
				t.Errorf("%c of id %d", op, id)
			}
		})
	})
}

func BenchmarkOpenList(b *testing.B) {
	const n = 100_000
	name := filepath.Join(b.TempDir(), "list")
	c := New("test", name, nil)
	for i := range n {
		c.Load(Row{Key: IDKey(uint64(i + 1)), Dir: index.DirNone, Size: 3000 + int64(i%1000), VSize: 3100 + int64(i%1000), Date: 1e9 + 60*int64(i), File: int64(i / 3000), Off: int64(i%3000) * 3200})
	}
	l, err := CreateList(fsys.OS, name, c, 1)
	if err != nil {
		b.Fatal(err)
	}
	l.Close()
	size := l.size
	b.ReportAllocs()
	for b.Loop() {
		c := New("test", name, nil)
		l, err := OpenList(fsys.OS, name, c)
		if err != nil || c.Len() != n {
			b.Fatal(c.Len(), err)
		}
		l.f.Close()
	}
	b.ReportMetric(float64(size)/n, "file-B/msg")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
}
