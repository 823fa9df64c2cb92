package column

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
)

func TestConformance(t *testing.T) { indextest.Run(t, Design) }

// The parts that open, grow and share files, without maps.
func TestConformance_pread(t *testing.T) {
	indextest.Sweep(t, onlyIO{Design}, "History", "Journal", "Cached", "TwoReaders", "Swapped")
}

// onlyIO hides all options but io from the sweep.
type onlyIO struct{ index.Design }

func (onlyIO) Axes() index.Axes {
	return index.Axes{Compacts: true, Open: true, Fetches: true, ModSeqs: true, Extra: []index.Extra{extraIO}}
}
