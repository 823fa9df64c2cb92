package linked

import (
	"iter"

	"mailbench/index"
)

// rewriteMaxFactor: a handle that stays open lets the log grow to so many times
// index-rewrite-min before it writes the index file anew: the original has 8 KiB
// for those who read the log, 128 KiB for those who wrote it.
const rewriteMaxFactor = 16

// Append implements index.Appender: a line of the uidlist for each new message
// and a transaction. No row is moved: the view takes expunged ones out when
// somebody asks for rows.
func (m keeper) Append(t *index.Table, n *index.News, k index.Known, _ index.Changes) error {
	if err := m.loadRaw(); err != nil {
		return err
	}
	v := &m.disk.view
	now, _ := v.known()
	m.deadLines += len(n.Removed)
	var lines []byte
	for i := range n.Added {
		lines = appendListLine(lines, n.Added[i].UID, []byte(n.Added[i].Key))
	}
	size, err := int64(0), error(nil)
	if m.listGrows(now.listSize, k.Digest.N) {
		size, err = m.growList(lines, now.listSize)
	} else {
		size, err = m.writeList(&view{hdr: header{uidValidity: t.UIDValidity, uidNext: t.UIDNext, indexID: v.hdr.indexID}}, t)
	}
	if err != nil {
		return err
	}
	tr := newTrans()
	if n.HighestModSeq != v.hdr.modseq {
		tr.modSeq(n.HighestModSeq)
	}
	tr.expunge(n.Removed)
	if len(n.Added) > 0 {
		at := tr.begin(recAppend)
		for i := range n.Added {
			r := &n.Added[i]
			tr.b = le.AppendUint32(tr.b, r.UID)
			tr.b = le.AppendUint32(tr.b, uint32(packFlags(r.Flags, r.Dir)))
		}
		tr.end(at)
	}
	tr.flags(flagsOf(n.Flagged), 0)
	tr.flags(flagsOf(n.Moved), flagNoModSeq)
	tr.keywords(v, keywordsOf(n.Flagged, n.Added))
	if len(n.Added) > 0 {
		tr.day(v, n.Added[0].UID, m.cfg.Now())
	}
	tr.header(hdrUIDNext, n.UIDNext)
	tr.source(v, known{k, size})
	if err := m.appendLog(tr, true); err != nil {
		return err
	}
	m.table = t
	m.gen++
	if m.disk.end >= m.opt.logRotate || m.disk.index && m.disk.end-m.disk.folded > rewriteMaxFactor*m.opt.rewriteMin {
		if err := m.fold(); err != nil {
			return err
		}
		if err := m.rotate(); err != nil {
			return err
		}
	}
	if len(n.Removed) > 0 {
		return m.purgeExpunged()
	}
	return nil
}

func flagsOf(rows []index.Row) []flagged {
	out := make([]flagged, len(rows))
	for i := range rows {
		out[i] = flagged{rows[i].UID, packFlags(rows[i].Flags, rows[i].Dir)}
	}
	return out
}

func keywordsOf(lists ...[]index.Row) iter.Seq[keyworded] {
	return func(yield func(keyworded) bool) {
		for _, rows := range lists {
			for i := range rows {
				if !yield(keyworded{rows[i].UID, rows[i].Keywords}) {
					return
				}
			}
		}
	}
}

var _ index.Appender = keeper{}
