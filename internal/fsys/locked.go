package fsys

import "errors"

// ErrLocked reports that a directory is locked by somebody else.
var ErrLocked = errors.New("fsys: locked by another process")
