//go:build !race

package box

import (
	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/store"
	"mailbench/store/formats"
)

// everyDesign is each that there is, the default design first.
var everyDesign index.Registry = designs.All

// realFormats is each that there is.
func realFormats() []store.Format { return formats.All() }
