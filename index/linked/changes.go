package linked

import (
	"cmp"
	"slices"

	"mailbench/index"
)

// ChangesSince implements index.Changer. Vanished UIDs come from the log and
// the one before it. Where neither reaches back to modseq, every UID that is
// not there is told, which a QRESYNC server may do (RFC 7162 section 3.2.5.2):
// clients must not mind UIDs they do not know.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	return m.damaged(m.changesSince(modseq, changed, vanished))
}

func (m *mailbox) changesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	if m.disk.ok && m.table != nil && m.table.HighestModSeq == m.disk.hdr.modseq {
		if msgs, gone, ok := m.table.Noticed(modseq); ok {
			index.TellChanges(msgs, gone, changed, vanished)
			return nil
		}
	}
	if err := m.ensure(); err != nil {
		return err
	}
	v := &m.disk.view
	if modseq >= v.hdr.modseq {
		return nil
	}
	for i := range v.uid {
		if v.modseqOf(i) <= modseq {
			continue
		}
		t, err := m.loadTable()
		if err != nil {
			return err
		}
		t.Len() // takes expunged rows out, as the view has
		if !changed(t.Message(i)) {
			return nil
		}
	}
	gone, err := m.vanishedSince(modseq)
	if err != nil {
		return err
	}
	last := uint32(0) // told up to here
	for _, r := range gone {
		i, _ := v.row(max(r[0], last+1))
		for u := max(r[0], last+1); u <= r[1]; u++ {
			if i < len(v.uid) && v.uid[i] == u {
				i++
			} else if !vanished(u) {
				return nil
			}
		}
		last = max(last, r[1])
	}
	return nil
}

// vanishedSince lists ranges of UIDs, by their first, of which those that are
// not there were expunged after modseq.
func (m *mailbox) vanishedSince(modseq uint64) ([][2]uint32, error) {
	v := &m.disk.view
	var out [][2]uint32
	seq := m.disk.log.seq
	for _, name := range []string{logFile, logOld} {
		b, err := readWhole(m.fs, m.path(name), 1<<32)
		if err != nil {
			return nil, err
		}
		var h logHead
		if !h.decode(b) || h.indexID != v.hdr.indexID || h.seq != seq {
			break
		}
		at := uint64(0)
		if name == logFile {
			b = b[:min(int64(len(b)), m.disk.end)]
		}
		whole := walk(b[logHeader:], func(typ uint32, r []byte) bool {
			switch typ {
			case recModSeq:
				if len(r) == 8 {
					at = le.Uint64(r)
				}
			case recExpunge | protect<<16:
				for ; at > modseq && len(r) >= 8; r = r[8:] {
					if to := le.Uint32(r[4:]); to < v.hdr.uidNext && le.Uint32(r) > 0 {
						out = append(out, [2]uint32{le.Uint32(r), to})
					}
				}
			}
			return true
		})
		if logHeader+whole < len(b) {
			break // it does not go on to where the view says it does
		}
		if h.modseq <= modseq {
			slices.SortFunc(out, func(a, b [2]uint32) int { return cmp.Compare(a[0], b[0]) })
			return out, nil
		}
		if seq = h.prevSeq; seq == 0 {
			break
		}
	}
	if v.hdr.uidNext <= 1 {
		return nil, nil
	}
	return [][2]uint32{{1, v.hdr.uidNext - 1}}, nil
}
