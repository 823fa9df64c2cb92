package column

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/oracle"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

var seedFlag = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

func seeded(t testing.TB) (*rand.Rand, uint64) {
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	return rand.New(rand.NewPCG(s, 0)), s
}

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

var sortKeys = []string{"date", "subject", "arrival", "size", "from", "to", "cc", "displayfrom", "displayto",
	"reverse date", "subject reverse date", "from date", "reverse subject", "to displayfrom reverse size"}

// verify compares every kind of answer with the oracle.
func verify(mb index.Mailbox, f *fake, r *rand.Rand) error {
	searches := []index.Search{{}, {Kind: "undeleted"}, {Kind: "recent"}, {Kind: "uids"}}
	all, err := f.box(mb, func(index.Message) bool { return true })
	if err != nil {
		return err
	}
	if n := mb.Status().Messages; n != len(all) {
		return fmt.Errorf("status says %d messages, there are %d", n, len(all))
	}
	var uids []uint32
	for _, m := range all {
		if r.IntN(2) == 0 {
			uids = append(uids, m.UID)
		}
	}
	searches[3].UIDs = uids
	for _, s := range searches {
		box, err := f.box(mb, func(m index.Message) bool {
			switch s.Kind {
			case "undeleted":
				return m.Flags&index.FlagDeleted == 0
			case "uids":
				return slices.Contains(uids, m.UID)
			}
			return true
		})
		if err != nil {
			return err
		}
		o := oracle.New(box, oracle.RFC)
		for alg, want := range map[thread.Alg]string{thread.References: o.References(), thread.Refs: o.Refs(), thread.OrderedSubject: o.OrderedSubject()} {
			a, err := mb.Thread(alg, s)
			if err != nil {
				return fmt.Errorf("thread %v %s: %w", alg, s.Kind, err)
			}
			got := strings.TrimSpace(strings.TrimPrefix(string(a.AppendIMAP(nil)), "* THREAD"))
			if got != want {
				return fmt.Errorf("thread %v %s:\n got %s\nwant %s", alg, s.Kind, got, want)
			}
		}
		for _, i := range r.Perm(len(sortKeys))[:4] {
			crit, err := mailsort.ParseCriteria(sortKeys[i])
			if err != nil {
				return err
			}
			got, err := mb.Sort(crit, s)
			if err != nil {
				return fmt.Errorf("sort %s %s: %w", sortKeys[i], s.Kind, err)
			}
			if want := o.Sort(sortKeys[i]); !slices.Equal(got, want) {
				return fmt.Errorf("sort %s %s:\n got %v\nwant %v", sortKeys[i], s.Kind, got, want)
			}
		}
	}
	return nil
}

func check(mb index.Mailbox) error {
	for err := range mb.Check() {
		if strings.Contains(err.Error(), "torn tail") {
			continue // a crash left it: dropped by readers, cut by the next writer
		}
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

func openBox(t fatal, dir string, fsy index.FS, f index.Source, o index.Options) index.Mailbox {
	t.Helper()
	mb, err := Design.Open(index.Config{Dir: dir, FS: fsy, Source: f, Options: o})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	mb.(*mailbox).memo.least = 0 // small answers take the way of large ones
	return mb
}

func TestHistories(t *testing.T) {
	r, _ := seeded(t)
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		o := index.Options{Fields: []string{"thread", "envelope"}[round%2], Answers: []string{"stored", "computed"}[round/2%2], CacheBytes: []int64{0, 1}[round/4%2]}
		t.Run(fmt.Sprintf("%s,%s,%d", o.Fields, o.Answers, round), func(t *testing.T) {
			dir := t.TempDir()
			f := newFake()
			mb := openBox(t, dir, fast, f, o)
			defer func() { mb.Close() }()
			var log []string
			for step := range 25 {
				var op string
				switch r.IntN(9) {
				case 0, 1, 2:
					n := 1 + r.IntN(12)
					if step == 0 {
						n = 60
					}
					op = fmt.Sprint("deliver ", n)
					for range n {
						f.add(randomMail(r))
					}
				case 3, 4:
					ks := f.keys()
					n := min(len(ks), 1+r.IntN(6))
					op = fmt.Sprint("expunge ", n)
					for _, i := range r.Perm(len(ks))[:n] {
						f.remove(ks[i])
					}
				case 5:
					op = "flag"
					for _, k := range f.keys() {
						if r.IntN(4) == 0 {
							f.mails[k].flags ^= index.FlagDeleted
						}
					}
					f.state++
				case 6:
					op = "compact"
					if err := mb.Compact(); err != nil {
						t.Fatal(log, err)
					}
				case 7:
					op = "reopen"
					mb.Close()
					mb = openBox(t, dir, fast, f, o)
				case 8:
					op = "remove answers or cache"
					os.Remove(filepath.Join(dir, []string{CacheFile, AnswersFile}[r.IntN(2)]))
					mb.Close()
					mb = openBox(t, dir, fast, f, o)
				}
				log = append(log, op)
				if _, err := mb.Sync(); err != nil {
					t.Fatal(log, err)
				}
				if r.IntN(3) == 0 { // several changes between two queries
					continue
				}
				for range 2 {
					if err := verify(mb, f, r); err != nil {
						t.Fatalf("%v\n%v", log, err)
					}
				}
				if err := check(mb); err != nil {
					t.Fatal(log, err)
				}
			}
		})
	}
}

// Dead rows are counted, and gone after Compact.
func TestStats_deadRows(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := small(t, r, dir, 20, index.Options{})
	mb := openBox(t, dir, fast, f, index.Options{})
	defer mb.Close()
	dead := func() (n int64) {
		for _, s := range mb.Stats() {
			if s.Part == "dead rows" {
				n += s.Rows
			}
		}
		return n
	}
	if n := dead(); n != 2 {
		t.Errorf("%d dead rows, want 2", n)
	}
	if err := mb.Compact(); err != nil {
		t.Fatal(err)
	}
	if n := dead(); n != 0 {
		t.Errorf("%d dead rows after compaction", n)
	}
	if err := verify(mb, f, r); err != nil {
		t.Fatal(err)
	}
}

// Reopening costs no read of mail, and a query that was asked before writes
// nothing.
func TestAgain_readsNoMail(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := newFake()
	for range 100 {
		f.add(randomMail(r))
	}
	c := &counted{fake: f, ch: make(chan struct{}, 10000)}
	mb := openBox(t, dir, fast, c, index.Options{})
	mb.Sync()
	if err := verify(mb, f, r); err != nil {
		t.Fatal(err)
	}
	ask := func() {
		for _, k := range sortKeys {
			crit, _ := mailsort.ParseCriteria(k)
			if _, err := mb.Sort(crit, index.Search{}); err != nil {
				t.Fatal(err)
			}
		}
		for alg := range thread.NumAlgs {
			if _, err := mb.Thread(alg, index.Search{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask()
	mb.Close()
	before, reads := readDir(t, dir), len(c.ch)
	for range 10 {
		counter := fsys.Counting(fast)
		mb = openBox(t, dir, counter, c, index.Options{})
		mb.Sync()
		ask()
		mb.Close()
		if n := counter.Counts().Writes; n != 0 {
			t.Errorf("%d writes by queries that were asked before", n)
		}
	}
	if len(c.ch) != reads {
		t.Errorf("%d headers read again", len(c.ch)-reads)
	}
	if after := readDir(t, dir); !slices.Equal(before, after) {
		t.Error("reopening changed the files")
	}
}

func readDir(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Name()+"\x00"+string(b))
	}
	return out
}
