package maildir

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Reader reads messages of one maildir. It holds the two directories open, so
// it goes on reading when the maildir is renamed. All methods but Close may be
// called from several goroutines, each with its own buffer.
type Reader struct {
	path string
	opt  Options
	dirs dirs

	rescan sync.Mutex
	places atomic.Pointer[places] // where renamed messages were last seen

	patience time.Duration // for listings of one Reader before they are spaced
	spent    atomic.Int64  // nanoseconds of listings so far
}

// patience is how long a Reader lists for messages that are not found. A
// program that changes a large mailbox without pause could keep it listing for
// ever; after this a listing must be worth ten times its cost.
const patience = 5 * time.Second

// Open opens the directories of a maildir. A missing new/ counts as empty.
func Open(path string, o Options) (*Reader, error) {
	r := &Reader{path: path, opt: o, patience: patience}
	if err := r.dirs.open(path); err != nil {
		return nil, err
	}
	return r, nil
}

// Close closes the directories.
func (r *Reader) Close() error { return r.dirs.close() }

// ReadHeader reads a message until its header ends and returns the header with
// the empty line behind it, in buf if that is large enough, buf's old contents
// dropped. A file without an empty line, an empty one too, is all header. At
// most MaxHeader bytes come back.
//
// If the file is not there under the name of e, it is looked for under its base
// name: one more listing, shared by all calls until the directories change. A
// message that is gone gives an error that wraps fs.ErrNotExist.
//
// Cost: open, one read for headers below 8 KiB, close; the access time stays.
// No allocation if buf has room.
func (r *Reader) ReadHeader(e *Entry, buf []byte) ([]byte, error) {
	f, err := r.open(e)
	if err != nil {
		return buf[:0], err
	}
	buf, err = readHeader(f, buf)
	f.close()
	if err != nil {
		return buf, r.pathError("read", e.Dir, e.File, err)
	}
	return buf, nil
}

// ReadHead is ReadHeader for those who look for the end of the header
// themselves, which is a tenth of the work with mail in memory: a file that ends
// within the first read comes as it is, with its body or a part of it.
func (r *Reader) ReadHead(e *Entry, buf []byte) ([]byte, error) {
	f, err := r.open(e)
	if err != nil {
		return buf[:0], err
	}
	if buf, err = firstOf(f, buf); err == nil && len(buf) == firstRead {
		buf, err = readOn(f, buf)
	}
	f.close()
	if err != nil {
		return buf, r.pathError("read", e.Dir, e.File, err)
	}
	return buf, nil
}

func readHeader(f handle, buf []byte) ([]byte, error) {
	buf, err := firstOf(f, buf)
	if len(buf) == 0 || err != nil {
		return buf, err
	}
	return readOn(f, buf)
}

func firstOf(f handle, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], firstRead)
	n, err := f.pread(buf[:firstRead], 0)
	return buf[:n], err
}

// readOn reads until the header that begins in buf ends, and cuts what follows.
func readOn(f handle, buf []byte) ([]byte, error) {
	want, line := firstRead, 0
	for {
		end, next := headerEnd(buf, line)
		if end >= 0 {
			return buf[:end], nil
		}
		if len(buf) == MaxHeader {
			return buf, nil
		}
		line = next
		if len(buf) == want {
			want *= 2
			buf = slices.Grow(buf, want-len(buf))
		}
		n, err := f.pread(buf[len(buf):want], int64(len(buf)))
		buf = buf[:len(buf)+n]
		if n == 0 || err != nil {
			return buf, err
		}
	}
}

// MaxMessage bounds what ReadAll takes into memory, in bytes. No mail comes
// near; a sparse file may.
const MaxMessage = 1 << 31

// ErrTooLarge reports a file of more than MaxMessage bytes.
var ErrTooLarge = errors.New("larger than 2 GiB")

// ReadAll reads the whole message, as it is stored, into buf if that is large
// enough. Lost and renamed files are treated as in ReadHeader.
func (r *Reader) ReadAll(e *Entry, buf []byte) ([]byte, error) {
	f, err := r.open(e)
	if err != nil {
		return buf[:0], err
	}
	defer f.close()
	size, _, regular, err := f.stat()
	switch {
	case err == nil && !regular:
		err = ErrNotRegular
	case err == nil && size > MaxMessage:
		err = ErrTooLarge
	}
	if err != nil {
		return buf[:0], r.pathError("stat", e.Dir, e.File, err)
	}
	buf = slices.Grow(buf[:0], int(size)+1) // one more, to see the end without growing
	for {
		n, err := f.pread(buf[len(buf):cap(buf)], int64(len(buf)))
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, r.pathError("read", e.Dir, e.File, err)
		}
		if n == 0 {
			return buf, nil
		}
		if len(buf) == cap(buf) { // it grew since it was opened
			buf = slices.Grow(buf, firstRead)
		}
	}
}

// Stat returns the size in bytes and the modification time, which is the
// message's INTERNALDATE, in nanoseconds since 1970.
func (r *Reader) Stat(e *Entry) (size, mtimeNs int64, err error) {
	size, mtimeNs, err = r.dirs.stat(e.Dir, e.File)
	if !noSuch(err) {
		return size, mtimeNs, r.pathError("stat", e.Dir, e.File, err)
	}
	err = r.relocate(e, func(dir Dir, file string) (err error) {
		size, mtimeNs, err = r.dirs.stat(dir, file)
		return err
	})
	return size, mtimeNs, err
}

// Sizes reads the message and returns its size as stored and its size with
// every LF that has no CR counted as CRLF, which is IMAP's RFC822.SIZE. The
// names' S= and W= are only claims; this is the truth. buf, of any size from
// 4 KiB, is scratch.
func (r *Reader) Sizes(e *Entry, buf []byte) (size, vsize int64, err error) {
	f, err := r.open(e)
	if err != nil {
		return 0, 0, err
	}
	defer f.close()
	buf = slices.Grow(buf[:0], 4<<10)
	buf = buf[:cap(buf)]
	cr := false
	for {
		n, err := f.pread(buf, size)
		if err != nil {
			return 0, 0, r.pathError("read", e.Dir, e.File, err)
		}
		if n == 0 {
			return size, vsize, nil
		}
		size += int64(n)
		vsize += CRLFSize(buf[:n])
		if cr && buf[0] == '\n' {
			vsize--
		}
		cr = buf[n-1] == '\r'
	}
}

// CRLFSize returns the length that b has with CRLF line ends: its own plus one
// for each LF without a CR before it.
func CRLFSize(b []byte) int64 {
	n := int64(len(b)) + int64(bytes.Count(b, []byte("\n")))
	if bytes.IndexByte(b, '\r') >= 0 { // rare in a maildir
		n -= int64(bytes.Count(b, []byte("\r\n")))
	}
	return n
}

func (r *Reader) pathError(op string, dir Dir, file string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(r.path, dir.String(), file), Err: err}
}

func (r *Reader) open(e *Entry) (handle, error) {
	f, err := r.dirs.openFile(e.Dir, e.File)
	if err == nil {
		return f, nil
	}
	if !noSuch(err) {
		return f, r.pathError("open", e.Dir, e.File, err)
	}
	err = r.relocate(e, func(dir Dir, file string) (err error) {
		f, err = r.dirs.openFile(dir, file)
		return err
	})
	return f, err
}

// noSuch reports that there cannot be a file of that name, or is none. Names are
// guessed from base name and flags, and a base name may be as long as a name
// can be, with no room for ":2,".
func noSuch(err error) bool { return notExist(err) || errors.Is(err, syscall.ENAMETOOLONG) }

// places is a listing by base name, made when a name was not there any more.
type places struct {
	scan  Scan
	table baseTable
	state State // before the listing
	quiet bool  // nothing changed during it, so what it lacks is gone
	made  time.Time
	cost  time.Duration
}

// clockStep is more than the step of the clock that stamps directories (1 to
// 10 ms): changes further apart have different times.
const clockStep = 20 * time.Millisecond

// relocate calls try with the place where the message of e is now, again after
// a new listing as long as try does not find it there.
//
// A listing can miss a file that is being renamed, so absence counts only if
// the directories were quiet around the listing and still are. While they are
// not, it is repeated three times at least, and up to fifty times if that costs
// less than a tenth of a second: mail in a small mailbox is found in spite of a
// program that changes its flags without pause. Listings are only made while
// somebody changes the directories, so the sum is bounded by the length of the
// disturbance and not by the number of messages it touched; of a disturbance
// without end, a Reader takes a tenth of its time for listings once its
// patience is used up.
func (r *Reader) relocate(e *Entry, try func(dir Dir, file string) error) error {
	base := e.Base
	if base == "" {
		base, _ = cut(e.File, r.opt.separator())
	}
	// Two places are worth a try before a listing: under the bare name, as
	// some programs leave mail in cur/, and in cur/ with no flags yet, where a
	// message of new/ has gone.
	if base != e.File || e.Dir != Cur {
		if err := try(Cur, base); !noSuch(err) {
			return r.pathError("open", Cur, base, err)
		}
	}
	if e.Dir == New {
		file := string(AppendFile(nil, base, Cur, 0, 0, r.opt))
		if err := try(Cur, file); !noSuch(err) {
			return r.pathError("open", Cur, file, err)
		}
	}
	start := time.Now()
	p := r.places.Load()
	for tries := 0; ; tries++ {
		if p != nil {
			if at := p.table.find(base); at >= 0 {
				err := try(p.scan.Entries[at].Dir, p.scan.Entries[at].File)
				if !notExist(err) {
					return r.pathError("open", p.scan.Entries[at].Dir, p.scan.Entries[at].File, err)
				}
			} else if p.quiet {
				if now, err := Stat(r.path); err == nil && now == p.state {
					break
				}
			}
		}
		if p != nil && time.Duration(r.spent.Load()) > r.patience && time.Since(p.made) < 10*p.cost {
			break // as good as gone: the next look at the mailbox will tell
		}
		if tries >= 50 || tries >= 3 && time.Since(start) > 100*time.Millisecond {
			break
		}
		var err error
		if p, err = r.look(p); err != nil {
			return err
		}
	}
	return r.pathError("open", e.Dir, e.File, fs.ErrNotExist)
}

// look lists the maildir unless another goroutine has just done so.
func (r *Reader) look(seen *places) (*places, error) {
	r.rescan.Lock()
	defer r.rescan.Unlock()
	if p := r.places.Load(); p != seen {
		return p, nil
	}
	p := &places{}
	begin := time.Now()
	var err error
	if p.state, err = Stat(r.path); err != nil {
		return nil, err
	}
	if err = p.scan.Read(r.path, r.opt); err != nil {
		return nil, err
	}
	after, err := Stat(r.path)
	if err != nil {
		return nil, err
	}
	p.quiet = after == p.state && time.Now().UnixNano()-after.newest() > int64(clockStep)
	p.scan.Unique()
	p.table = newBaseTable(p.scan.Entries, nil)
	for i := range p.scan.Entries {
		*p.table.slot(p.scan.Entries[i].Base) = int32(i + 1)
	}
	p.scan.buf, p.scan.more = nil, nil
	p.made = time.Now()
	p.cost = p.made.Sub(begin)
	r.spent.Add(int64(p.cost))
	r.places.Store(p)
	return p, nil
}
