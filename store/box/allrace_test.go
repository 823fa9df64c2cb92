//go:build race

package box

import (
	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/envelope"
	"mailbench/index/linked"
	"mailbench/index/scan"
	"mailbench/store"
	"mailbench/store/cydir"
	"mailbench/store/maildir"
	"mailbench/store/mbox"
	"mailbench/store/mdbox"
	"mailbench/store/sdbox"
)

// everyDesign and realFormats are those without an engine of others: to build
// those with the race detector takes minutes, and theirs are the races of
// others.
var everyDesign = index.Registry{column.Design, linked.Design, envelope.Design, scan.Design}

func realFormats() []store.Format {
	return []store.Format{maildir.Format, mbox.Format, cydir.Format, sdbox.Format, mdbox.Format}
}
