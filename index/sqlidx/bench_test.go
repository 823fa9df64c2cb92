package sqlidx

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/index/scan"
)

// sweep is what was tried to find the defaults.
var sweep = map[string]index.Options{
	"default":           {},
	"fields=envelope":   {Fields: "envelope"},
	"headers=use":       {Extra: map[string]string{"headers": "use"}},
	"journal=delete":    {Extra: map[string]string{"journal_mode": "delete"}},
	"journal=truncate":  {Extra: map[string]string{"journal_mode": "truncate"}},
	"synchronous=norm":  {Extra: map[string]string{"synchronous": "normal"}},
	"synchronous=off":   {Extra: map[string]string{"synchronous": "off"}},
	"cache=2000kib":     {Extra: map[string]string{"cache_kib": "2000"}},
	"cache=512mib":      {Extra: map[string]string{"cache_kib": "524288"}},
	"page=8k":           {Extra: map[string]string{"page_size": "8192"}},
	"page=16k":          {Extra: map[string]string{"page_size": "16384"}},
	"page=16k,cache=2m": {Extra: map[string]string{"page_size": "16384", "cache_kib": "2000"}},
}

// One life of an index under each of them: -benchtime=1x.
func BenchmarkLife(b *testing.B) { indextest.Life(b, Design, scan.Design, sweep) }
