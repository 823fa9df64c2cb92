package pebbleidx

import (
	"testing"

	"mailbench/index/indextest"
)

func TestConformance(t *testing.T) { indextest.Run(t, Design) }
