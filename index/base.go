package index

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"mailbench/index/blockfile"
	"mailbench/internal/fsys"
)

// Names of the files of a Base.
const (
	BaseFile = "mailbench.index"
	LogFile  = "mailbench.log"

	// DamagedSuffix is added to the name of a snapshot that was found damaged.
	DamagedSuffix = ".damaged"
)

// BaseOptions are the part of Options that a Base looks at.
type BaseOptions struct {
	UIDList     string // as in Options
	UIDValidity uint32
	Now         func() time.Time
}

// BaseHeader is what a Base tells without reading its rows.
type BaseHeader struct {
	Status
	ID     uint64 // random, drawn when the index was built anew: the same ID and UIDVALIDITY mean the same messages under the same UIDs
	State  State
	Digest Digest
	Set    SetHash // names the messages: with UIDNext, it tells whether the index is the one that something was computed from
	Added  uint64  // names all messages that ever were there, see Table.AddedBelow
	Exists bool    // false: nothing usable is on disk; the rest is zero
}

// A Base is UIDs, flags and MODSEQ of one mailbox on disk: file BaseFile, a
// snapshot, and LogFile, what has changed since. The format is in the package
// comment. It is not for concurrent use.
type Base struct {
	fs         FS
	dir        string
	base, log  string
	opt        BaseOptions
	exists     bool
	damage     error // why there is no usable index although there are files
	id         uint64
	generation uint64
	baseSize   int64
	logst      logState
	sum        summary
	seen       [2]fsys.Info // the files when they were read

	rowsRead, keysRead int64 // see Loaded

	table *Table     // track's; nil: not loaded
	came  []newcomer // what arrive has added while the table was not loaded
	track Tracker
}

// OpenBase opens the index in dir: two opens, three small reads, whatever the
// size of the mailbox. A directory without an index is no error, nor is a
// damaged one (Damage tells): Sync builds it.
func OpenBase(fsy FS, dir string, o BaseOptions) (*Base, error) {
	if fsy == nil {
		fsy = fsys.OS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Base{fs: fsy, dir: dir, opt: o, base: filepath.Join(dir, BaseFile), log: filepath.Join(dir, LogFile)}
	if err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

// open reads the headers.
func (b *Base) open() error {
	b.exists, b.damage, b.table, b.came = false, nil, nil, nil
	b.sum, b.logst = summary{}, logState{}
	h, size, err := blockfile.ReadHeader(b.fs, b.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		b.generation, b.baseSize = h.Generation, size
		if b.id, b.sum, err = decodeBaseMeta(b.base, &h); err == nil {
			b.logst, err = openLog(b.fs, b.log, b.id, b.generation, &b.sum)
		}
	}
	switch {
	case err == nil:
		b.exists = true
		b.seen, err = b.look()
	case errors.Is(err, ErrCorrupt):
		b.damage, b.sum, err = err, summary{}, nil
	}
	return err
}

// look stats the files; a missing one is zero.
func (b *Base) look() (in [2]fsys.Info, err error) {
	for i, name := range [...]string{b.base, b.log} {
		in[i], err = b.fs.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return in, err
		}
	}
	return in, nil
}

// refresh opens again if another process has written.
func (b *Base) refresh() error {
	in, err := b.look()
	if err != nil {
		return err
	}
	if in != b.seen || !b.exists {
		return b.open()
	}
	return nil
}

// Header returns status, state and digest; O(1), nothing is read.
func (b *Base) Header() BaseHeader {
	s := &b.sum
	return BaseHeader{
		Status: Status{UIDValidity: s.uidValidity, UIDNext: s.uidNext, Messages: int(s.messages), Unseen: int(s.unseen),
			Deleted: int(s.deleted), HighestModSeq: s.highestModSeq, Generation: b.generation},
		ID: b.id, State: s.state, Digest: s.digest, Exists: b.exists, Set: s.set, Added: s.added,
	}
}

// Damage is why the files on disk cannot be used, nil when they can or when
// there are none.
func (b *Base) Damage() error { return b.damage }

// Dir is the index directory, FS its file layer.
func (b *Base) Dir() string { return b.dir }

// FS is the file layer.
func (b *Base) FS() FS { return b.fs }

// Table returns the rows, read on first use. O(n) then. Without an index it is
// empty. Damage gives an error that wraps ErrCorrupt, and puts the snapshot
// aside: the next Sync, of whoever opens the index, builds it anew.
func (b *Base) Table() (*Table, error) { return b.load(true) }

// Rows is Table for those who do not need the keys, which are half of its work
// and most of its memory: Key, Find and Message of what it returns may not be
// called, nor anything that hashes rows.
func (b *Base) Rows() (*Table, error) { return b.load(b.logst.records) }

func (b *Base) load(keys bool) (*Table, error) {
	if b.table != nil && (!keys || b.table.off != nil) {
		b.table.settle()
		return b.table, nil
	}
	if !b.exists {
		return &Table{}, b.damage
	}
	t, err := b.table, error(nil)
	if t == nil {
		t, err = loadBase(b.fs, b.base, b.id, b.generation)
		b.rowsRead += int64(t.Len())
	}
	if err == nil && keys {
		err = loadKeys(b.fs, b.base, b.id, b.generation, t)
		b.keysRead += int64(t.Len())
	}
	if err == nil && b.logst.records {
		err = b.replay(t)
	}
	if err != nil {
		b.table = nil
		if errors.Is(err, ErrCorrupt) {
			b.damage = err
			b.quarantine()
		}
		return nil, err
	}
	b.table = t
	if t.off != nil {
		b.came = nil // the table tells, also what went
	}
	b.track.set(t)
	return t, nil
}

// quarantine puts a damaged snapshot aside, so that the next one who opens the
// index builds it anew instead of meeting the same error: opening reads too
// little to see it. Best effort.
func (b *Base) quarantine() {
	if in, err := b.look(); err == nil && in == b.seen {
		b.fs.Rename(b.base, b.base+DamagedSuffix)
	}
}

func (b *Base) replay(t *Table) error {
	return b.eachRecord(func(payload []byte) string { return applyOps(t, payload) })
}

// eachRecord calls fn with the payload of each record of the log. fn says what
// is wrong with it.
func (b *Base) eachRecord(fn func(payload []byte) (what string)) error {
	all, err := readFile(b.fs, b.log)
	if err != nil {
		return err
	}
	if int64(len(all)) < b.logst.size {
		return ErrStale
	}
	if _, err := checkLogHead(b.log, all[:min(len(all), logHead)], b.id, b.generation); err != nil {
		return err
	}
	st, err := walkLog(b.log, all[:b.logst.size], func(off int64, payload []byte) error {
		if what := fn(payload); what != "" {
			return &CorruptError{File: b.log, Off: off, What: what}
		}
		return nil
	})
	if err == nil && st.size != b.logst.size {
		err = &CorruptError{File: b.log, Off: st.size, What: "record is torn"}
	}
	return err
}

// Close lets go of memory; everything is on disk already.
func (b *Base) Close() error {
	b.table, b.track = nil, Tracker{}
	return nil
}

// Compact folds the log into a new base file, the generation raised by one.
func (b *Base) Compact() error {
	if err := b.refresh(); err != nil {
		return err
	}
	if !b.exists {
		return b.damage
	}
	t, err := b.Table()
	if err != nil {
		return err
	}
	return b.save(t)
}

// save writes t and b.sum as a new base.
func (b *Base) save(t *Table) error {
	if err := writeBase(b.fs, b.base, b.id, b.generation+1, &b.sum, t); err != nil {
		return err
	}
	b.generation++
	// I3: a log of an older generation is ignored, so this may fail or get lost.
	if b.logst.exists || b.seen[1] != (fsys.Info{}) {
		b.fs.Remove(b.log)
	}
	b.logst = logState{}
	b.exists, b.damage = true, nil
	var err error
	b.seen, err = b.look()
	b.baseSize = b.seen[0].Size
	return err
}

// draw gives the index a new identity and UIDVALIDITY.
func (b *Base) draw(want uint32) (uint32, error) {
	if err := b.fs.MkdirAll(b.dir, 0o700); err != nil {
		return 0, err
	}
	if want == 0 {
		want = b.opt.UIDValidity
	}
	// A damaged base may still tell what must be exceeded.
	if h, _, err := blockfile.ReadHeader(b.fs, b.base); err == nil && h.UIDValidity >= want {
		if n := uint32(max(1, b.opt.Now().Unix())); want != 0 || n <= h.UIDValidity {
			want = h.UIDValidity + 1
		}
	}
	v, err := NextUIDValidity(b.fs, b.dir, want, b.opt.Now())
	if err != nil {
		return 0, err
	}
	var r [8]byte
	rand.Read(r[:])
	b.id = le.Uint64(r[:])
	// Generations go on rising over a rebuild.
	b.generation = max(b.generation, uint64(v)<<20)
	return v, nil
}

// Remove removes the index files in dir and leaves ValidityFile.
func Remove(fsy FS, dir string) error {
	for _, name := range [...]string{BaseFile, LogFile, BaseFile + DamagedSuffix} {
		if err := fsy.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fsy.SyncDir(dir)
}
