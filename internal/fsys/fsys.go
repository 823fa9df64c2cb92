package fsys

import (
	"io"
	"io/fs"
	"time"
)

// An FS is a file system as index, store and delivery see it. Names are
// operating-system paths. All methods are safe for concurrent use. Errors are
// *fs.PathError or *os.LinkError, so errors.Is(err, fs.ErrNotExist) works.
type FS interface {
	// Open opens a file for reading. Where the system allows it the read
	// leaves no trace in the access time (O_NOATIME).
	Open(name string) (File, error)

	// OpenFile opens a file with the flags of package os. O_APPEND is
	// refused: File.Write appends by its own offset, so that two writers are
	// a fault one can see rather than interleaved records.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Rename replaces newname atomically. It lasts only after SyncDir.
	Rename(oldname, newname string) error

	// Remove removes a file or an empty directory.
	Remove(name string) error

	// MkdirAll makes a directory and its parents; one that exists is no error.
	MkdirAll(dir string, perm fs.FileMode) error

	// Stat follows symbolic links.
	Stat(name string) (Info, error)

	// ReadDir returns the names in a directory, sorted, without "." and "..".
	ReadDir(name string) ([]string, error)

	// SyncDir makes the names of a directory last: fsync of the directory.
	SyncDir(dir string) error
}

// A File is an open file. ReadAt and WriteAt may be called from several
// goroutines; Close must not run beside another call.
type File interface {
	// Name returns the path the file was opened under.
	Name() string

	io.ReaderAt
	io.WriterAt

	// Write appends at the end of the file as this handle knows it: the size
	// when the handle first needed it, moved by its own writes and Truncate.
	// Only one goroutine may append.
	io.Writer

	// Size returns the size in bytes, asked from the system.
	Size() (int64, error)

	// Sync makes data and metadata of the file last (fsync). The file's name
	// lasts only after FS.SyncDir.
	Sync() error

	// Datasync is Sync without the times (fdatasync).
	Datasync() error

	// Chtimes sets the modification time, which a Sync makes last, and leaves
	// the access time. Seconds and nanoseconds are kept as far as the file
	// system does.
	Chtimes(modified time.Time) error

	// Truncate sets the size; the end for Write becomes size.
	Truncate(size int64) error

	// Map maps the whole file for reading; where there is no mmap it reads
	// it. The caller closes the Mapping, which may outlive the File. Reading
	// a page beyond the end of a file that was truncated after Map kills the
	// process, so files are replaced and never cut while others map them.
	Map() (*Mapping, error)

	Close() error
}

// Info is what Stat tells. Ino and Dev are 0 where the system has none.
type Info struct {
	Size     int64
	ModTime  time.Time
	Dir      bool
	Odd      bool // neither a file nor a directory: opening a pipe may wait for ever
	Ino, Dev uint64
}

// A Mapping is a read-only view of a file.
type Mapping struct {
	// Data is the whole file; nil for an empty one. Never written to.
	Data []byte

	unmap func([]byte) error
}

// Close releases the mapping; Data is nil afterwards. A second Close does
// nothing.
func (m *Mapping) Close() error {
	data := m.Data
	m.Data = nil
	if data == nil || m.unmap == nil {
		return nil
	}
	return m.unmap(data)
}
