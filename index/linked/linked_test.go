package linked

import (
	"os"
	"strconv"
	"testing"

	"mailbench/index/indextest"
)

// MAILBENCH_SEED replays a run.
func TestConformance(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("MAILBENCH_SEED"), 10, 64)
	indextest.RunOptions(t, Design, indextest.Options{Seed: seed})
}
