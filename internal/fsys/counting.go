package fsys

import (
	"io/fs"
	"sync/atomic"
	"time"
)

// Counts are the calls that went through a Counter, failed ones included, and
// the bytes they moved. BytesMapped counts the size of each map, not what was
// looked at.
type Counts struct {
	Opens, Reads, Writes, Syncs, SyncDirs, Renames, Removes, Truncates, Maps, Stats, ReadDirs, Chtimes int64
	BytesRead, BytesWritten, BytesMapped                                                               int64
}

// Sub returns what happened between an earlier snapshot and c.
func (c Counts) Sub(earlier Counts) Counts {
	return Counts{
		Opens: c.Opens - earlier.Opens, Reads: c.Reads - earlier.Reads, Writes: c.Writes - earlier.Writes,
		Syncs: c.Syncs - earlier.Syncs, SyncDirs: c.SyncDirs - earlier.SyncDirs, Renames: c.Renames - earlier.Renames,
		Removes: c.Removes - earlier.Removes, Truncates: c.Truncates - earlier.Truncates, Maps: c.Maps - earlier.Maps,
		Stats: c.Stats - earlier.Stats, ReadDirs: c.ReadDirs - earlier.ReadDirs, Chtimes: c.Chtimes - earlier.Chtimes,
		BytesRead: c.BytesRead - earlier.BytesRead, BytesWritten: c.BytesWritten - earlier.BytesWritten,
		BytesMapped: c.BytesMapped - earlier.BytesMapped,
	}
}

// A Counter is an FS that counts. Its own cost is one or two atomic additions
// a call and one allocation per opened file.
type Counter struct {
	under FS

	opens, reads, writes, syncs, syncDirs, renames, removes, truncates, maps, stats, readDirs, chtimes atomic.Int64
	bytesRead, bytesWritten, bytesMapped                                                               atomic.Int64
}

// Counting counts the calls to under. File.Size counts as a Stat; MkdirAll and
// Close are not counted.
func Counting(under FS) *Counter { return &Counter{under: under} }

// Counts returns the counts so far; it may be called beside other calls.
func (c *Counter) Counts() Counts {
	return Counts{
		Opens: c.opens.Load(), Reads: c.reads.Load(), Writes: c.writes.Load(), Syncs: c.syncs.Load(),
		SyncDirs: c.syncDirs.Load(), Renames: c.renames.Load(), Removes: c.removes.Load(),
		Truncates: c.truncates.Load(), Maps: c.maps.Load(), Stats: c.stats.Load(), ReadDirs: c.readDirs.Load(), Chtimes: c.chtimes.Load(),
		BytesRead: c.bytesRead.Load(), BytesWritten: c.bytesWritten.Load(), BytesMapped: c.bytesMapped.Load(),
	}
}

func (c *Counter) file(f File, err error) (File, error) {
	c.opens.Add(1)
	if err != nil {
		return nil, err
	}
	return &countedFile{File: f, c: c}, nil
}

func (c *Counter) Open(name string) (File, error) { return c.file(c.under.Open(name)) }

func (c *Counter) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return c.file(c.under.OpenFile(name, flag, perm))
}

func (c *Counter) Rename(oldname, newname string) error {
	c.renames.Add(1)
	return c.under.Rename(oldname, newname)
}

func (c *Counter) Remove(name string) error {
	c.removes.Add(1)
	return c.under.Remove(name)
}

func (c *Counter) MkdirAll(dir string, perm fs.FileMode) error { return c.under.MkdirAll(dir, perm) }

func (c *Counter) Stat(name string) (Info, error) {
	c.stats.Add(1)
	return c.under.Stat(name)
}

func (c *Counter) ReadDir(name string) ([]string, error) {
	c.readDirs.Add(1)
	return c.under.ReadDir(name)
}

func (c *Counter) SyncDir(dir string) error {
	c.syncDirs.Add(1)
	return c.under.SyncDir(dir)
}

type countedFile struct {
	File
	c *Counter
}

func (f *countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.c.reads.Add(1)
	f.c.bytesRead.Add(int64(n))
	return n, err
}

func (f *countedFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.c.writes.Add(1)
	f.c.bytesWritten.Add(int64(n))
	return n, err
}

func (f *countedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.c.writes.Add(1)
	f.c.bytesWritten.Add(int64(n))
	return n, err
}

func (f *countedFile) Size() (int64, error) {
	f.c.stats.Add(1)
	return f.File.Size()
}

func (f *countedFile) Sync() error {
	f.c.syncs.Add(1)
	return f.File.Sync()
}

func (f *countedFile) Datasync() error {
	f.c.syncs.Add(1)
	return f.File.Datasync()
}

func (f *countedFile) Chtimes(modified time.Time) error {
	f.c.chtimes.Add(1)
	return f.File.Chtimes(modified)
}

func (f *countedFile) Truncate(size int64) error {
	f.c.truncates.Add(1)
	return f.File.Truncate(size)
}

func (f *countedFile) Map() (*Mapping, error) {
	f.c.maps.Add(1)
	m, err := f.File.Map()
	if m != nil {
		f.c.bytesMapped.Add(int64(len(m.Data)))
	}
	return m, err
}
