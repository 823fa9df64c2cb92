package linked

import (
	"os"
	"strconv"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
)

// MAILBENCH_SEED replays a run.
func TestConformance(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("MAILBENCH_SEED"), 10, 64)
	indextest.RunOptions(t, Design, indextest.Options{Seed: seed})
}

// The parts that open, grow and share files, without maps.
func TestConformance_pread(t *testing.T) {
	o := index.Options{Extra: map[string]string{"io": "pread"}}
	indextest.RunOptions(t, Design, indextest.Options{Index: o, Parts: []string{"History", "Journal", "Cached", "TwoReaders", "Swapped"}})
}
