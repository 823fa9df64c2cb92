package sqlidx

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Codes of the engine for a write that failed, the extended ones of codeIO.
// It keeps no errno: whether the disk is full is asked of the file system.
const (
	codeFull     = 13
	codeWrite    = codeIO | 3<<8
	codeFsync    = codeIO | 4<<8
	codeDirFsync = codeIO | 5<<8
	codeTruncate = codeIO | 6<<8
	codeShmOpen  = codeIO | 18<<8
	codeShmSize  = codeIO | 19<<8
	codeShmMap   = codeIO | 21<<8
)

// shmBytes is what the engine allocates at once for the file that shares a
// write-ahead log. With less left on the disk a failed write is taken for a
// full one; a page is smaller, or 64 KiB.
const shmBytes = 32 << 10

// full turns the engine's error of a write into that of a full disk, if that is
// the cause: a *fs.PathError that wraps syscall.ENOSPC and names the file. nil:
// it is not.
func full(path string, code int, text string, space func(dir string) (bytes uint64, ok bool)) error {
	switch code {
	case codeShmOpen, codeShmSize, codeShmMap:
		path += "-shm"
	case codeWrite, codeFsync, codeDirFsync, codeTruncate:
	default:
		if code&0xff != codeFull {
			return nil
		}
	}
	if code&0xff != codeFull {
		if n, ok := space(filepath.Dir(path)); !ok || n >= 2*shmBytes {
			return nil
		}
	}
	return fmt.Errorf("sqlidx: %w (%s)", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}, text)
}
