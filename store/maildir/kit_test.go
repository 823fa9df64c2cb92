package maildir

import (
	"testing"

	"mailbench/store/storetest"
)

// No checksums: other bytes of the same number are believed.
var options = storetest.Options{TrustsDisk: true}

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }
