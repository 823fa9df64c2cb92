package cydir

import (
	"testing"

	"mailbench/store/storetest"
)

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

func TestCut(t *testing.T) { storetest.Cut(t, Format, options, "cydir.list") }

func TestExtremes(t *testing.T) { storetest.Extremes(t, Format, options) }

// A changed byte of mail is not noticed (Y3).
var options = storetest.Options{TrustsDisk: true}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }
