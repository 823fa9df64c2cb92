package main

import (
	"slices"
	"time"
)

// middle is the median of ds, the lower of two.
func middle(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[(len(ds)-1)/2]
}
