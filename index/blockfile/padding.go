package blockfile

import (
	"cmp"
	"slices"
)

// padding checks the bytes of segment i that no checksum covers: between
// sections and block tables, written as zeros. They are never returned, so that
// damage in them hurts nobody yet; but it tells of the disk.
func (r *Reader) padding(i int) error {
	s := &r.segs[i]
	type span struct{ off, end int64 }
	at := s.Off + headSize
	if i == 0 {
		at = PageSize
	}
	spans := []span{{s.End - footSize - int64(len(s.sections))*entrySize, s.End}}
	for _, sec := range s.sections {
		spans = append(spans, span{sec.off, sec.off + sec.stored}, span{sec.tableOff(), sec.tableOff() + sec.tableLen()})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.end, b.end)) })
	for _, p := range spans {
		if at < p.off {
			b, err := r.bytes(at, p.off)
			if err != nil {
				return err
			}
			for i, c := range b {
				if c != 0 {
					return r.corrupt(at+int64(i), "padding")
				}
			}
		}
		at = max(at, p.end)
	}
	return nil
}
