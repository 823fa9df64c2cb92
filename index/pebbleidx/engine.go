package pebbleidx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// settings are what pebble is opened with.
type settings struct {
	sync        bool // a commit waits for the disk
	flush       bool // Close empties the memtable
	memtable    uint64
	cache       int64
	compression string
}

// An engine is the one pebble of a directory in this process, shared by the
// mailboxes opened on it, since pebble opens a directory once. It is opened
// when first used: for reading only, until something has to be written.
type engine struct {
	dir  string
	fs   index.FS
	set  settings
	refs int // guarded by engines

	mu       sync.RWMutex // for writing: to open, close or write
	db       *pebble.DB
	readOnly bool
	unlock   func()
	buried   *atomic.Bool
	dead     chan struct{} // closed when pebble wants the process to end
	why      *atomic.Value // error: why
	mark     string        // a file that is there as long as the directory is db's
	markInfo fsys.Info
}

var engines struct {
	sync.Mutex
	of map[string]*engine
}

// attach returns the directory's engine; detach lets go of it.
func attach(fsy index.FS, dir string, set settings) (*engine, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	engines.Lock()
	defer engines.Unlock()
	e := engines.of[abs]
	if e == nil {
		e = &engine{dir: abs, fs: fsy, set: set}
		if engines.of == nil {
			engines.of = map[string]*engine{}
		}
		engines.of[abs] = e
	}
	e.refs++
	return e, nil
}

func (e *engine) detach() error {
	engines.Lock()
	defer engines.Unlock()
	if e.refs--; e.refs > 0 {
		return nil
	}
	delete(engines.of, e.dir)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.close()
}

var (
	errFatal = errors.New("pebbleidx: pebble cannot go on")
	errNone  = errors.New("pebbleidx: there is no index")
)

// quiet is a Logger that logs nothing. Pebble ends the process by Fatalf when
// the disk fails under it. Here the goroutine that found out stops for good, and
// whoever waits for pebble gets an error.
type quiet struct {
	dead chan struct{}
	once *sync.Once
	why  *atomic.Value
}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (q quiet) Fatalf(format string, args ...any) {
	q.once.Do(func() {
		for _, a := range args {
			if err, ok := a.(error); ok {
				q.why.Store(fmt.Errorf("%w: %w", errFatal, err))
			}
		}
		close(q.dead)
	})
	select {} // its caller does not expect to return
}

// lockWait is how long an engine waits for another process.
const lockWait = time.Second

// open opens pebble; mu is held. create: it need not be there.
func (e *engine) open(readOnly, create bool) error {
	if _, err := e.fs.Stat(e.dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) && !create {
			return errNone
		}
		return err
	}
	var unlock func()
	var err error
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if unlock, err = fsys.TryLockDir(e.dir, readOnly); !errors.Is(err, fsys.ErrLocked) || time.Since(begin) > lockWait {
			break
		}
	}
	if err != nil {
		return err
	}
	e.dead, e.buried = make(chan struct{}), new(atomic.Bool)
	e.why = new(atomic.Value)
	log := quiet{e.dead, new(sync.Once), e.why}
	o := &pebble.Options{
		FS: &engineFS{e.fs, e.buried, func(err error) { log.Fatalf("%v", err) }}, ReadOnly: readOnly, ErrorIfNotExists: !create,
		Logger: log, EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		FormatMajorVersion: pebble.FormatNewest, MemTableSize: e.set.memtable, CacheSize: e.set.cache,
	}
	var profile *sstable.CompressionProfile
	switch e.set.compression {
	case "none":
		profile = sstable.NoCompression
	case "zstd":
		profile = sstable.ZstdCompression
	default:
		profile = sstable.SnappyCompression
	}
	for i := range o.Levels {
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return profile }
	}
	e.unlock = unlock
	var db *pebble.DB
	err = e.guard(func() error {
		var err error
		db, err = pebble.Open(e.dir, o)
		return err
	})
	switch {
	case err == nil:
		e.db, e.readOnly = db, readOnly
		return e.remember()
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		err = errNone
	case isDamage(err):
		err = e.corrupt(err)
	}
	e.bury()
	return err
}

// remember notes a file by which displaced tells that the directory is still
// the one that was opened: its manifest, as long as that is not replaced.
func (e *engine) remember() error {
	e.mark = ""
	list, err := e.fs.ReadDir(e.dir)
	if err != nil {
		return err
	}
	for _, name := range list {
		if strings.HasPrefix(name, "MANIFEST-") {
			e.mark = filepath.Join(e.dir, name) // the last one
		}
	}
	if e.mark == "" {
		return nil
	}
	e.markInfo, err = e.fs.Stat(e.mark)
	return err
}

// displaced reports whether somebody has removed the files under an open pebble.
func (e *engine) displaced() bool {
	if e.db == nil || e.mark == "" {
		return false
	}
	in, err := e.fs.Stat(e.mark)
	if err == nil {
		return in.Ino != e.markInfo.Ino || in.Dev != e.markInfo.Dev
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	list, err := e.fs.ReadDir(e.dir) // perhaps pebble has begun another manifest
	return err == nil && !slices.ContainsFunc(list, func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") })
}

// lookUp gives up a pebble whose files are gone.
func (e *engine) lookUp() {
	e.mu.RLock()
	gone := e.displaced()
	e.mu.RUnlock()
	if !gone {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.displaced() {
		if e.readOnly {
			_ = e.guard(e.db.Close)
		}
		e.bury() // what it has in memory must not come back
	}
}

// isDamage tells what is wrong with the files from what is wrong with the disk.
func isDamage(err error) bool {
	if pebble.IsCorruptionError(err) || errors.Is(err, index.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	var path *fs.PathError
	var link *os.LinkError
	var no syscall.Errno
	return !errors.As(err, &path) && !errors.As(err, &link) && !errors.As(err, &no) && !errors.Is(err, fsys.ErrLocked) &&
		!errors.Is(err, errFatal) && !errors.Is(err, errBuried) && !errors.Is(err, index.ErrStale)
}

func (e *engine) corrupt(err error) error {
	if errors.Is(err, index.ErrCorrupt) {
		return err
	}
	return &index.CorruptError{File: e.dir, What: err.Error()}
}

// guard runs fn, which uses pebble, in a goroutine of its own, so that one that
// stops for good (quiet) or panics is an error. fn must not call back to the
// user of the mailbox. When another goroutine of pebble's stops, fn may go on,
// or wait for ever: it is given a moment to end, and what it changes after that
// must be its own.
func (e *engine) guard(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- &index.CorruptError{File: e.dir, What: fmt.Sprint("panic: ", p)}
			}
		}()
		done <- fn()
	}()
	select {
	case err := <-done:
		return err
	case <-e.dead:
		select {
		case <-done:
		case <-time.After(lastMoment):
		}
		if why, ok := e.why.Load().(error); ok {
			return why
		}
		return errFatal
	}
}

// lastMoment is how long a stopped pebble's caller is waited for.
const lastMoment = 50 * time.Millisecond

// bury gives pebble up without closing it; mu is held.
func (e *engine) bury() {
	if e.buried != nil {
		e.buried.Store(true)
	}
	e.db = nil
	if e.unlock != nil {
		e.unlock()
		e.unlock = nil
	}
}

// close closes pebble; mu is held.
func (e *engine) close() error {
	if e.db == nil {
		return nil
	}
	db := e.db
	err := e.guard(func() error {
		if e.set.flush && !e.readOnly {
			if err := db.Flush(); err != nil {
				return err
			}
		}
		return db.Close()
	})
	if err == nil && e.set.flush && !e.readOnly {
		e.sweepLogs()
	}
	e.bury()
	return err
}

// sweepLogs removes the logs before the last: everything was flushed. Pebble
// keeps up to three to use again, or until it is next opened for writing.
func (e *engine) sweepLogs() {
	list, err := e.fs.ReadDir(e.dir)
	if err != nil {
		return
	}
	list = slices.DeleteFunc(list, func(name string) bool { return filepath.Ext(name) != ".log" || !ours(name) })
	for i, name := range list {
		if i < len(list)-1 {
			_ = e.fs.Remove(filepath.Join(e.dir, name)) // else pebble removes it later
		}
	}
}

// failed looks at what fn returned; mu is held for writing.
func (e *engine) failed(err error) error {
	if errors.Is(err, errFatal) {
		e.bury()
	}
	if err == nil || !isDamage(err) {
		return err
	}
	return e.corrupt(err)
}

// read runs fn with pebble opened for reading, or for writing if it is. Readers
// run beside each other.
func (e *engine) read(fn func(db *pebble.DB) error) error {
	for {
		e.mu.RLock()
		if db := e.db; db != nil {
			err := e.guard(func() error { return fn(db) })
			e.mu.RUnlock()
			if err == nil {
				return nil
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.failed(err)
		}
		e.mu.RUnlock()
		e.mu.Lock()
		var err error
		if e.db == nil {
			err = e.open(true, false)
		}
		e.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// write runs fn with pebble opened for writing, alone.
func (e *engine) write(fn func(db *pebble.DB) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != nil && e.readOnly {
		if err := e.close(); err != nil {
			return err
		}
	}
	if e.db == nil {
		if err := e.open(false, false); err != nil {
			return err
		}
	}
	db := e.db // the goroutine may outlive the engine's
	return e.failed(e.guard(func() error { return fn(db) }))
}

// create removes what is there and makes a new one for fn to write to.
func (e *engine) create(fn func(db *pebble.DB) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.remove(); err != nil {
		return err
	}
	if err := e.open(false, true); err != nil {
		return err
	}
	db := e.db // the goroutine may outlive the engine's
	return e.failed(e.guard(func() error { return fn(db) }))
}

// destroy removes every file: they are damaged, and can be made again.
func (e *engine) destroy() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.remove()
}

func (e *engine) remove() error {
	if e.db != nil {
		_ = e.close() // whatever it has to say about what is damaged
	}
	list, err := e.fs.ReadDir(e.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range list {
		if ours(name) {
			if err := e.fs.Remove(filepath.Join(e.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return e.fs.SyncDir(e.dir)
}

// ours reports whether a file is one of pebble's.
func ours(name string) bool {
	for _, prefix := range [...]string{"MANIFEST-", "OPTIONS-", "marker.", "temporary.", "REMOTE-OBJ-CATALOG-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch filepath.Ext(name) {
	case ".sst", ".log", ".blob", ".dbtmp":
		return strings.Trim(strings.TrimSuffix(name, filepath.Ext(name)), "0123456789-") == ""
	}
	return name == "CURRENT" || name == "LOCK"
}
