package conform

import (
	"os"
	"sync/atomic"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/designs"
	mailsort "mailbench/sort"
)

func long() bool { return os.Getenv("MAILBENCH_LONG") != "" && !testing.Short() }

// eachDesign opens the mailbox at path with a new index of every design.
func eachDesign(t *testing.T, path string, run func(t *testing.T, box index.Mailbox)) {
	t.Helper()
	for _, d := range designs.All {
		t.Run("design="+d.Name(), func(t *testing.T) {
			src, err := source.Open(path, source.Options{TempDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			box, err := d.Open(index.Config{Dir: t.TempDir(), Source: src})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			if _, err := box.Sync(); err != nil {
				t.Fatal(err)
			}
			run(t, box)
			for err := range box.Check() {
				t.Error(err)
			}
		})
	}
}

func sortBox(t *testing.T, box index.Mailbox, keys string) []uint32 {
	t.Helper()
	uids, err := sortOf(t, box, keys)
	if err != nil {
		t.Fatal(err)
	}
	return uids
}

func sortOf(t *testing.T, box index.Mailbox, keys string) ([]uint32, error) {
	t.Helper()
	crit, err := mailsort.ParseCriteria(keys)
	if err != nil {
		t.Fatal(err)
	}
	uids, err := box.Sort(crit, index.Search{})
	return append([]uint32{}, uids...), err
}

// counted counts the headers that an index reads.
type counted struct {
	index.Source
	headers atomic.Int64
}

func (c *counted) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	c.headers.Add(1)
	return c.Source.ReadHeader(e, buf)
}
