package column

import (
	"slices"

	"mailbench/index"
	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A section is a stream of the answers file that is to be written.
type section struct {
	name string
	rows int
	b    []byte
}

// answersFile is the opened answers file: true of one set of messages.
type answersFile struct {
	r   *blockfile.Reader
	set set
	uid []uint32 // decoded on first use
	c   *counts
}

// storedAnswers opens the answers file if it is true of the messages that are
// there now.
func (m *mailbox) storedAnswers(h *index.BaseHeader) *answersFile {
	if m.forget {
		return nil
	}
	if m.answers != nil {
		if m.answers.set == m.set(h) {
			return m.answers
		}
		m.closeAnswers()
	}
	r, err := blockfile.Open(m.fs, m.answersPath)
	if err != nil {
		return nil // missing, damaged, unreadable: there are none
	}
	fh := r.Header()
	s := m.set(h)
	if fh.Kind != answersKind || fh.Version != version || fh.UIDValidity != h.UIDValidity || fh.Generation > h.Generation ||
		string(fh.Meta) != string(s.meta()) {
		r.Close()
		return nil
	}
	m.answers = &answersFile{r: r, set: s, c: &m.counts}
	return m.answers
}

func (s *set) meta() []byte {
	b := le.AppendUint64(nil, s.id)
	b = append(b, byte(s.compat))
	b = le.AppendUint32(b, s.uidNext)
	b = le.AppendUint32(b, uint32(s.messages))
	return appendSetHash(b, s.hash)
}

func (m *mailbox) closeAnswers() {
	if m.answers != nil {
		m.answers.r.Close()
	}
	m.answers = nil
}

func (a *answersFile) section(name string) *blockfile.Section {
	for i := range a.r.Segments() {
		if s := a.r.Segment(i).Section(name); s != nil {
			return s
		}
	}
	return nil
}

func (a *answersFile) bytes(name string) (b []byte, rows int, ok bool) {
	s := a.section(name)
	if s == nil {
		return nil, 0, false
	}
	var err error
	if s.Encoding() == blockfile.Raw {
		b, err = s.Bytes()
	} else {
		b, err = s.ReadAll(make([]byte, 0, s.Len()))
	}
	a.c.decoded(int64(len(b)))
	return b, s.Rows(), err == nil
}

// uids decodes the UIDs of the messages.
func (a *answersFile) uids() bool {
	if a.uid != nil {
		return true
	}
	b, rows, ok := a.bytes("uid")
	if !ok || rows != a.set.messages {
		return false
	}
	a.uid, ok = decodeRuns(nil, b, rows)
	return ok
}

func (m *mailbox) hasStored(name string, h *index.BaseHeader) bool {
	a := m.storedAnswers(h)
	return a != nil && a.section(name) != nil
}

// bad forgets an answers file that does not decode: the columns answer.
func (m *mailbox) bad() {
	m.closeAnswers()
	m.forget = true
}

// storedForest reads a stored tree. What is missing or damaged is not there.
func (m *mailbox) storedForest(name string, h *index.BaseHeader) (ans index.Answer, ok bool) {
	a := m.storedAnswers(h)
	if a == nil || a.section(name) == nil {
		return ans, false
	}
	row, nodes, ok1 := a.bytes(name)
	kids, nodes2, ok2 := a.bytes(name + ".k")
	if !ok1 || !ok2 || nodes != nodes2 || !a.uids() || !decodeForest(&ans.Forest, row, kids, nodes, len(a.uid)) {
		m.bad()
		return ans, false
	}
	ans.UID = a.uid
	return ans, true
}

// storedOrder reads a stored order into m.uids.
func (m *mailbox) storedOrder(name string, h *index.BaseHeader) bool {
	a := m.storedAnswers(h)
	if a == nil || a.section(name) == nil {
		return false
	}
	b, rows, ok := a.bytes(name)
	if ok = ok && a.uids() && rows == len(a.uid); ok {
		m.uids, ok = decodeOrder(m.uids, b, a.uid)
	}
	if !ok {
		m.uids = m.uids[:0]
		m.bad()
	}
	return ok
}

func forestSections(name string, f *thread.Forest) []section {
	row, kids := encodeForest(f)
	return []section{{name, len(f.Row), row}, {name + ".k", len(f.Row), kids}}
}

// orderSection makes the section of m.order, which holds cache rows.
func (m *mailbox) orderSection(v *view, crit []mailsort.Criterion) section {
	order := m.order
	if v.live != nil {
		message := make([]int32, slices.Max(v.live)+1)
		for i, r := range v.live {
			message[r] = int32(i)
		}
		for i, r := range order {
			order[i] = message[r]
		}
	}
	return section{orderName(crit), len(order), encodeOrder(order)}
}

// save stores sections: beside those that are there if they are true of the
// same messages, else in a new file. A failure costs the time to compute the
// answer again, not the answer.
func (m *mailbox) save(h *index.BaseHeader, uid []uint32, secs []section) {
	write := func(w *blockfile.Writer) error {
		for _, s := range secs {
			var err error
			if len(s.b) < 1024 {
				err = w.Raw(s.name, s.rows, s.b)
			} else {
				err = w.ZstdBytes(s.name, s.rows, s.b, blockSize)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	m.wait()
	s := m.set(h)
	var err error
	if a := m.storedAnswers(h); a != nil {
		err = blockfile.Append(m.fs, a.r, write)
	} else {
		hd := blockfile.Header{Kind: answersKind, Version: version, UIDValidity: h.UIDValidity, Generation: h.Generation, Meta: s.meta()}
		err = blockfile.Create(m.fs, m.answersPath, hd, func(w *blockfile.Writer) error {
			if err := w.Raw("uid", len(uid), appendRuns(nil, uid)); err != nil {
				return err
			}
			return write(w)
		})
		if err == nil {
			m.forget = false
		}
	}
	m.closeAnswers()
	m.lost = err
}
