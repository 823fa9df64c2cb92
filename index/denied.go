package index

import (
	"errors"
	"io/fs"
	"syscall"
)

// unlessDenied is what writing a note has returned, unless the index may not be
// written at all. A note is a courtesy to the next Sync, and what needs nothing
// written is to be answered from an index that is only lent.
func unlessDenied(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}
