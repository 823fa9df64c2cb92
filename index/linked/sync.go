package linked

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"mailbench/index"
)

// known is what the "source" extension holds.
type known struct {
	index.Known
	listSize int64
}

const knownSize = 72

// known reads the header of the source extension.
func (v *view) known() (k known, ok bool) {
	e := v.ext(extSource)
	if e == nil || len(e.hdr) != knownSize {
		return k, false
	}
	u := func(i int) uint64 { return le.Uint64(e.hdr[8*i:]) }
	k.State = index.State{A: u(0), B: u(1), C: u(2), D: u(3), Racy: u(4)&1 != 0}
	k.listSize = int64(u(5))
	k.Digest = index.Digest{Sum: [2]uint64{u(6), u(7)}, N: int(u(8))}
	return k, true
}

func (k *known) encode() []byte {
	b := make([]byte, 0, knownSize)
	racy := uint64(0)
	if k.State.Racy {
		racy = 1
	}
	for _, x := range []uint64{k.State.A, k.State.B, k.State.C, k.State.D, racy, uint64(k.listSize), k.Digest.Sum[0], k.Digest.Sum[1], uint64(k.Digest.N)} {
		b = le.AppendUint64(b, x)
	}
	return b
}

// Sync implements index.Mailbox. The lock is held for all of it, as the
// original does; queries take it only to write.
func (m *mailbox) Sync() (c index.Changes, err error) {
	unlock, err := m.lock()
	if err != nil {
		return c, err
	}
	defer unlock()
	if _, err := m.refresh(); err != nil {
		return c, err
	}
	if err := m.maintain(); err != nil {
		return c, err
	}
	if c, err = m.track.Follow(m.cfg.Source, keeper{m}, func() *index.UIDListData {
		return index.ReadUIDList(m.cfg.FS, m.cfg.Source, m.cfg.Options.UIDList)
	}); err != nil {
		m.disk.close()
		m.forget()
	}
	return c, err
}

// keeper is the mailbox as Follow sees it.
type keeper struct{ *mailbox }

// Known implements index.Keeper.
func (m keeper) Known() (index.Known, bool, error) {
	if !m.disk.ok {
		return index.Known{}, false, nil
	}
	k, ok := m.disk.known()
	if !ok {
		return index.Known{}, false, nil
	}
	if good, err := m.listOK(); !good || err != nil {
		if _, err := m.loadTable(); err != nil {
			if errors.Is(err, index.ErrCorrupt) {
				return index.Known{}, false, nil
			}
			return index.Known{}, false, err
		}
	}
	return k.Known, true, nil
}

// Load implements index.Keeper.
func (m keeper) Load() (*index.Table, error) { return m.loadTable() }

// Note implements index.Keeper. Where it cannot be noted the next Sync lists
// again.
func (m keeper) Note(k index.Known) error {
	if m.readOnly() {
		return nil
	}
	now, _ := m.disk.known()
	now.Known = k
	t := newTrans()
	t.source(&m.disk.view, now)
	return m.appendLog(t, false)
}

func (t *trans) source(v *view, k known) {
	t.intro(v, extSource, 0, 0)
	t.extHdr(k.encode())
}

// Save implements index.Keeper.
func (m keeper) Save(t *index.Table, d *index.Delta, k index.Known, c index.Changes) error {
	if c.Rebuilt {
		return m.create(t, k)
	}
	v := &m.disk.view
	if err := m.loadRows(); err != nil {
		return err
	}
	now, _ := v.known()
	m.deadLines += len(d.Removed)
	size, err := m.extendList(&view{hdr: header{uidValidity: t.UIDValidity, uidNext: t.UIDNext, indexID: v.hdr.indexID}}, t, t.Len()-len(d.Added), now.listSize)
	if err != nil {
		return err
	}
	tr := newTrans()
	if t.HighestModSeq != v.hdr.modseq {
		tr.modSeq(t.HighestModSeq)
	}
	tr.expunge(d.Removed)
	tr.append(t, t.Len()-len(d.Added), t.Len())
	tr.flags(rowsOf(t, d.Flagged), 0)
	tr.flags(rowsOf(t, d.Moved), flagNoModSeq)
	tr.keywords(v, keywordsIn(t, d.Flagged, d.Added))
	if len(d.Added) > 0 {
		tr.day(v, t.UIDs()[t.Len()-len(d.Added)], m.cfg.Now())
	}
	tr.header(hdrUIDNext, t.UIDNext)
	tr.source(v, known{k, size})
	if err := m.appendLog(tr, true); err != nil {
		return err
	}
	m.table = t
	m.gen++
	if m.disk.end >= m.opt.logRotate || m.disk.index && m.disk.end-m.disk.folded > m.opt.rewriteMin {
		if err := m.fold(); err != nil {
			return err
		}
		if err := m.rotate(); err != nil {
			return err
		}
	}
	if len(d.Removed) > 0 {
		return m.purgeExpunged()
	}
	return nil
}

// create makes a new index: uidlist, then the log with everything in it. What
// was there before belongs to another index id and goes.
func (m keeper) create(t *index.Table, k index.Known) error {
	if err := m.fs.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := index.ChooseUIDValidity(m.fs, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
		return err
	}
	m.disk.close()
	m.forget()
	v := &m.disk.view
	*v = view{rows: true, hdr: header{indexID: rand.Uint32() | 1, uidNext: 1}}
	size, err := m.writeList(&view{hdr: header{uidValidity: t.UIDValidity, uidNext: t.UIDNext, indexID: v.hdr.indexID}}, t)
	if err != nil {
		return err
	}
	tr := newTrans()
	tr.modSeq(t.HighestModSeq)
	tr.header(hdrUIDValidity, t.UIDValidity)
	tr.append(t, 0, t.Len())
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	tr.keywords(v, keywordsIn(t, all))
	if t.Len() > 0 {
		tr.day(v, t.UIDs()[0], m.cfg.Now())
	}
	tr.header(hdrUIDNext, t.UIDNext)
	tr.source(v, known{k, size})
	b := tr.bytes()
	h := logHead{indexID: v.hdr.indexID, seq: 1, created: uint32(m.cfg.Now().Unix())}
	if err := m.newLog(h, b); err != nil {
		return err
	}
	if err := v.apply(b); err != nil {
		return err
	}
	m.disk.ok, m.table = true, t
	for _, name := range []string{indexFile, logOld, cacheName, threadName} {
		if err := m.remove(name); err != nil {
			return err
		}
	}
	return nil
}

func (t *trans) append(tab *index.Table, from, to int) {
	if from == to {
		return
	}
	at := t.begin(recAppend)
	t.b = slices.Grow(t.b, recordBase*(to-from))
	for i := from; i < to; i++ {
		t.b = le.AppendUint32(t.b, tab.UIDs()[i])
		t.b = le.AppendUint32(t.b, uint32(packFlags(tab.Flags()[i], tab.Dir(i))))
	}
	t.end(at)
}

// expunge writes UIDs, ascending, as ranges without gaps.
func (t *trans) expunge(uids []uint32) {
	if len(uids) == 0 {
		return
	}
	at := t.begin(recExpunge | protect<<16)
	for i := 0; i < len(uids); {
		j := i + 1
		for j < len(uids) && uids[j] == uids[j-1]+1 {
			j++
		}
		t.b = le.AppendUint32(t.b, uids[i])
		t.b = le.AppendUint32(t.b, uids[j-1])
		i = j
	}
	t.end(at)
}

// A flagged is a message's flags.
type flagged struct {
	uid   uint32
	flags uint8
}

func rowsOf(tab *index.Table, rows []int32) []flagged {
	out := make([]flagged, len(rows))
	for i, r := range rows {
		out[i] = flagged{tab.UIDs()[r], packFlags(tab.Flags()[r], tab.Dir(int(r)))}
	}
	return out
}

// flags writes flags: UIDs without gaps that get the same as one range. A UID
// that was expunged ends a range, as in the original's logs.
func (t *trans) flags(rows []flagged, how uint16) {
	if len(rows) == 0 {
		return
	}
	at := t.begin(recFlags)
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].uid == rows[j-1].uid+1 && rows[j].flags == rows[i].flags {
			j++
		}
		t.b = le.AppendUint32(t.b, rows[i].uid)
		t.b = le.AppendUint32(t.b, rows[j-1].uid)
		t.b = append(t.b, rows[i].flags, 0xff)
		t.b = le.AppendUint16(t.b, how)
		i = j
	}
	t.end(at)
}

// A keyworded is a message's keywords.
type keyworded struct{ uid, keywords uint32 }

// keywords writes the keywords of rows where they are not what v has.
func (t *trans) keywords(v *view, rows iter.Seq[keyworded]) {
	old := v.recs(extKeywords)
	at := 0
	for r := range rows {
		if was, ok := v.row(r.uid); r.keywords == 0 && (old == nil || !ok) || ok && old != nil && old[was] == r.keywords {
			continue
		}
		if at == 0 {
			t.intro(v, extKeywords, 0, 4)
			at = t.begin(recExtRec)
		}
		t.b = le.AppendUint32(t.b, r.uid)
		t.b = le.AppendUint32(t.b, r.keywords)
	}
	if at != 0 {
		t.end(at)
	}
}

// keywordsIn are those of some rows of tab.
func keywordsIn(tab *index.Table, lists ...[]int32) iter.Seq[keyworded] {
	return func(yield func(keyworded) bool) {
		for _, rows := range lists {
			for _, r := range rows {
				if !yield(keyworded{tab.UIDs()[r], tab.Keywords(int(r))}) {
					return
				}
			}
		}
	}
}

// day notes the first UID of a day on which mail came.
func (t *trans) day(v *view, uid uint32, now time.Time) {
	today := uint32(now.Unix() / 86400 * 86400)
	if v.hdr.dayStamp >= today {
		return
	}
	f := v.hdr.dayFirst
	t.header(hdrDay, today, uid, f[0], f[1], f[2], f[3], f[4], f[5], f[6])
}
