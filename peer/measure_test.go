package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/peer/proc"
)

// measuredHere measures systems over a small corpus.
func measuredHere(t *testing.T, o Options) *Report {
	t.Helper()
	user, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	if o.Dir, err = proc.MakeDir("", user); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Dir.Remove(); err != nil {
			t.Error(err)
		}
	}()
	o.Corpus, o.Name, o.Messages = filepath.Join(t.TempDir(), "mail"), "test", 20
	if _, err := corpus.WriteMaildir(t.Context(), o.Corpus, corpus.Spec{Messages: 20}, nil); err != nil {
		t.Fatal(err)
	}
	r, err := Measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A noted system notes what is asked of it, and otherwise is a shell that says
// what an IMAP server would.
type noted struct {
	System
	log *[]string
}

type notedInstance struct {
	Instance
	name string
	log  *[]string
}

func (s noted) Prepare(ctx context.Context, run *Run) (Instance, error) {
	inst, err := s.System.Prepare(ctx, run)
	return notedInstance{inst, s.Name(), s.log}, err
}

func (x notedInstance) Fresh(ctx context.Context) error {
	*x.log = append(*x.log, x.name+" fresh")
	return x.Instance.Fresh(ctx)
}

func (x notedInstance) Task(op Op) *Task {
	if op != OpNoop && op != OpSelectFirst {
		return nil
	}
	*x.log = append(*x.log, x.name+" "+string(op))
	t := x.Instance.Task(op)
	t.Before = nil // nothing here looks at times
	return t
}

// parrot agrees to every command.
const parrot = `printf '* PREAUTH here\r\n'; while read tag rest; do printf '%s OK done\r\n' "$tag"; case $rest in LOGOUT*) exit;; esac; done`

// TestMeasure_order holds that systems are measured in turn, each round from
// nothing, and that each operation has a sample for each round.
func TestMeasure_order(t *testing.T) {
	var log []string
	r := measuredHere(t, Options{
		Systems: []System{noted{NewPipe("a", parrot), &log}, noted{NewPipe("b", parrot), &log}}, Count: 2, Timeout: 10 * time.Second,
	})
	round := []string{"a fresh", "a noop", "a select-first", "b fresh", "b noop", "b select-first"}
	if want := slices.Concat(round, round); !slices.Equal(log, want) {
		t.Errorf("done: %q", log)
	}
	for _, c := range r.Columns {
		if c.Failed != "" {
			t.Errorf("%s: %s", c.Name, c.Failed)
		}
		for _, op := range []Op{OpNoop, OpSelectFirst} {
			cell := c.Cells[op]
			if cell == nil || len(cell.Samples) != 2 {
				t.Errorf("%s %s: %+v", c.Name, op, cell)
				continue
			}
			for _, s := range cell.Samples {
				if s.Wall <= 0 || s.Process.Wall < s.Wall {
					t.Errorf("%s %s: %+v", c.Name, op, s)
				}
			}
		}
	}
}

// TestMeasure_hang holds that a system that does not answer costs its timeout
// once, says so with what it last logged, and leaves the others alone.
func TestMeasure_hang(t *testing.T) {
	begun := time.Now()
	r := measuredHere(t, Options{
		Systems: []System{NewPipe("hang", `echo stuck here >&2; printf '* PREAUTH\r\n'; sleep 1000`), NewPipe("b", parrot)},
		Ops:     []Op{OpNoop}, Count: 2, Timeout: 300 * time.Millisecond,
	})
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	hang, b := r.Columns[0], r.Columns[1]
	if cell := hang.Cells[OpNoop]; cell.Missed != "timed out" || len(cell.Samples) != 0 || !strings.Contains(cell.Skipped, "stuck here") {
		t.Errorf("hang: %+v", cell)
	}
	if b.Failed != "" || len(b.Cells[OpNoop].Samples) != 2 {
		t.Errorf("b: %+v", b)
	}
}

// TestMeasure_failed holds that a system that dies or refuses is told and the
// run goes on, and that one that is missing is named.
func TestMeasure_failed(t *testing.T) {
	r := measuredHere(t, Options{
		Systems: []System{
			NewPipe("dies", "exit 3"), NewPipe("refuses", `printf '* PREAUTH\r\n'; read tag rest; printf '%s NO not today\r\n' "$tag"`),
			NewDovecot(DovecotOptions{Binary: "/nowhere/imap"}), NewPipe("b", parrot),
		},
		Ops: []Op{OpNoop}, Count: 1, Timeout: 10 * time.Second,
	})
	if len(r.Columns) != 3 || len(r.Missing) != 1 {
		t.Fatalf("%d columns, missing %q", len(r.Columns), r.Missing)
	}
	for i, want := range []string{"noop: ", "not today", ""} {
		c := r.Columns[i]
		if !strings.Contains(c.Failed, want) || (want == "") != (c.Failed == "") {
			t.Errorf("%s: %q", c.Name, c.Failed)
		}
		if want != "" && c.Cells[OpNoop].Missed != "failed" {
			t.Errorf("%s: %+v", c.Name, c.Cells[OpNoop])
		}
	}
}

// TestMeasure_cancelled holds that an interrupt ends it.
func TestMeasure_cancelled(t *testing.T) {
	dir, err := proc.MakeDir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	mail := filepath.Join(t.TempDir(), "mail")
	if _, err := corpus.WriteMaildir(t.Context(), mail, corpus.Spec{Messages: 3}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Measure(ctx, Options{Systems: []System{NewPipe("hang", "sleep 1000")}, Dir: dir, Corpus: mail})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestParseOps(t *testing.T) {
	for words, want := range map[string][]Op{
		"noop":            {OpNoop},
		"thread-again":    {OpSelectFirst, OpThreadFirst, OpThreadAgain},
		"sort-date-again": {OpSelectFirst, OpThreadFirst, OpSortDateFirst, OpSortDateAgain},
		"resync,noop":     {OpNoop, OpSelectFirst, OpResync},
	} {
		if got, err := ParseOps(strings.Split(words, ",")); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
	if _, err := ParseOps([]string{"thread"}); err == nil || !strings.Contains(err.Error(), "thread-first") {
		t.Errorf("thread: %v", err)
	}
}

// TestRoom holds that too little space is refused before anything is cloned.
func TestRoom(t *testing.T) {
	systems := []System{NewPipe("a", parrot), NewPipe("b", parrot)}
	const n, bytes = 1000, 5 << 20
	shared, copied := spaceNeeded(systems, n, bytes, true), spaceNeeded(systems, n, bytes, false)
	if copied < 2*bytes || shared >= copied || shared < 2*bytes/5 {
		t.Errorf("shared %d, copied %d", shared, copied)
	}
	if withMu := spaceNeeded(append(systems, NewMu(MuOptions{})), n, bytes, true); withMu < shared+bytes {
		t.Errorf("with mu %d, without %d", withMu, shared)
	}
	mail := filepath.Join(t.TempDir(), "mail")
	if err := os.MkdirAll(filepath.Join(mail, "cur"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(mail, "cur", "1.x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 43); err != nil { // a hole
		t.Skip(err)
	}
	dir, err := proc.MakeDir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	_, err = Measure(t.Context(), Options{Systems: systems, Dir: dir, Corpus: mail})
	if err == nil || !strings.Contains(err.Error(), "GB are free") {
		t.Errorf("%v", err)
	}
}
