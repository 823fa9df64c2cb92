package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/meter"
)

// TestGrow_rows holds that the sizes run one after the other, that the larger
// one says how many times the smaller one's time a message takes, and that
// the factor is told after the rows.
func TestGrow_rows(t *testing.T) {
	t.Parallel()
	got := benchmark(t, diskDir(t), "Grow/.*/op=(select-first|resync-deliver|fetch)/.*/.*/msgs=(1k|10k)$", "-corpus=synthetic:50", "-designs=column", "-rows=all")
	if got.code != 0 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	for _, op := range []string{"select-first", "resync-deliver", "fetch"} {
		name := "BenchmarkGrow/design=column/op=" + op + "/"
		rows := lines(got.out, name)
		if len(rows) != 2 || !strings.Contains(rows[0], "msgs=1k") || strings.Contains(rows[0], " growth") || !strings.Contains(rows[1], " growth") {
			t.Errorf("%s: %q", op, rows)
		}
		told := lines(got.out, "# growth of ns/msg, "+strings.TrimSuffix(name, "/")+": 1k ")
		if len(told) != 1 || !strings.Contains(told[0], ", 10k ") || !strings.Contains(told[0], ", factor ") {
			t.Errorf("%s: %q", op, told)
		}
	}
}

func TestGrowth(t *testing.T) {
	var g growth
	took := func(size growSize, wall time.Duration, heap uint64) []metric {
		return g.add("x", size, &job{messages: size.messages}, &result{samples: []meter.Sample{{Wall: wall, Bytes: heap, User: wall / 4}}})
	}
	small, large := growSizes[0], growSizes[1]
	if got := took(small, 2*time.Millisecond, 5000); !slices.Equal(got, []metric{{"ns/msg", 2000}, {"B/msg", 5}}) {
		t.Errorf("small: %v", got)
	}
	if len(g.notes()) != 0 {
		t.Errorf("one size grows: %v", g.notes())
	}
	if got := took(large, 60*time.Millisecond, 10_000); !slices.Equal(got, []metric{{"ns/msg", 6000}, {"B/msg", 1}, {"growth", 3}}) {
		t.Errorf("large: %v", got)
	}
	took(small, time.Millisecond, 5000) // with -count
	if got := g.notes(); len(got) != 1 || got[0] != (note{"x", "1k 1000, 10k 6000, factor 6, of CPU time 6"}) {
		t.Errorf("notes: %v", got)
	}
}

// TestGrow_cloneIsLinks holds that the clone of a corpus of ours takes no
// blocks of its own, that changing it leaves the corpus alone, and that it
// goes with the corpus.
func TestGrow_cloneIsLinks(t *testing.T) {
	r := runner(t, diskDir(t), Config{Corpus: "synthetic:20"})
	if _, err := r.open(); err != nil {
		t.Fatal(err)
	}
	f, err := r.ownCorpus(corpus.Spec{Messages: 30, Body: corpus.BodyNone})
	if err != nil {
		t.Fatal(err)
	}
	r.grown = f
	m, err := r.live(f)
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.Stat(filepath.Join(f.path, m.home[3]))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(filepath.Join(m.path, m.home[3]))
	if err != nil || !os.SameFile(a, b) {
		t.Errorf("%s is not a link to the corpus: %v", m.home[3], err)
	}
	if err := m.put(3, ""); err != nil {
		t.Fatal(err)
	}
	if names, err := mailNames(f.path); err != nil || len(names) != 30 {
		t.Errorf("%d messages in the corpus, %v", len(names), err)
	}
	if again, err := r.live(f); err != nil || again != m || len(m.present()) != 30 {
		t.Errorf("the next row finds %d of 30 messages: %v", len(m.present()), err)
	}
	if err := r.shrink(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(m.path); !os.IsNotExist(err) {
		t.Errorf("the clone is still there: %v", err)
	}
}

// TestPlainField compares the plain reader of fields with what the designs
// read them by, on mail with every fault that the generator makes.
func TestPlainField(t *testing.T) {
	spec := corpus.Spec{Messages: 3000, Seed: 5}
	g := corpus.Generate(spec)
	var m corpus.Message
	for g.Next(&m) {
		src := oneMessage{header: m.Data}
		err := index.FetchFrom(src, []uint32{1}, index.EnvelopeFields, func(uint32) *index.Entry { return &index.Entry{} }, func(_ uint32, values [][]byte) error {
			for i, name := range index.EnvelopeFields {
				got := plainField(m.Data, name)
				if string(got) != string(values[i]) || (got == nil) != (values[i] == nil) {
					t.Errorf("%s is %q, nil %v; FetchFrom has %q, nil %v", name, got, got == nil, values[i], values[i] == nil)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ header, want string }{
		{"Subject:x\n\nSubject: y\n", "x"}, {"subject :\n x\n\ty \nTo: z\n", "x\ty"}, {"A: b\r\nSUBJECT: x\r\n y\r\n\r\n", "x y"},
		{"Subject: x\nSubject: y\n", "x"}, {"Subject", "absent"}, {"\nSubject: x\n", "absent"}, {"Subject:\n\n", ""},
	} {
		got := plainField([]byte(c.header), "Subject")
		if got == nil != (c.want == "absent") || got != nil && string(got) != c.want {
			t.Errorf("%q: %q, nil %v; want %q", c.header, got, got == nil, c.want)
		}
	}
}

// oneMessage is a source whose every header is the same.
type oneMessage struct {
	index.Source
	header []byte
}

func (s oneMessage) ReadHeader(*index.Entry, []byte) ([]byte, error) { return s.header, nil }
