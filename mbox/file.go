package mbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"mailbench/internal/fsys"
)

// Options say how a file is opened. The zero value is right for most mail.
type Options struct {
	Dialect     Dialect
	TempDir     string  // where large streams decompress to; "" = os.TempDir()
	MemoryLimit int64   // decompressed bytes that are kept in memory, more go to a spill file; 0 = 256 MiB
	MaxSize     int64   // decompressed bytes at which a stream is refused; 0 = 1 TiB
	FS          fsys.FS // nil = fsys.OS
}

// ErrChanged reports that a mapped file lost bytes while it was read.
var ErrChanged = errors.New("mbox: file changed while it was read")

// A File is an mbox that is open for reading: a plain file mapped, a
// compressed one decompressed. Its methods but Close may be called from
// several goroutines.
type File struct {
	path    string
	o       Options
	info    fsys.Info
	data    []byte
	mapped  bool // data is another's file: it may shrink below us
	cut     bool // data ends in the middle of a message
	young   bool // when it was opened, so that its time may not tell of a change
	damage  error
	release func() error

	once     sync.Once
	messages []Message
	problems Problems
	scanErr  error
}

// Open opens the mbox at path. It is not scanned yet: O(1) for a plain file,
// which is mapped and never written, renamed or touched (not even its access
// time, where the system allows that).
//
// What begins like a gzip or zstd stream is decompressed first, all members or
// frames of it, whatever the file is called; zstd windows may have 128 MiB. Up
// to MemoryLimit bytes it is kept in memory outside the heap, and otherwise in
// a file in TempDir which has no name any more when Open returns. A stream that
// is cut off or damaged is no error here: the File holds the messages before
// the damage and Err tells about it.
//
// Errors name the path and wrap those of the system.
func Open(path string, o Options) (*File, error) {
	fs := o.FS
	if fs == nil {
		fs = fsys.OS
		o.FS = fs
		// Opening a pipe would wait for a writer.
		if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
			return nil, fmt.Errorf("mbox: open %s: not a regular file", path)
		}
	}
	info, err := fs.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("mbox: %w", err)
	}
	if info.Dir {
		return nil, fmt.Errorf("mbox: open %s: is a directory", path)
	}
	in, err := fs.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mbox: %w", err)
	}
	defer in.Close() // a mapping outlives it
	f := &File{path: path, o: o, info: info, young: time.Since(info.ModTime) < tooYoung}
	packing, empty, err := sniff(in)
	if err != nil {
		return nil, fmt.Errorf("mbox: %w", err)
	}
	if packing == plain {
		m, err := in.Map()
		if err != nil {
			return nil, fmt.Errorf("mbox: %w", err)
		}
		if len(m.Data) == 0 && !empty {
			m.Close()
			return nil, fmt.Errorf("mbox: open %s: has content and no size: copy it to a file first", path)
		}
		f.data, f.release, f.mapped = m.Data, m.Close, true
		return f, nil
	}
	if err := f.unpack(fs, in, packing); err != nil {
		return nil, err
	}
	return f, nil
}

// Path is the path that was opened.
func (f *File) Path() string { return f.path }

// Info is what Stat told right before the file was opened: if it differs from
// a later one, the file has changed since.
func (f *File) Info() fsys.Info { return f.info }

// Mapped reports whether Data is the file itself. Then another process that
// cuts the file takes bytes away: who reads Data directly must do so inside
// Guard, or may be killed by the system.
func (f *File) Mapped() bool { return f.mapped }

// Data is the whole file, uncompressed. It is read-only, valid until Close.
func (f *File) Data() []byte { return f.data }

// Bytes are the stored bytes of a message, header first: a part of Data.
func (f *File) Bytes(m Message) []byte { return f.data[m.BodyOff:m.End:m.End] }

// Scan is the function Scan on the file, safe against a file that is cut while
// it is read (ErrChanged). The last message of a damaged stream is left out
// unless the damage is a wrong checksum at the file's end or garbage behind the
// stream: nobody knows whether it is whole.
func (f *File) Scan(fn func(Message) bool) (Problems, error) {
	var problems Problems
	var scanErr error
	err := f.Guard(func() {
		if !f.cut {
			problems, scanErr = Scan(f.data, f.o.Dialect, fn)
			return
		}
		var last Message
		var have bool
		problems, scanErr = Scan(f.data, f.o.Dialect, func(m Message) bool {
			before := last
			last = m
			if !have {
				have = true
				return true
			}
			return fn(before)
		})
		if have {
			problems.add(last.Off, Truncated)
		}
	})
	if err == nil {
		err = scanErr
	}
	return problems, err
}

func (f *File) load() {
	f.once.Do(func() {
		f.problems, f.scanErr = f.Scan(func(m Message) bool {
			f.messages = append(f.messages, m)
			return true
		})
	})
}

// Messages lists the messages in file order. The first call scans; the slice
// is the File's own.
func (f *File) Messages() []Message {
	f.load()
	return f.messages
}

// Problems lists what was odd, after a scan if there was none.
func (f *File) Problems() Problems {
	f.load()
	return f.problems
}

// Err tells why Messages may be incomplete: a *DamageError of the compressed
// stream, ErrNoMessages, or ErrChanged. It scans if nobody did.
func (f *File) Err() error {
	if f.damage != nil {
		return f.damage
	}
	f.load()
	if f.scanErr != nil {
		return fmt.Errorf("%w: %s", f.scanErr, f.path)
	}
	return nil
}

// Damage is the *DamageError of a compressed stream, or nil. O(1).
func (f *File) Damage() error { return f.damage }

// Close releases the memory: no slice of Data may be used any more.
func (f *File) Close() error {
	release := f.release
	f.data, f.release = nil, nil
	if release == nil {
		return nil
	}
	return release()
}
