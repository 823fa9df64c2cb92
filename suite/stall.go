package suite

import (
	"io/fs"
	"sync"
	"time"

	"mailbench/internal/fsys"
)

// A busyClock adds up the time in which at least one of something was going on.
type busyClock struct {
	mu    sync.Mutex
	n     int
	since time.Time
	busy  time.Duration
}

func (c *busyClock) begin() {
	c.mu.Lock()
	if c.n++; c.n == 1 {
		c.since = time.Now()
	}
	c.mu.Unlock()
}

func (c *busyClock) end() {
	c.mu.Lock()
	if c.n--; c.n == 0 {
		c.busy += time.Since(c.since)
	}
	c.mu.Unlock()
}

// read is the sum so far.
func (c *busyClock) read() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n > 0 {
		return c.busy + time.Since(c.since)
	}
	return c.busy
}

// A stallClock finds the longest time in which nothing was done by anybody.
type stallClock struct {
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

func (c *stallClock) start(now time.Time) { c.last, c.longest = now, 0 }

func (c *stallClock) done(now time.Time) {
	c.mu.Lock()
	if d := now.Sub(c.last); d > 0 {
		c.longest, c.last = max(c.longest, d), now
	}
	c.mu.Unlock()
}

// A timedFS clocks the time in which the device was waited for: its syncs,
// and where the files are made slow every call.
type timedFS struct {
	fsys.FS
	clock *busyClock
	every bool
}

func (t timedFS) file(f fsys.File, err error) (fsys.File, error) {
	if err != nil {
		return nil, err
	}
	return timedFile{f, t}, nil
}

// lesser is begun around what waits for the device only if it is slow.
func (t timedFS) lesser() func() {
	if !t.every {
		return func() {}
	}
	t.clock.begin()
	return t.clock.end
}

func (t timedFS) Open(name string) (fsys.File, error) {
	defer t.lesser()()
	return t.file(t.FS.Open(name))
}

func (t timedFS) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	defer t.lesser()()
	return t.file(t.FS.OpenFile(name, flag, perm))
}

func (t timedFS) Rename(oldname, newname string) error {
	defer t.lesser()()
	return t.FS.Rename(oldname, newname)
}

func (t timedFS) Remove(name string) error {
	defer t.lesser()()
	return t.FS.Remove(name)
}

func (t timedFS) MkdirAll(dir string, perm fs.FileMode) error {
	defer t.lesser()()
	return t.FS.MkdirAll(dir, perm)
}

func (t timedFS) Stat(name string) (fsys.Info, error) {
	defer t.lesser()()
	return t.FS.Stat(name)
}

func (t timedFS) ReadDir(name string) ([]string, error) {
	defer t.lesser()()
	return t.FS.ReadDir(name)
}

func (t timedFS) SyncDir(dir string) error {
	t.clock.begin()
	defer t.clock.end()
	return t.FS.SyncDir(dir)
}

type timedFile struct {
	fsys.File
	t timedFS
}

func (f timedFile) ReadAt(b []byte, off int64) (int, error) {
	defer f.t.lesser()()
	return f.File.ReadAt(b, off)
}

func (f timedFile) WriteAt(b []byte, off int64) (int, error) {
	defer f.t.lesser()()
	return f.File.WriteAt(b, off)
}

func (f timedFile) Write(b []byte) (int, error) {
	defer f.t.lesser()()
	return f.File.Write(b)
}

func (f timedFile) Size() (int64, error) {
	defer f.t.lesser()()
	return f.File.Size()
}

func (f timedFile) Chtimes(modified time.Time) error {
	defer f.t.lesser()()
	return f.File.Chtimes(modified)
}

func (f timedFile) Truncate(size int64) error {
	defer f.t.lesser()()
	return f.File.Truncate(size)
}

func (f timedFile) Map() (*fsys.Mapping, error) {
	defer f.t.lesser()()
	return f.File.Map()
}

func (f timedFile) Sync() error {
	f.t.clock.begin()
	defer f.t.clock.end()
	return f.File.Sync()
}

func (f timedFile) Datasync() error {
	f.t.clock.begin()
	defer f.t.clock.end()
	return f.File.Datasync()
}
