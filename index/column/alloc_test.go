package column

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// writeASCII writes an mbox of n list mails without encoded words: decoding a
// charset of golang.org/x/text allocates, which is not this package's doing.
func writeASCII(t *testing.T, path string, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "From x@example.org Mon May  3 10:00:00 2021\nMessage-ID: <m%d@example.org>\n", i)
		subject := fmt.Sprintf("topic %d", i/3)
		if i > 0 && r.IntN(10) > 1 {
			p := max(0, i-1-r.IntN(50))
			fmt.Fprintf(&b, "In-Reply-To: <m%d@example.org>\nReferences: <m%d@example.org>\n\t<m%d@example.org>\n", p, p/2, p)
			subject = "Re: " + subject
		}
		fmt.Fprintf(&b, "Subject: %s\nDate: Mon, 03 May 2021 %02d:%02d:%02d +0200\n", subject, i/3600%24, i/60%60, i%60)
		fmt.Fprintf(&b, "From: Person %d <p%d@example.org>\nTo: List <list@example.org>\nCc: q%d@example.org\n\nbody\n\n", i%900, i%900, i%700)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Heap allocations per message of every query, counted as what 40,000 messages
// cost more than 20,000: what a process or a handle allocates once (zstd, the
// memo) is not per message.
func TestAllocations(t *testing.T) {
	const most = 0.01
	sizes := [...]int{20000, 40000}
	var counts [2]map[string]uint64
	for round, n := range [...]int{sizes[0], sizes[0], sizes[1]} { // the first warms up
		path := filepath.Join(t.TempDir(), "mbox")
		writeASCII(t, path, n)
		src, err := source.Open(path, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]uint64{}
		cfg := index.Config{Dir: t.TempDir(), FS: fast, Source: src, Options: index.Options{Workers: 4}}
		measure := func(name string, fn func(mb index.Mailbox) error) {
			mb := benchOpen(t, cfg)
			mb.(*mailbox).memo.least = 0 // both sizes make one
			if name == "first" {
				if _, err := mb.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			var a, b runtime.MemStats
			runtime.ReadMemStats(&a)
			err := fn(mb)
			runtime.ReadMemStats(&b)
			if err != nil {
				t.Fatal(name, err)
			}
			got[name] = b.Mallocs - a.Mallocs
			mb.Close()
		}
		ask := func(keys string) func(index.Mailbox) error {
			return func(mb index.Mailbox) error {
				crit, err := mailsort.ParseCriteria(keys)
				if err == nil {
					_, err = mb.Sort(crit, index.Search{})
				}
				return err
			}
		}
		threads := func(mb index.Mailbox) error {
			_, err := mb.Thread(thread.References, index.Search{})
			return err
		}
		measure("first", threads)
		measure("again", threads)
		measure("date", ask("date"))
		measure("subject", ask("subject"))
		measure("from", ask("from"))
		measure("subset", func(mb index.Mailbox) error {
			_, err := mb.Thread(thread.References, index.Search{Kind: "undeleted"})
			return err
		})
		prune := func(mb index.Mailbox) error { // the names of the index, which Compact also rewrites, are not ours
			m := mb.(*mailbox)
			st, v, err := m.ready()
			if err != nil {
				return err
			}
			keep := all(v.n)
			if _, err = st.prune(keep[1:]); err == nil && st.covers("env") {
				_, err = st.pruneEnvelopes(keep[1:])
			}
			return err
		}
		measure("compact", prune)
		cfg.Options.Answers = "computed"
		measure("computed", threads)
		measure("subject computed", ask("subject"))
		cfg.Options.Answers, cfg.Options.Fields = "", "envelope"
		os.Remove(filepath.Join(cfg.Dir, CacheFile))
		os.Remove(filepath.Join(cfg.Dir, AnswersFile))
		measure("envelope", threads)
		measure("compact envelope", prune)
		src.Close()
		if round > 0 {
			counts[round-1] = got
		}
	}
	for name, c := range counts[1] {
		per := (float64(c) - float64(counts[0][name])) / float64(sizes[1]-sizes[0])
		t.Logf("%-18s %6d allocations for %d messages, %.4f per message more", name, c, sizes[1], per)
		if per > most {
			t.Errorf("%s: %.4f allocations per message, want at most %v", name, per, most)
		}
	}
}
