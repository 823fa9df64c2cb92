package maildir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"unsafe"
)

// Dir is the directory of a message.
type Dir uint8

const (
	Cur Dir = iota
	New
)

// String returns "cur" or "new".
func (d Dir) String() string {
	if d == New {
		return "new"
	}
	return "cur"
}

// Entry is one message file of a listing.
type Entry struct {
	File        string // whole file name
	Base        string // the front part of File that identifies the message
	Dir         Dir
	Flags       Flags
	Keywords    uint32 // bit i = letter 'a'+i
	Size, VSize int64  // as the name claims, -1 unknown
}

// A Problem is a name that is no message, and why.
type Problem struct {
	Dir  Dir
	File string
	Err  error
}

func (p Problem) Error() string {
	return "maildir: " + p.Dir.String() + "/" + p.File + ": " + p.Err.Error()
}

func (p Problem) Unwrap() error { return p.Err }

// ErrNotRegular reports a directory, socket, pipe or device among the mail.
var ErrNotRegular = errors.New("not a regular file")

// ErrNoName reports a file whose name begins with the separator: flags, and
// nothing to know a message by.
var ErrNoName = errors.New("no unique name before the flags")

// errNotMaildir is wrapped with the path, see List.
var errNotMaildir = errors.New("not a maildir: no cur")

// A Scan is a listing of one maildir. Its zero value is ready; used again it
// reuses its memory, so the strings of Entries and Skipped are valid only until
// the next List or Read. It holds no descriptor. Not for concurrent use.
type Scan struct {
	Entries []Entry   // in the order of the directories, new before cur
	Digest  Digest    // of all names, before anything is taken apart
	Skipped []Problem // hidden names are not even mentioned

	buf   []byte   // for getdents64
	more  []byte   // likewise, for large directories
	arena [][]byte // names, each behind its length; chunks never move
	names []chunk
	dir   Dir // where add puts names
	opt   Options
	table []int32 // Unique's
}

// chunk tells which part of the arena belongs to which directory.
type chunk struct {
	dir      Dir
	arena    int
	from, to int
	n        int
}

const (
	arenaChunk = 1 << 20
	// maxName bounds a file name; Linux allows 255 bytes, others 255 UTF-16
	// units. Longer ones cannot come from a directory.
	maxName = 1 << 16
)

// Read lists new/ and cur/ of the maildir at path into Entries: one pass over
// each directory, no stat but for symbolic links and for file systems that do
// not tell types. Names that begin with a dot are ignored; directories, names
// with nothing before the separator and other things that are no message go to
// Skipped. A missing new/ counts as empty; a missing cur/ is an error. Files that
// come, go or change their names during the pass are never an error.
//
// O(names); with a reused Scan about one allocation per mebibyte of names more
// than it has seen.
func (s *Scan) Read(path string, o Options) error {
	if err := s.List(path, o); err != nil {
		return err
	}
	s.Parse()
	return nil
}

// List is the first half of Read: it gathers the names and their Digest and
// leaves Entries empty. If the digest is a known one, nothing has changed and
// there is no need to call Parse.
func (s *Scan) List(path string, o Options) error {
	s.Entries, s.Skipped, s.Digest, s.opt = s.Entries[:0], s.Skipped[:0], Digest{}, o
	s.names = s.names[:0]
	for i := range s.arena {
		s.arena[i] = s.arena[i][:0]
	}
	// new first: what moves to cur meanwhile is then seen twice, not missed.
	s.open(New, 0)
	err := s.listDir(filepath.Join(path, "new"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.open(Cur, s.names[len(s.names)-1].arena)
	err = s.listDir(filepath.Join(path, "cur"))
	if errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "scan", Path: path, Err: errors.Join(errNotMaildir, fs.ErrNotExist)}
	}
	return err
}

// open starts a run of names of dir in arena chunk i.
func (s *Scan) open(dir Dir, i int) {
	if i == len(s.arena) {
		s.arena = append(s.arena, make([]byte, 0, arenaChunk))
	}
	s.dir = dir
	at := len(s.arena[i])
	s.names = append(s.names, chunk{dir: dir, arena: i, from: at, to: at})
}

// add keeps a name of a message; name, not empty, may point into a buffer.
func (s *Scan) add(name []byte) {
	if len(name) >= maxName {
		return
	}
	if name[0] == s.opt.separator() {
		s.skip(string(name), ErrNoName)
		return
	}
	c := &s.names[len(s.names)-1]
	a := s.arena[c.arena]
	if len(a)+2+len(name) > cap(a) {
		s.open(s.dir, c.arena+1)
		c = &s.names[len(s.names)-1]
		a = s.arena[c.arena]
	}
	a = append(a, byte(len(name)), byte(len(name)>>8))
	a = append(a, name...)
	s.arena[c.arena] = a
	c.to = len(a)
	c.n++
	s.Digest.add(s.dir, name)
}

func (s *Scan) skip(name string, err error) {
	s.Skipped = append(s.Skipped, Problem{s.dir, name, err})
}

// Parse is the second half of Read: it fills Entries from the names listed. A
// second call changes nothing.
func (s *Scan) Parse() {
	if cap(s.Entries) < s.Digest.N {
		s.Entries = make([]Entry, 0, s.Digest.N+s.Digest.N/64)
	}
	s.Entries = s.Entries[:0]
	sep := s.opt.separator()
	for _, c := range s.names {
		a := s.arena[c.arena][c.from:c.to]
		for range c.n {
			n := int(a[0]) | int(a[1])<<8
			name := unsafe.String(unsafe.SliceData(a[2:]), n)
			a = a[2+n:]
			s.Entries = append(s.Entries, parseEntry(name, c.dir, sep))
		}
	}
}

// parseEntry is Parse without Unknown, which a listing does not keep.
func parseEntry(file string, dir Dir, sep byte) Entry {
	base, info := cut(file, sep)
	e := Entry{File: file, Base: base, Dir: dir}
	e.Size, e.VSize = sizes(base)
	if letters, ok := infoFlags(info, sep); ok {
		e.Flags, e.Keywords, _ = parseFlags(letters)
	}
	return e
}
