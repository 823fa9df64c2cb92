package linked

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// TestSessions prints what each of the sessions that docs/DESIGNS.md compares
// with the real server costs: MAILBENCH_MEASURE is a maildir, MAILBENCH_SCRATCH
// the directory of the index (default: one that goes again), MAILBENCH_EXTRA
// options as name=value,name=value, MAILBENCH_SESSIONS commands as
// select+thread/select+sort date.
func TestSessions(t *testing.T) {
	path := os.Getenv("MAILBENCH_MEASURE")
	if path == "" {
		t.Skip("MAILBENCH_MEASURE names no maildir")
	}
	o := index.Options{Extra: map[string]string{}}
	for _, kv := range strings.Split(os.Getenv("MAILBENCH_EXTRA"), ",") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			o.Extra[k] = v
		}
	}
	src, err := source.Open(path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dir := os.Getenv("MAILBENCH_SCRATCH") // kept: the next run goes on from there
	if dir == "" {
		dir = t.TempDir()
	}
	plans := [][]string{{"select"}, {"select", "thread"}, {"select", "sort date"}, {"select", "sort subject"}, {"select", "thread", "sort date", "sort subject"}}
	if s := os.Getenv("MAILBENCH_SESSIONS"); s != "" {
		plans = nil
		for _, p := range strings.Split(s, "/") {
			plans = append(plans, strings.Split(p, "+"))
		}
	}
	for _, plan := range plans {
		fs := fsys.Counting(fsys.OS)
		start, from := time.Now(), cpu()
		box, err := Design.Open(index.Config{Dir: dir, FS: fs, Source: src, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.Sync(); err != nil {
			t.Fatal(err)
		}
		n := float64(box.Status().Messages)
		before := fsys.Counts{}
		for _, what := range plan {
			var err error
			switch {
			case what == "select":
			case what == "compact":
				err = box.Compact()
			case what == "thread":
				var a *index.Answer
				if a, err = box.Thread(thread.References, index.Search{}); err == nil {
					a.AppendIMAP(nil)
				}
			default:
				var crit []mailsort.Criterion
				if crit, err = mailsort.ParseCriteria(strings.TrimPrefix(what, "sort ")); err == nil {
					_, err = box.Sort(crit, index.Search{})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			c := fs.Counts()
			d := c.Sub(before)
			fmt.Printf("%-14s wall %.3f cpu %.3f wrote %d (%.1f/msg) syncs %d\n", what, time.Since(start).Seconds(), cpu()-from, d.BytesWritten, float64(d.BytesWritten)/n, d.Syncs)
			start, from, before = time.Now(), cpu(), c
		}
		counts := box.(index.Counter).Counts()
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			fmt.Printf("  %s %d", k, counts[k])
		}
		fmt.Println()
		if err := box.Close(); err != nil {
			t.Fatal(err)
		}
		es, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			if in, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
				fmt.Printf("  %s %.1f", e.Name(), float64(in.Size())/n)
			}
		}
		fmt.Println()
	}
}

func cpu() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
