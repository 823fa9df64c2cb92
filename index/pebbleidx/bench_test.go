package pebbleidx

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	plain "mailbench/index/scan"
)

// sweep is what was tried to find the defaults.
var sweep = map[string]index.Options{
	"default":          {},
	"fields=envelope":  {Fields: "envelope"},
	"compression=zstd": {Extra: map[string]string{"compression": "zstd"}},
	"compression=none": {Extra: map[string]string{"compression": "none"}},
	"flush=never":      {Extra: map[string]string{"flush": "never"}},
	"memtable=4MiB":    {Extra: map[string]string{"memtable": "4MiB"}},
	"memtable=64MiB":   {Extra: map[string]string{"memtable": "64MiB"}},
	"sync=off":         {Extra: map[string]string{"sync": "off"}},
}

// One life of an index under each of them: -benchtime=1x.
func BenchmarkLife(b *testing.B) { indextest.Life(b, Design, plain.Design, sweep) }
