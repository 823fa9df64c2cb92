// Package designs lists the index designs that the commands and benchmarks
// offer. It is a package of its own because package index cannot import them.
package designs

import (
	"mailbench/index"
	"mailbench/index/bboltidx"
	"mailbench/index/column"
	"mailbench/index/envelope"
	"mailbench/index/linked"
	"mailbench/index/pebbleidx"
	"mailbench/index/scan"
	"mailbench/index/sqlidx"
)

// All is the list, the reference design last.
var All = index.Registry{
	column.Design,
	linked.Design,
	envelope.Design,
	sqlidx.Design,
	bboltidx.Design,
	pebbleidx.Design,
	scan.Design,
}

// Lookup finds a design by name.
func Lookup(name string) (index.Design, bool) { return All.Lookup(name) }

// Names lists the names.
func Names() []string { return All.Names() }
