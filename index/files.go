package index

import (
	"io"

	"mailbench/internal/fsys"
)

// What a design outside this module needs of the file layer, beside FS and
// File: the rest of their signatures, the operating system, and the two things
// that nearly every design does.

// Info is what FS.Stat tells.
type Info = fsys.Info

// Mapping is what File.Map makes: a read-only view of a file.
type Mapping = fsys.Mapping

// OS is the operating system's files: what a nil Config.FS means.
var OS FS = fsys.OS

// WriteFileAtomic replaces name by what write produces, so that after a crash
// the old or the new file is there, whole: a temporary file in the same
// directory, write, fsync, rename, fsync of the directory.
func WriteFileAtomic(fsy FS, name string, write func(w io.Writer) error) error {
	return fsys.WriteFileAtomic(fsy, name, write)
}

// ReadFile reads all of a file. Of one that is not there the error wraps fs.ErrNotExist.
func ReadFile(fsy FS, name string) ([]byte, error) { return readFile(fsy, name) }

// A CallCounter is an FS that counts calls and bytes: CallCounter.Counts tells.
type CallCounter = fsys.Counter

// CountCalls puts a counter in front of fsy.
func CountCalls(fsy FS) *CallCounter { return fsys.Counting(fsy) }
