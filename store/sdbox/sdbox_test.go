package sdbox

import (
	"testing"

	"mailbench/store/storetest"
)

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

// A damaged list is made again from the files (D3).
var options = storetest.Options{LosesFlags: true}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }
