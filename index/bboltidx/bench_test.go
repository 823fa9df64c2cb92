package bboltidx

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/index/scan"
)

// sweep is what was tried to find the defaults.
var sweep = map[string]index.Options{
	"default":          {},
	"fields=envelope":  {Fields: "envelope"},
	"headers=delivery": {Extra: map[string]string{"headers": "delivery"}},
	"sync=no":          {Extra: map[string]string{"sync": "no"}},
	"freelist_sync=no": {Extra: map[string]string{"freelist_sync": "no"}},
	"freelist=array":   {Extra: map[string]string{"freelist": "array"}},
	"fill=50pct":       {Extra: map[string]string{"fill_pct": "50"}},
	"page=16k":         {Extra: map[string]string{"page_size": "16384"}},
}

// One life of an index under each of them: -benchtime=1x.
func BenchmarkLife(b *testing.B) { indextest.Life(b, Design, scan.Design, sweep) }
