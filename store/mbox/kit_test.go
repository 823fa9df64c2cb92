package mbox

import (
	"testing"

	"mailbench/store/storetest"
)

var options = storetest.Options{Behind: []string{"mbox.good"}}

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }
