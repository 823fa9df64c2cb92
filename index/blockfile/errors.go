package blockfile

import (
	"errors"
	"fmt"
)

// ErrCorrupt reports bytes that no version of mailbench wrote.
var ErrCorrupt = errors.New("index: corrupt")

// A CorruptError says where a file stopped making sense.
type CorruptError struct {
	File string // path
	Off  int64  // first byte of the bad record
	What string // the rule it broke
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("index: %s corrupt at offset %d: %s", e.File, e.Off, e.What)
}

func (e *CorruptError) Unwrap() error { return ErrCorrupt }
