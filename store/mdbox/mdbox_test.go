package mdbox

import (
	"testing"

	"mailbench/store"
	"mailbench/store/storetest"
)

// Files are so small that histories rotate them and purge some.
func small(_ testing.TB, dir string) store.Config {
	return store.Config{Dir: dir, Extra: map[string]string{"rotate": "4k", "dead": "20"}}
}

// A damaged map is made again from the files (M5).
func TestStore(t *testing.T) {
	storetest.RunWith(t, Format, storetest.Options{LosesFlags: true, Config: small})
}

func TestCut(t *testing.T) {
	storetest.Cut(t, Format, storetest.Options{LosesFlags: true, Config: small}, "mdbox.list")
}

func TestExtremes(t *testing.T) {
	storetest.Extremes(t, Format, storetest.Options{LosesFlags: true, Config: small})
}

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, Format, storetest.Options{}, 100_000)
}
