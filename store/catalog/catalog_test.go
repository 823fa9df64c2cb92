package catalog

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/maildir"
)

var seed = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

func fresh(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// memory is a Reader of texts by place.
type memory struct {
	mu    sync.Mutex
	texts map[int64]string
	reads int
}

func (m *memory) ReadMessage(r Row, buf []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	text, ok := m.texts[r.File]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return append(buf[:0], text...), nil
}

func (m *memory) ReadHead(r Row, buf []byte) ([]byte, error) { return m.ReadMessage(r, buf) }

// plain is the model: rows in a slice.
type plain struct{ rows []Row }

func (p *plain) at(key string) int {
	return slices.IndexFunc(p.rows, func(r Row) bool { return r.Key == key })
}

func (p *plain) copy() []Row { return slices.Clone(p.rows) }

func listing(c *Catalog) []index.Entry {
	var l index.Listing
	c.Source().List(&l)
	return l.Entries
}

func entriesAre(es []index.Entry, rows []Row) error {
	if len(es) != len(rows) {
		return fmt.Errorf("%d entries, want %d", len(es), len(rows))
	}
	for i, r := range rows {
		e := es[i]
		if e.Key != r.Key || e.Flags != r.Flags || e.Keywords != r.Keywords || e.Dir != r.Dir || e.Size != r.Size || e.VSize != r.VSize || e.MTime != r.Date || !e.MTimeOK {
			return fmt.Errorf("entry %d is %+v, want %+v", i, e, r)
		}
	}
	return nil
}

// anew is a catalog with those rows and no history.
func anew(rows []Row) *Catalog {
	c := New("test", "anew", &memory{})
	c.Load(rows...)
	return c
}

// TestModel runs random histories beside a slice: list, order, digest, and what
// Since and Arrived tell from every earlier moment.
func TestModel(t *testing.T) {
	r := fresh(t)
	for round := range 20 {
		c, model := New("test", "here", &memory{}), &plain{}
		next := 0
		type moment struct {
			digest index.Digest
			rows   []Row
		}
		var moments []moment
		newRow := func() Row {
			next++
			return Row{Key: strconv.Itoa(next * 7), Flags: index.Flags(r.IntN(64)), Keywords: r.Uint32N(4), Dir: index.DirNone,
				Size: r.Int64N(9000), VSize: r.Int64N(9000), Date: r.Int64N(1e9), File: r.Int64N(5), Off: r.Int64N(1e9)}
		}
		for step := range 150 {
			switch op := r.IntN(10); {
			case op < 4 || len(model.rows) == 0:
				var rows []Row
				for range 1 + r.IntN(3) {
					rows = append(rows, newRow())
				}
				c.Add(rows...)
				model.rows = append(model.rows, rows...)
			case op < 7:
				at := r.IntN(len(model.rows))
				row := &model.rows[at]
				if r.IntN(3) == 0 {
					row.Off++ // another place alone is nothing that an index sees
				} else {
					row.Flags, row.Keywords, row.Dir = index.Flags(r.IntN(4)), r.Uint32N(2), uint8(r.IntN(3))
				}
				if !c.Set(*row) {
					t.Fatal("a row that is there was not set")
				}
			default:
				var keys []string
				var want []Row
				for range 1 + r.IntN(3*len(model.rows)/2) {
					key := strconv.Itoa(7 * (1 + r.IntN(next)))
					if at := model.at(key); at >= 0 {
						want = append(want, model.rows[at])
						model.rows = slices.Delete(model.rows, at, at+1)
					}
					keys = append(keys, key)
				}
				if r.IntN(3) > 0 {
					keys = append(keys, "unknown")
				}
				if got := c.Remove(keys...); !slices.Equal(got, want) {
					t.Fatalf("removed %v, want %v", got, want)
				}
			}
			if err := entriesAre(listing(c), model.rows); err != nil {
				t.Fatalf("round %d step %d: %v", round, step, err)
			}
			if c.Len() != len(model.rows) || c.Digest() != anew(model.rows).Digest() {
				t.Fatalf("step %d: the running digest is not that of the rows", step)
			}
			moments = append(moments, moment{c.Digest(), model.copy()})
			for _, m := range moments[max(0, len(moments)-30):] {
				if err := tellsDifference(c, m.digest, m.rows, model.rows); err != nil {
					t.Fatalf("round %d step %d: %v", round, step, err)
				}
			}
		}
	}
}

// tellsDifference checks Since and Arrived from old to the rows of now.
func tellsDifference(c *Catalog, known index.Digest, old, now []Row) error {
	if len(old) == 0 {
		return nil // not told, see since
	}
	src := c.Source().(index.Journal)
	var l index.Listing
	if err := src.Glance(&l); err != nil {
		return err
	}
	gone, ok := src.Since(&l, known, 1000)
	if !ok {
		return errors.New("Since does not remember")
	}
	was := map[string]Row{}
	for _, r := range old {
		was[r.Key] = r
	}
	var want []Row
	added, other := 0, 0
	for _, r := range now {
		o, there := was[r.Key]
		delete(was, r.Key)
		if !there {
			added++
		} else if o.Flags == r.Flags && o.Keywords == r.Keywords && o.Dir == r.Dir {
			continue
		} else {
			other++
		}
		want = append(want, r)
	}
	if err := entriesAre(l.Entries, want); err != nil {
		return fmt.Errorf("Since: %w", err)
	}
	if len(gone) != len(was) {
		return fmt.Errorf("Since: gone %v, want %v", gone, was)
	}
	for _, key := range gone {
		if _, there := was[key]; !there {
			return fmt.Errorf("Since: %s is not gone", key)
		}
	}
	if n := len(want) + len(was); n > 0 {
		if _, ok := src.Since(&l, known, n-1); ok {
			return errors.New("Since tells more than limit")
		}
	}
	if got, want := src.(index.Newcomer).Arrived(&l, known, 1000), len(was) == 0 && other == 0; got != want {
		return fmt.Errorf("Arrived is %v, want %v", got, want)
	}
	return nil
}

// TestSince_momentOfGlance: changes after Glance are not told, and Fill says
// what it listed.
func TestSince_momentOfGlance(t *testing.T) {
	c := anew([]Row{{Key: "a"}, {Key: "b"}})
	src := c.Source().(index.Journal)
	known := c.Digest()
	c.Add(Row{Key: "c"})
	var l index.Listing
	src.Glance(&l)
	at := l.Digest
	c.Set(Row{Key: "c", Flags: index.FlagSeen})
	c.Remove("a")
	gone, ok := src.Since(&l, known, 10)
	if !ok || len(gone) != 0 || len(l.Entries) != 1 || l.Entries[0].Key != "c" || l.Entries[0].Flags != 0 || l.Digest != at {
		t.Errorf("got %v, %v, %+v", gone, ok, l.Entries)
	}
	src.Fill(&l)
	if len(l.Entries) != 2 || l.Digest != c.Digest() || l.Digest == at {
		t.Errorf("filled with %+v", l)
	}
	if gone, ok := src.Since(&l, at, 10); !ok || !slices.Equal(gone, []string{"a"}) || len(l.Entries) != 1 {
		t.Errorf("after Fill: %v, %v, %+v", gone, ok, l.Entries)
	}
}

// TestRing_forgets: what was before the remembered changes is not told.
func TestRing_forgets(t *testing.T) {
	c := anew([]Row{{Key: "a"}})
	old := c.Digest()
	src := c.Source().(index.Journal)
	var l index.Listing
	flip := func(n int) {
		for i := range n {
			c.Set(Row{Key: "a", Keywords: uint32(i + 1)})
		}
	}
	flip(MaxRecent)
	src.Glance(&l)
	if _, ok := src.Since(&l, old, MaxRecent); !ok || len(l.Entries) != 1 {
		t.Error("the change that is just remembered is not told")
	}
	c.Set(Row{Key: "a", Keywords: 1 << 31})
	src.Glance(&l)
	if _, ok := src.Since(&l, old, MaxRecent); ok {
		t.Error("a forgotten change is told")
	}
	stale := l
	stale.Private = &glance{c: c, n: 0}
	if _, ok := src.Since(&stale, old, MaxRecent); ok {
		t.Error("from a forgotten Glance")
	}
}

func TestDigest_differs(t *testing.T) {
	seen := map[index.Digest]Row{}
	for _, r := range []Row{{Key: "a"}, {Key: "b"}, {Key: "a", Flags: 1}, {Key: "a", Flags: 2}, {Key: "a", Keywords: 1}, {Key: "a", Dir: 1}, {Key: "a", Dir: 2}} {
		d := anew([]Row{r}).Digest()
		if o, there := seen[d]; there {
			t.Errorf("%+v and %+v have the same digest", r, o)
		}
		seen[d] = r
	}
	if a, b := anew([]Row{{Key: "a"}, {Key: "b", Flags: 1}}), anew([]Row{{Key: "b", Flags: 1}, {Key: "a"}}); a.Digest() != b.Digest() {
		t.Error("the order matters")
	}
}

// TestRead_moved: a message that moves while it is looked for is found.
func TestRead_moved(t *testing.T) {
	m := &memory{texts: map[int64]string{2: "A: b\n\nbody\n"}}
	c := New("test", "here", m)
	c.Add(Row{Key: "k", File: 1, Size: 11, VSize: 14, Date: 5})
	src := c.Source()
	var l index.Listing
	src.List(&l)
	e := &l.Entries[0]
	if _, err := src.ReadMessage(e, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	c.Set(Row{Key: "k", File: 2, Size: 11, VSize: 14, Date: 5})
	if b, err := src.ReadHeader(e, nil); err != nil || string(b) != "A: b\n\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := src.(index.HeadReader).ReadHead(e, nil); err != nil || string(b) != "A: b\n\nbody\n" {
		t.Errorf("%q, %v", b, err)
	}
	var named index.Entry
	src.(index.Namer).NameEntry(&named, []byte("k"), index.FlagSeen, index.DirNone, 3, nil)
	if b, err := src.ReadMessage(&named, nil); err != nil || string(b) != "A: b\n\nbody\n" || named.Size != 11 || named.Flags != index.FlagSeen {
		t.Errorf("%q, %v, %+v", b, err, named)
	}
	if size, date, err := src.Stat(&named); size != 11 || date != 5 || err != nil {
		t.Errorf("stat %d, %d, %v", size, date, err)
	}
	c.Remove("k")
	if _, err := src.ReadMessage(e, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "here: message k") {
		t.Errorf("removed: %v", err)
	}
	if _, _, err := src.Stat(e); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of a removed one: %v", err)
	}
}

func TestOrder(t *testing.T) {
	c := New("test", "here", &memory{})
	for _, k := range []string{"z", "b", "q", "a"} {
		c.Add(Row{Key: k})
	}
	es := listing(c)
	slices.Reverse(es)
	var named index.Entry
	c.Source().(index.Namer).NameEntry(&named, []byte("b"), 0, 0, 0, nil)
	named.Ref = -1
	es = append(es[:2], named, es[3]) // a, q, b by name, z
	c.Source().Order(es)
	var got string
	for _, e := range es {
		got += e.Key
	}
	if got != "zbqa" {
		t.Errorf("order %s", got)
	}
}

func TestReadHeadAt(t *testing.T) {
	line := "Field: " + strings.Repeat("x", 90) + "\n"
	for _, n := range []int{0, 1, firstRead - 3, firstRead - 1, firstRead, firstRead + 1, 4*firstRead - 1, 4 * firstRead, 5 * firstRead, maildir.MaxHeader - 1, maildir.MaxHeader + 5} {
		header := strings.Repeat(line, n/len(line)+1)[:n]
		for _, tail := range []string{"", "\n", "\n\nbody"} {
			text := "junk" + header + tail + strings.Repeat("b", 10*len(tail))
			want := min(len(text)-4, len(header)+min(len(tail), 2), maildir.MaxHeader)
			got, err := ReadHeadAt(strings.NewReader(text), 4, int64(len(text)-4), nil)
			if err != nil || len(got) < want || len(got) > maildir.MaxHeader || !bytes.Equal(got, []byte(text[4:4+len(got)])) {
				t.Errorf("header of %d, tail %q: %d bytes, %v", n, tail, len(got), err)
			}
		}
	}
	if _, err := ReadHeadAt(strings.NewReader("abc"), 1, 5, nil); err == nil {
		t.Error("a file that ends early")
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	m := &memory{texts: map[int64]string{0: "A: b\n\n"}}
	c := New("test", "here", m)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var l index.Listing
			src := c.Source().(index.Journal)
			for i := range 100 {
				key := fmt.Sprint(g, "-", i)
				c.Add(Row{Key: key})
				c.Set(Row{Key: key, Flags: 1})
				known := c.Digest()
				if _, err := c.Source().ReadHeader(&index.Entry{Key: key}, nil); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					c.Remove(key)
				}
				src.Glance(&l)
				if _, ok := src.Since(&l, known, 1<<20); !ok {
					t.Error("Since forgot")
				}
				src.Fill(&l)
			}
		})
	}
	wg.Wait()
	if c.Len() != 400 {
		t.Errorf("%d rows", c.Len())
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 100_000
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{Key: strconv.Itoa(i + 1), Dir: index.DirNone, Size: 3000, VSize: 3100, Date: 1e9}
	}
	b.ReportAllocs()
	for b.Loop() {
		if c := anew(rows); c.Len() != n {
			b.Fatal("rows are missing")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
}
