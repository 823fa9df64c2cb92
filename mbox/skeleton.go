package mbox

import (
	"errors"
	"io"
	"time"

	"mailbench/internal/fsys"
)

var errSkeleton = errors.New("mbox: not yet")

// Scan splits.
func Scan(b []byte, d Dialect, fn func(Message) bool) (Problems, error) {
	return Problems{}, errSkeleton
}

// Unquote undoes.
func Unquote(dst, b []byte, d Dialect) []byte { return append(dst, b...) }

// Quote quotes.
func Quote(dst, b []byte) []byte { return append(dst, b...) }

// Options for Open.
type Options struct {
	Dialect     Dialect
	TempDir     string  // for spill files; "" = os.TempDir()
	MemoryLimit int64   // decompressed bytes kept in memory; more go to a spill file. 0 = 256 MiB
	MaxSize     int64   // decompressed bytes at which a stream is refused. 0 = 1 TiB
	FS          fsys.FS // nil = fsys.OS
}

// File is an open mbox.
type File struct{}

// Open opens.
func Open(path string, o Options) (*File, error) { return nil, errSkeleton }

// Messages lists.
func (f *File) Messages() []Message { return nil }

// Data is the whole uncompressed file.
func (f *File) Data() []byte { return nil }

// Bytes returns stored bytes, no copy.
func (f *File) Bytes(m Message) []byte { return nil }

// Err tells damage of the compressed stream.
func (f *File) Err() error { return nil }

// Close closes.
func (f *File) Close() error { return nil }

// Writer writes mboxrd.
type Writer struct{}

// NewWriter returns a Writer.
func NewWriter(w io.Writer) *Writer { return &Writer{} }

// Write appends one message.
func (w *Writer) Write(sender string, t time.Time, msg []byte) error { return errSkeleton }
