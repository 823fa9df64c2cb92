package envelope

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/index/scan"
)

// sweep is what was tried to find the defaults.
var sweep = map[string]index.Options{
	"default":      {},
	"read=header":  {Extra: map[string]string{"read": "header"}},
	"headers=most": {Extra: map[string]string{"headers": "most"}},
}

// One life of an index under each of them: -benchtime=1x.
func BenchmarkLife(b *testing.B) { indextest.Life(b, Design, scan.Design, sweep) }
