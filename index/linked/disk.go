package linked

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// disk is a view and where in the files it was read from.
type disk struct {
	view
	ok     bool // there is an index
	layout layout
	file   index.File // index file whose rows are still to be read
	log    logHead
	ino    uint64 // of the log file
	end    int64  // whole transactions of the log end here; all of them are in the view
	size   int64  // of the log file: behind end something may be torn
	short  bool   // the index file knows more of the log than there is: it needs a new one
	old    bool   // a rotation was interrupted: the log still has its old name
	dirty  bool   // the log may have more than the disk has
	tail   []byte // transactions behind the index file's, until rows are loaded
	lag    int64  // bytes of the log that had to be read
	index  bool   // there is an index file
	folded int64  // the index file has the log up to here
}

func (d *disk) close() {
	if d.file != nil {
		d.file.Close()
	}
	*d = disk{}
}

// load reads index and log afresh. No index, or one that makes no sense: ok is
// false, and damaged tells which of the two.
func (m *mailbox) load() (damaged bool, err error) {
	d := &m.disk
	d.close()
	m.forget()
	err = m.loadFiles()
	if errors.Is(err, index.ErrCorrupt) {
		d.close()
		return true, nil
	}
	if err != nil {
		d.close()
	}
	return false, err
}

func (m *mailbox) loadFiles() error {
	d := &m.disk
	lf, err := m.fs.Open(m.path(logFile))
	if errors.Is(err, fs.ErrNotExist) {
		// A rotation that was interrupted: the log has its old name.
		if lf, err = m.fs.Open(m.path(logOld)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		d.old = true
	}
	if err != nil {
		return err
	}
	defer lf.Close()
	size, err := lf.Size()
	if err != nil {
		return err
	}
	head, err := readAt(lf, make([]byte, logHeader), 0)
	if err != nil {
		return err
	}
	if !d.log.decode(head) {
		return corrupt(logFile, "header")
	}
	from := int64(logHeader)
	found, err := m.loadIndex()
	if err != nil {
		return err
	}
	switch {
	case found && d.hdr.indexID == d.log.indexID && d.hdr.logSeq == d.log.seq && d.hdr.logHead >= logHeader && d.hdr.logHead <= uint64(size):
		from = int64(d.hdr.logHead)
	case found && d.hdr.indexID == d.log.indexID && d.hdr.logSeq == d.log.seq && d.hdr.logHead > uint64(size):
		// The end of the log did not reach the disk; the index file, written
		// later and synced, has it.
		d.short, from = true, size
	case found && d.hdr.indexID == d.log.indexID && d.log.prevSeq != 0 && d.hdr.logSeq == d.log.prevSeq && d.hdr.logHead == uint64(d.log.prevOffset):
	case d.log.prevSeq == 0 && (!found || d.hdr.indexID != d.log.indexID):
		// The log has everything since the index was new.
		if d.file != nil {
			d.file.Close()
			d.file = nil
		}
		d.view = view{rows: true, hdr: header{indexID: d.log.indexID, uidNext: 1}}
		found = false
	default:
		return corrupt(indexFile, "does not belong to the log")
	}
	d.index = found
	if d.tail, err = readAt(lf, make([]byte, size-from), from); err != nil {
		return err
	}
	whole := walk(d.tail, nil)
	d.tail = d.tail[:whole]
	d.end, d.lag, d.size = from+int64(whole), int64(whole), size
	d.dirty, d.folded = whole > 0, from
	in, err := m.fs.Stat(m.path(logFile))
	if err == nil {
		d.ino = in.Ino
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.hdr.logSeq = d.log.seq
	if !d.rows && structural(d.tail) {
		err = m.loadRows()
	} else {
		err = d.apply(d.tail)
	}
	if err == nil {
		if !d.short {
			d.hdr.logHead = uint64(d.end)
		}
		if d.ok = d.hdr.uidValidity != 0; !d.ok {
			err = corrupt(logFile, "no uidvalidity")
		}
	}
	return err
}

// loadIndex reads the header of the index file.
func (m *mailbox) loadIndex() (found bool, err error) {
	d := &m.disk
	f, err := m.fs.Open(m.path(indexFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	size, err := f.Size()
	if err != nil {
		f.Close()
		return false, err
	}
	for n := 1024; ; {
		b, err := readAt(f, make([]byte, n), 0)
		need := 0
		if err == nil {
			d.layout, need, err = d.decodeHeader(b, size)
			if err == nil && need > 0 && n >= need {
				err = corrupt(indexFile, "short")
			}
		}
		if err != nil {
			f.Close()
			return false, err
		}
		if need == 0 {
			break
		}
		n = need
	}
	d.file = f
	return true, nil
}

// loadRows makes the rows of the view, those of the messages that are there.
func (m *mailbox) loadRows() error {
	err := m.loadRaw()
	if err == nil {
		m.disk.settle()
	}
	return err
}

// loadRaw makes the rows, if they are not there yet; some may be dead.
func (m *mailbox) loadRaw() error {
	d := &m.disk
	if d.rows {
		return nil
	}
	hdr := d.hdr
	in, err := d.file.Size()
	if err != nil {
		return err
	}
	b, err := readAt(d.file, make([]byte, d.layout.headerSize), 0)
	if err == nil {
		_, _, err = d.decodeHeader(b, in)
	}
	if err != nil {
		return err
	}
	if b, err = readAt(d.file, make([]byte, in-int64(d.layout.headerSize)), int64(d.layout.headerSize)); err != nil {
		return err
	}
	if err := d.decodeRows(b, d.layout); err != nil {
		return err
	}
	d.count()
	d.live = 0
	d.file.Close()
	d.file = nil
	if err := d.apply(d.tail); err != nil {
		return err
	}
	d.hdr.logSeq, d.hdr.logHead = hdr.logSeq, hdr.logHead
	d.tail = nil
	return nil
}

// refresh brings the view up to date with what others have written. changed:
// rows may be others now.
func (m *mailbox) refresh() (changed bool, err error) {
	d := &m.disk
	in, err := m.fs.Stat(m.path(logFile))
	if errors.Is(err, fs.ErrNotExist) {
		in = fsys.Info{}
	} else if err != nil {
		return false, err
	}
	if d.ok && in.Ino == d.ino && in.Size == d.size {
		return false, nil
	}
	_, err = m.load()
	return true, err
}

// current reports whether the view is still what the files hold.
func (m *mailbox) current() bool {
	in, err := m.fs.Stat(m.path(logFile))
	return err == nil && m.disk.ok && in.Ino == m.disk.ino && in.Size == m.disk.size
}

// appendLog writes a transaction and applies it to the view. The lock is held.
func (m *mailbox) appendLog(t *trans, sync bool) error {
	d := &m.disk
	if t.empty() {
		return nil
	}
	b := t.bytes()
	err := m.writeLog(b, sync)
	if err == nil && !d.rows && !structural(b) {
		d.tail = append(d.tail, b...)
	} else if err == nil {
		err = m.loadRaw()
	}
	if err == nil {
		err = d.apply(b)
	}
	if err != nil {
		d.close() // what is on disk is not known
		m.forget()
		return err
	}
	d.end += int64(len(b))
	d.size = d.end
	d.hdr.logHead = uint64(d.end)
	return nil
}

func (m *mailbox) writeLog(b []byte, sync bool) error {
	f, err := m.fs.OpenFile(m.path(logFile), os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil && size > m.disk.end { // the end of a torn transaction
		err = f.Truncate(m.disk.end)
	}
	if err == nil {
		_, err = f.WriteAt(b, m.disk.end)
	}
	m.disk.dirty = true
	if err == nil && (sync || m.opt.fsync == fsyncAlways) {
		err = f.Datasync()
		m.disk.dirty = false
	}
	return err
}

// syncLog waits until the log is on disk, before something that says so is.
func (m *mailbox) syncLog() error {
	if !m.disk.dirty {
		return nil
	}
	f, err := m.fs.OpenFile(m.path(logFile), os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	m.disk.dirty = false
	return f.Datasync()
}

// fold writes the index file anew, with everything the log has. The lock is held.
func (m *mailbox) fold() error {
	d := &m.disk
	if err := m.loadRows(); err != nil {
		return err
	}
	if err := m.syncLog(); err != nil {
		return err
	}
	err := fsys.WriteFileAtomic(m.fs, m.path(indexFile), func(w io.Writer) error {
		b, size := d.encodeHeader()
		for i, step := 0, max(1, 256<<10/size); ; i += step {
			if i < len(d.uid) {
				b = d.encodeRows(b, i, min(i+step, len(d.uid)))
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
			if b = b[:0]; i+step >= len(d.uid) {
				return nil
			}
		}
	})
	if err == nil {
		d.index, d.lag, d.folded = true, 0, d.end
		m.counts.folds++
	}
	return err
}

// rotate begins a new log file, when the old one is large or old enough. The
// index file has everything (fold). The lock is held.
func (m *mailbox) rotate() error {
	d := &m.disk
	now := m.cfg.Now().Unix()
	if d.end < m.opt.logRotate && !(d.end >= m.opt.logRotateMin && now-int64(d.log.created) >= m.opt.logMinAge) {
		return nil
	}
	h := logHead{indexID: d.hdr.indexID, seq: d.log.seq + 1, prevSeq: d.log.seq, prevOffset: uint32(d.end), created: uint32(now), modseq: d.hdr.modseq}
	if err := m.fs.Rename(m.path(logFile), m.path(logOld)); err != nil {
		return err
	}
	return m.newLog(h, nil)
}

// newLog makes the log file with a first transaction.
func (m *mailbox) newLog(h logHead, first []byte) error {
	d := &m.disk
	err := fsys.WriteFileAtomic(m.fs, m.path(logFile), func(w io.Writer) error {
		_, err := w.Write(append(h.encode(), first...))
		return err
	})
	var in fsys.Info
	if err == nil {
		in, err = m.fs.Stat(m.path(logFile))
	}
	if err != nil {
		d.close()
		m.forget()
		return err
	}
	d.log, d.ino, d.end = h, in.Ino, int64(logHeader+len(first))
	d.size, d.folded = d.end, logHeader
	d.hdr.logSeq, d.hdr.logHead = h.seq, uint64(d.end)
	return nil
}

// spoil marks the index as damaged, so that whoever opens it next builds it
// anew: the log's index id becomes 0.
func (m *mailbox) spoil() {
	f, err := m.fs.OpenFile(m.path(logFile), os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	f.WriteAt(make([]byte, 4), 4)
	f.Close()
	m.disk.close()
	m.forget()
}

// maintain does what whoever opens the mailbox owes it. The lock is held.
func (m *mailbox) maintain() error {
	d := &m.disk
	if d.ok && d.old {
		if err := m.fs.Rename(m.path(logOld), m.path(logFile)); err != nil {
			return err
		}
		d.old = false
	}
	if d.ok && d.short {
		d.short = false
		return m.newLog(logHead{indexID: d.hdr.indexID, seq: d.log.seq + 1, prevSeq: d.log.seq, prevOffset: uint32(d.hdr.logHead),
			created: uint32(m.cfg.Now().Unix()), modseq: d.hdr.modseq}, nil)
	}
	if !d.ok || d.lag <= m.opt.rewriteMin || m.readOnly() {
		return nil
	}
	if err := m.fold(); err != nil {
		return err
	}
	return m.rotate()
}
