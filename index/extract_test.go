package index

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mailbench/internal/oracle"
)

// sourceOf lists texts as messages 0, 1, ...
func sourceOf(texts []string) (*memSource, []Entry) {
	src := newMemSource()
	es := make([]Entry, len(texts))
	for i, s := range texts {
		key := fmt.Sprint(i)
		src.msgs[key] = &memMsg{text: s}
		es[i] = Entry{Key: key, VSize: -1}
	}
	return src, es
}

func someTexts(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		id := func() string { return fmt.Sprintf("<%d@Example.net>", r.IntN(n)) }
		if r.IntN(9) > 0 {
			fmt.Fprintf(&b, "Message-ID: %s\n", id())
		}
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "References: %s\n %s %s\n", id(), id(), id())
		case 1:
			fmt.Fprintf(&b, "In-Reply-To: your mail %s of %s\n", id(), id())
		case 2:
			fmt.Fprintf(&b, "References: none\nIn-Reply-To: %s\n", id())
		}
		fmt.Fprintf(&b, "Subject: %s%d\n", []string{"Re: ", "", "Fwd: [x] ", "=?utf-8?q?AW=3A_?= "}[r.IntN(4)], r.IntN(9))
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "Date: %d Jan 2020 10:00:00 +0%d00\n", 1+r.IntN(28), r.IntN(9))
		case 1:
			b.WriteString("Date: never\n")
		}
		for _, f := range []string{"From", "To", "Cc"} {
			if r.IntN(3) > 0 {
				fmt.Fprintf(&b, "%s: \"N %d\" <U%d@H>, x@y\n", f, r.IntN(9), r.IntN(9))
			}
		}
		b.WriteString("\nbody\n")
		out[i] = b.String()
	}
	return out
}

// The columns hold what the oracle finds in each message, whoever read it.
func TestColumnsAsOracle(t *testing.T) {
	r := testRand(t)
	texts := someTexts(r, 500)
	src, es := sourceOf(texts)
	gone := 77
	delete(src.msgs, fmt.Sprint(gone))
	rows := Rows{Source: src, N: len(es), Entry: func(i int) *Entry { return &es[i] }, Workers: 3}
	c, err := rows.Columns(WantAll, CompatRFC)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Failed, []int32{int32(gone)}) {
		t.Fatalf("failed rows %v", c.Failed)
	}
	var in []oracle.Message
	for i, s := range texts {
		in = append(in, oracle.Message{UID: uint32(i + 1), Header: []byte(s[:strings.Index(s, "\n\n")+2])})
	}
	box := oracle.New(in, oracle.RFC)
	for i := range texts {
		if i == gone {
			continue
		}
		want := box.Keys(i)
		got := oracle.Keys{Subject: string(c.Subjects.Bytes(c.Input.Subject[i])), Reply: c.Input.Reply[i] == 1, Sent: c.Input.Date[i],
			From: string(c.Keys.Bytes(c.From[i])), To: string(c.Keys.Bytes(c.To[i])), Cc: string(c.Keys.Bytes(c.Cc[i])),
			DisplayFrom: string(c.Keys.Bytes(c.DisplayFrom[i])), DisplayTo: string(c.Keys.Bytes(c.DisplayTo[i]))}
		if id := c.Input.ID[i]; id >= 0 {
			got.ID = string(c.IDs.Bytes(id))
		}
		for _, ref := range c.Input.Ref[c.Input.RefOff[i]:c.Input.RefOff[i+1]] {
			got.Refs = append(got.Refs, string(c.IDs.Bytes(ref)))
		}
		if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("message %d\n%s\ngot  %+v\nwant %+v", i, texts[i], got, want)
		}
	}
}

func TestReadHeaders(t *testing.T) {
	texts := someTexts(rand.New(rand.NewPCG(1, 1)), 1000)
	src, es := sourceOf(texts)
	delete(src.msgs, "500")
	for _, workers := range []int{0, 1, 7, 100} {
		seen := make([]atomic.Int32, len(es))
		var busy [MaxReaders]atomic.Bool
		ReadHeaders(src, es, workers, func(w, i int, h []byte, err error) {
			if !busy[w].CompareAndSwap(false, true) {
				t.Error("a worker in two calls at once")
			}
			seen[i].Add(1)
			if i == 500 {
				if err == nil || err != fs.ErrNotExist {
					t.Errorf("message 500: %v", err)
				}
			} else if err != nil || string(h) != texts[i][:strings.Index(texts[i], "\n\n")+2] {
				t.Errorf("message %d: %q %v", i, h, err)
			}
			busy[w].Store(false)
		})
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Fatalf("message %d came %d times", i, seen[i].Load())
			}
		}
	}
	ReadHeaders(src, nil, 0, func(int, int, []byte, error) { t.Error("called") })
}

func TestCRLFSize(t *testing.T) {
	for s, want := range map[string]int64{"": 0, "a": 1, "\n": 2, "\r\n": 2, "a\nb\r\nc": 7, "\r\r\n": 3, "\n\n": 4} {
		if got := CRLFSize([]byte(s)); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// DESIGN: at most 0.01 heap allocations per message.
func TestAllocations(t *testing.T) {
	const n = 60_000
	texts := someTexts(rand.New(rand.NewPCG(2, 2)), 64)
	headers := make([][]byte, len(texts))
	for i, s := range texts {
		headers[i] = []byte(s[:strings.Index(s, "\n\n")+2])
	}
	if got := testing.AllocsPerRun(3, func() {
		b := NewBuilder(n, WantAll, CompatRFC)
		ReadEach(n, 2, func(i int, buf []byte) ([]byte, error) {
			return append(buf[:0], headers[i%len(headers)]...), nil
		}, func(w, i int, h []byte, err error) { b.Add(w, i, h) })
		b.Columns()
	}); got > n/100 {
		t.Errorf("reading columns: %.0f allocations for %d messages", got, n)
	}

	// First build, unchanged and changed listings of an index.
	src := &fixedSource{memSource: newMemSource()}
	for i := range n {
		src.es = append(src.es, Entry{Key: fmt.Sprintf("%d.M%dP7.host,S=%d", 1_500_000_000+i*60, i*7919%1_000_000, 1000+i%977), VSize: -1})
	}
	sync := func(b *Base) {
		src.tick++
		if _, err := b.Sync(src); err != nil {
			t.Fatal(err)
		}
	}
	if got := testing.AllocsPerRun(3, func() {
		sync(openTestBase(t, quick, t.TempDir()))
	}); got > n/100 {
		t.Errorf("first build: %.0f allocations for %d messages", got, n)
	}
	dir := t.TempDir()
	sync(openTestBase(t, quick, dir))
	if got := testing.AllocsPerRun(3, func() {
		src.es[17].Flags ^= FlagSeen
		sync(openTestBase(t, quick, dir))
	}); got > n/100 {
		t.Errorf("a changed flag: %.0f allocations for %d messages", got, n)
	}
}

// fixedSource lists es without allocating.
type fixedSource struct {
	*memSource
	es []Entry
}

func (f *fixedSource) List(l *Listing) error {
	l.Entries = append(l.Entries[:0], f.es...)
	l.Digest = Digest{Sum: [2]uint64{f.tick, 1}, N: len(f.es)}
	return nil
}

func (f *fixedSource) Order([]Entry) {}

func FuzzExtract(f *testing.F) {
	for _, s := range someTexts(rand.New(rand.NewPCG(3, 3)), 8) {
		f.Add([]byte(s))
	}
	x := Extractor{Want: WantAll}
	var fields Fields
	f.Fuzz(func(t *testing.T, b []byte) {
		x.Extract(b, &fields)
		n := 0
		for _, r := range fields.Refs {
			n += len(r)
		}
		if n > len(b) {
			t.Fatalf("%d bytes of references in a header of %d", n, len(b))
		}
	})
}
