package index

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"

	"mailbench/internal/fsys"
)

const (
	logMagic   = "mblog\x00\x00\x02"
	logHead    = 64
	recHead    = 32
	recTail    = 16
	recMagic   = 0x6372626d // "mbrc"
	recEnd     = 0x6572626d // "mbre"
	recMin     = recHead + summaryLen + recTail
	maxRecord  = 64 << 10 // larger changes become a new base
	tailGuess  = 4 << 10  // bytes read at the end of the log at once
	sectorSize = 512      // what a torn write leaves whole or zero

	kindChange = 0
	kindNote   = 1
)

// logState is what is known about the log without replaying it.
type logState struct {
	exists  bool
	size    int64  // up to the end of the last whole record
	torn    int64  // bytes after it
	seq     uint64 // of the last record
	note    int64  // length of the last record if it is a note: the next note takes its place
	records bool
}

func logHeader(id, generation uint64, uidValidity uint32) []byte {
	b := make([]byte, logHead)
	copy(b, logMagic)
	le.PutUint64(b[8:], id)
	le.PutUint64(b[16:], generation)
	le.PutUint32(b[24:], uidValidity)
	le.PutUint64(b[56:], xxhash.Sum64(b[:56]))
	return b
}

// appendRecord frames a payload.
func appendRecord(b []byte, seq uint64, kind uint32, payload []byte) []byte {
	start := len(b)
	n := uint32(recHead + len(payload) + recTail)
	b = le.AppendUint32(b, recMagic)
	b = le.AppendUint32(b, n)
	b = le.AppendUint64(b, seq)
	b = le.AppendUint32(b, kind)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, xxhash.Sum64(b[start:]))
	b = append(b, payload...)
	b = le.AppendUint32(b, n)
	b = le.AppendUint32(b, recEnd)
	return le.AppendUint64(b, xxhash.Sum64(b[start:]))
}

// recordOK checks a whole record.
func recordOK(r []byte) bool {
	return len(r) >= recMin && le.Uint32(r) == recMagic && int(le.Uint32(r[4:])) == len(r) &&
		le.Uint64(r[24:]) == xxhash.Sum64(r[:24]) && le.Uint64(r[len(r)-8:]) == xxhash.Sum64(r[:len(r)-8])
}

// openLog finds the last summary of the log that belongs to base h: one open
// and two reads, whatever its size. sum is unchanged when the log is missing,
// of an older generation, or empty.
func openLog(fsy FS, name string, id, generation uint64, sum *summary) (st logState, err error) {
	f, err := fsy.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return st, err
	}
	var buf [tailGuess]byte
	head := buf[:min(size, logHead)]
	if err := readFull(f, head, 0); err != nil {
		return st, err
	}
	ours, err := checkLogHead(name, head, id, generation)
	if err != nil || !ours {
		return st, err
	}
	st.exists, st.size = true, size
	if size == logHead {
		return st, nil
	}
	tail := buf[:min(size-logHead, tailGuess)]
	if err := readFull(f, tail, size-int64(len(tail))); err != nil {
		return st, err
	}
	if len(tail) >= recMin && le.Uint32(tail[len(tail)-12:]) == recEnd {
		n := int64(le.Uint32(tail[len(tail)-16:]))
		if n > int64(len(tail)) && n <= min(maxRecord, size-logHead) {
			tail = make([]byte, n)
			if err := readFull(f, tail, size-n); err != nil {
				return st, err
			}
		}
		if n <= int64(len(tail)) {
			rec := tail[int64(len(tail))-n:]
			if recordOK(rec) {
				st.seq, st.records = le.Uint64(rec[8:]), true
				if le.Uint32(rec[16:]) == kindNote {
					st.note = n
				}
				c := cursor{b: rec[recHead : len(rec)-recTail]}
				sum.decode(&c)
				return st, nil
			}
		}
	}
	// The end is torn or damaged: only reading everything tells which.
	all := make([]byte, size)
	if err := readFull(f, all, 0); err != nil {
		return st, err
	}
	st, err = walkLog(name, all, func(_ int64, payload []byte) error {
		c := cursor{b: payload}
		sum.decode(&c)
		return nil
	})
	st.exists = true
	return st, err
}

func checkLogHead(name string, head []byte, id, generation uint64) (ours bool, err error) {
	bad := func(what string) (bool, error) { return false, &CorruptError{File: name, What: what} }
	// I5: a log appears whole, with its header: a bad one is damage.
	if len(head) < logHead || string(head[:8]) != logMagic || le.Uint64(head[56:]) != xxhash.Sum64(head[:56]) {
		return bad("header of the log")
	}
	g := le.Uint64(head[16:])
	switch {
	case g > generation:
		return bad("log newer than the snapshot")
	case g < generation:
		return false, nil // I3: left over from before the snapshot, or a rebuild
	case le.Uint64(head[8:]) != id:
		return bad("log of another index")
	}
	return true, nil
}

// walkLog calls fn with the payload of each whole record. It tells a torn tail
// (the last write did not reach the disk: dropped) from damage (an error).
// Torn is what ends in the middle of a record, or in zeros, with no whole
// record after it. A note may be lost anywhere: it was not synced.
func walkLog(name string, b []byte, fn func(off int64, payload []byte) error) (st logState, err error) {
	off := int64(logHead)
	st.size = off
	for off < int64(len(b)) {
		rest := b[off:]
		bad := func(what string) error { return &CorruptError{File: name, Off: off, What: what} }
		what, n := checkRecord(off, rest)
		if what == recGood {
			if seq := le.Uint64(rest[8:]); seq != st.seq+1 {
				return st, bad("sequence number of a record")
			}
			if err := fn(off, rest[recHead:n-recTail]); err != nil {
				return st, err
			}
			st.note = 0
			if le.Uint32(rest[16:]) == kindNote {
				st.note = n
			}
		} else {
			if what == recDamaged {
				return st, bad("record is damaged")
			}
			if len(rest) > recMin {
				if next, _ := checkRecord(off+recMin, rest[recMin:]); next == recGood && le.Uint64(rest[recMin+8:]) == st.seq+2 {
					// I4: the note before a change did not last.
					n, st.note = recMin, 0
					st.seq++
					off += n
					continue
				}
			}
			if laterRecord(off, rest) {
				return st, bad("record is damaged")
			}
			break
		}
		st.seq, st.records = st.seq+1, true
		off += n
		st.size = off
	}
	st.torn = int64(len(b)) - st.size
	return st, nil
}

const (
	recGood = iota
	recTorn
	recDamaged
)

// checkRecord looks at the record at the begin of rest; off is its offset.
func checkRecord(off int64, rest []byte) (what int, n int64) {
	if len(rest) < recHead || zeros(rest[:recHead]) {
		return recTorn, 0
	}
	n = int64(le.Uint32(rest[4:]))
	if le.Uint32(rest) != recMagic || le.Uint64(rest[24:]) != xxhash.Sum64(rest[:24]) || n < recMin || n > maxRecord {
		return recDamaged, 0
	}
	if n > int64(len(rest)) {
		return recTorn, 0
	}
	rec := rest[:n]
	if recordOK(rec) {
		return recGood, n
	}
	if le.Uint32(rec[16:]) == kindNote || zeroSector(off, rec) || zeros(rec[n-recTail:]) {
		return recTorn, 0
	}
	return recDamaged, 0
}

// laterRecord reports whether a whole record follows somewhere behind the begin of rest.
func laterRecord(off int64, rest []byte) bool {
	for i := 1; i+recMin <= len(rest); i++ {
		if le.Uint32(rest[i:]) == recMagic {
			if what, _ := checkRecord(off+int64(i), rest[i:]); what == recGood {
				return true
			}
		}
	}
	return false
}

func zeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// zeroSector reports whether b, which starts at offset off of a file, holds a
// whole sector of zeros.
func zeroSector(off int64, b []byte) bool {
	first := (sectorSize - off%sectorSize) % sectorSize
	for i := first; i+sectorSize <= int64(len(b)); i += sectorSize {
		if zeros(b[i : i+sectorSize]) {
			return true
		}
	}
	return false
}

func readFull(f File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendLog adds a record to the log; a change is on disk on return, a note
// may get lost. The log is made when it is missing, and cut first when its end
// is torn. A note takes the place of a note at the end: their heads are the
// same bytes, so that a torn write leaves one that is known as a note.
func appendLog(fsy FS, name string, st *logState, header, payload []byte, kind uint32) error {
	at, seq := st.size, st.seq+1
	if kind == kindNote && st.note > 0 {
		at, seq = st.size-st.note, st.seq
	}
	rec := appendRecord(nil, seq, kind, payload)
	after := logState{exists: true, size: at + int64(len(rec)), seq: seq, records: true}
	if kind == kindNote {
		after.note = int64(len(rec))
	}
	if !st.exists {
		after.size = int64(logHead + len(rec))
		err := fsys.WriteFileAtomic(fsy, name, func(w io.Writer) error {
			_, err := w.Write(append(header, rec...))
			return err
		})
		if err == nil {
			*st = after
		}
		return err
	}
	f, err := fsy.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size != st.size+st.torn {
		return ErrStale
	}
	if st.torn > 0 {
		if err := f.Truncate(st.size); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(rec, at); err != nil {
		if at == st.size {
			f.Truncate(at) // best effort: a reader drops the torn end
		}
		return err
	}
	if kind != kindNote {
		if err := f.Datasync(); err != nil {
			return err
		}
	}
	*st = after
	return nil
}
