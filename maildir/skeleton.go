package maildir

import (
	"errors"

	"mailbench/internal/fsys"
)

var errSkeleton = errors.New("maildir: not yet")

// Parse takes a file name apart.
func Parse(file string, o Options) Name { return Name{Base: file} }

// File is the inverse of Parse.
func (n Name) File(o Options) string { return n.Base }

func (f Flags) String() string { return "" }

// Compare is the UID order of base names.
func Compare(a, b string) int { return 0 }

// Dir is the directory of a message.
type Dir uint8

const (
	Cur Dir = iota
	New
)

func (d Dir) String() string { return "cur" }

// Entry is one message file.
type Entry struct {
	File, Base  string
	Dir         Dir
	Flags       Flags
	Keywords    uint32
	Size, VSize int64
}

// Digest is an order-independent digest of directory and file names.
type Digest struct {
	Sum [2]uint64
	N   int
}

// Problem is a name that could not be taken.
type Problem struct {
	Dir  Dir
	File string
	Err  error
}

// Scan is a listing of new/ and cur/, reusable.
type Scan struct {
	Entries []Entry
	Digest  Digest
	Skipped []Problem
}

// Read lists new/ and cur/.
func (s *Scan) Read(path string, o Options) error { return errSkeleton }

// SortBase sorts by Compare, stable.
func SortBase(entries []Entry) {}

// State is what two stats tell.
type State struct {
	CurMTime, NewMTime int64 // ns
	CurIno, NewIno     uint64
}

// Stat looks at cur/ and new/.
func Stat(path string) (State, error) { return State{}, errSkeleton }

// Pair is the same message in two scans, by position.
type Pair struct{ Old, New int32 }

// Delta is what happened between two scans: positions in their Entries.
type Delta struct {
	Added   []int32 // positions in the new scan
	Removed []int32 // positions in the old scan
	Flagged []Pair
	Moved   []Pair
}

// Diff compares two scans.
func Diff(old, new *Scan) Delta { return Delta{} }

// Reader reads messages.
type Reader struct{}

// Open opens a maildir for reading.
func Open(path string, o Options) (*Reader, error) { return nil, errSkeleton }

// ReadHeader reads until the header's end.
func (r *Reader) ReadHeader(e *Entry, buf []byte) ([]byte, error) { return nil, errSkeleton }

// ReadAll reads the message.
func (r *Reader) ReadAll(e *Entry, buf []byte) ([]byte, error) { return nil, errSkeleton }

// Stat returns size in bytes and mtime in ns.
func (r *Reader) Stat(e *Entry) (size, mtimeNs int64, err error) { return 0, 0, errSkeleton }

// Close closes.
func (r *Reader) Close() error { return nil }

// Folder is a Maildir++ folder.
type Folder struct{ Name, Path string }

// Folders lists the Maildir++ folders below root.
func Folders(root string) ([]Folder, error) { return nil, errSkeleton }

// SyncPolicy says when delivery calls fsync.
type SyncPolicy uint8

const (
	SyncAlways SyncPolicy = iota
	SyncNever
)

// DeliverOptions say how mail is delivered.
type DeliverOptions struct {
	FS   fsys.FS // nil = fsys.OS
	Sync SyncPolicy
}

// Deliver puts a message into new/.
func Deliver(path string, msg []byte, opt DeliverOptions) (base string, err error) {
	return "", errSkeleton
}

// MoveNew moves everything from new/ to cur/; for scratch mailboxes.
func MoveNew(path string, o Options) (moved int, err error) { return 0, errSkeleton }

// Keywords reads dovecot-keywords: letter -> name.
func Keywords(path string) (map[byte]string, error) { return nil, errSkeleton }
