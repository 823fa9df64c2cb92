package index

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"

	"mailbench/index/blockfile"
)

// Check reads everything back and yields every inconsistency.
func (b *Base) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		if err := b.refresh(); err != nil {
			yield(err)
			return
		}
		if b.damage != nil {
			yield(b.damage)
			return
		}
		if !b.exists {
			return
		}
		if err := checkValidity(b.fs, b.dir); err != nil && !yield(err) {
			return
		}
		r, err := blockfile.Open(b.fs, b.base)
		if err != nil {
			yield(err)
			return
		}
		defer r.Close()
		bad := false
		r.Verify(func(err error) bool {
			bad = true
			return yield(err)
		})
		if bad {
			return
		}
		if b.logst.torn > 0 && !yield(&CorruptError{File: b.log, Off: b.logst.size, What: "torn tail"}) {
			return
		}
		b.table = nil // as it is on disk
		t, err := b.Table()
		if err != nil {
			yield(err)
			return
		}
		more := true
		t.check(func(what string) bool {
			more = yield(&CorruptError{File: b.base, What: what})
			return more
		})
		if !more {
			return
		}
		var s summary
		s.take(t)
		s.state, s.digest = b.sum.state, b.sum.digest
		if s != b.sum {
			yield(&CorruptError{File: b.base, What: "status differs from the rows"})
		}
	}
}

// Stats lists the files of the base and the sections of the snapshot.
func (b *Base) Stats() []FileStat {
	var out []FileStat
	for _, name := range [...]string{BaseFile, LogFile, ValidityFile, BaseFile + DamagedSuffix} {
		in, err := b.fs.Stat(filepath.Join(b.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		rows := int64(0)
		if name == BaseFile {
			rows = int64(b.sum.messages)
		}
		out = append(out, FileStat{Name: name, Bytes: in.Size, Rows: rows})
		if name == BaseFile {
			out = append(out, SectionStats(b.fs, b.base)...)
		}
	}
	return out
}

// SectionStats lists the sections of a blockfile, summed over its segments.
func SectionStats(fsy FS, path string) []FileStat {
	r, err := blockfile.Open(fsy, path)
	if err != nil {
		return nil
	}
	defer r.Close()
	var out []FileStat
	at := make(map[string]int)
	for i := range r.Segments() {
		for _, s := range r.Segment(i).Sections() {
			k, ok := at[s.Name()]
			if !ok {
				k = len(out)
				at[s.Name()] = k
				out = append(out, FileStat{Name: filepath.Base(path), Part: s.Name()})
			}
			out[k].Bytes += s.Stored()
			out[k].Rows += int64(s.Rows())
		}
	}
	return out
}
