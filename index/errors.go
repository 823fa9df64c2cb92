package index

import (
	"errors"

	"mailbench/index/blockfile"
)

// ErrCorrupt reports index bytes that no version of this package wrote.
// The caller rebuilds.
var ErrCorrupt = blockfile.ErrCorrupt

// A CorruptError says where a file stopped making sense.
type CorruptError = blockfile.CorruptError

// ErrStale reports that another process has rewritten the index since it was
// read. The caller opens it again.
var ErrStale = errors.New("index: changed by another process")
