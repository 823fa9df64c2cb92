// Package scan is the index design that keeps nothing but UIDs: Courier's way.
//
// One text file, mailbench.uids, in the index directory:
//
//	1 UIDVALIDITY UIDNEXT
//	UID NAME
//	...
//
// S1. UIDs ascend; a name is the message's unique name without flags. One with
// a byte that cannot stand in a line, which a file name may have, is quoted as
// in Go; so is one that begins with a quote.
//
// S2. The file is replaced as a whole (written under another name, synced,
// renamed) whenever a message has come or gone. Flags are the file names' and
// are never stored. When the UIDs are used up, it begins anew under a greater
// UIDVALIDITY.
//
// S3. Every Sync lists the mailbox and reads the file; every THREAD and SORT
// opens each message that the search selects. Nothing is kept for the next one.
//
// Not done, as in the original: checksums (a damaged digit is another UID),
// MODSEQ, expunged UIDs.
package scan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// File is the name of the only file.
const File = "mailbench.uids"

// Design is the design, named "scan".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "scan" }
func (design) Integrity() index.Integrity { return index.TrustsDisk }
func (design) Axes() index.Axes           { return index.Axes{Fetches: true} }

// Open reads nothing but the first line of the list.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, path: filepath.Join(cfg.Dir, File)}
	m.src.Source = cfg.Source
	b, err := readList(cfg.FS, m.path, 64)
	if err != nil {
		return nil, err
	}
	if u, err := index.ParseUIDList(b); err == nil {
		m.status = index.Status{UIDValidity: u.UIDValidity, UIDNext: u.UIDNext}
	}
	return m, nil
}

type mailbox struct {
	cfg    index.Config
	src    counted
	path   string
	status index.Status
	track  index.Tracker
	synced bool

	forest  index.Answer
	threads thread.Scratch
	sorts   mailsort.Scratch
	order   []int32
	uids    []uint32
	rows    []int32
}

// Sync lists the mailbox, reads the list and rewrites it if messages came or went.
func (m *mailbox) Sync() (index.Changes, error) {
	m.synced = false
	src := m.cfg.Source
	b, err := readList(m.cfg.FS, m.path, 1<<40)
	if err != nil {
		return index.Changes{}, err
	}
	u, err := parseList(b)
	rebuilt := err != nil
	if u != nil {
		m.src.records.Add(int64(len(u.Entries)))
	}
	if rebuilt {
		u = index.ReadUIDList(m.cfg.FS, src, m.cfg.Options.UIDList)
	}
	m.track.Adopt(u)
	before, err := src.State()
	if err != nil {
		return index.Changes{}, err
	}
	s, err := m.track.Scan(src, before)
	for errors.Is(err, index.ErrNoUIDs) && u != nil { // under a new UIDVALIDITY, then
		if u = nil; !rebuilt {
			rebuilt = true
			u = index.ReadUIDList(m.cfg.FS, src, m.cfg.Options.UIDList)
		}
		m.track.Adopt(u)
		s, err = m.track.Scan(src, before)
	}
	if err != nil {
		return index.Changes{}, err
	}
	t := m.track.Table()
	c := s.Changes
	c.Flagged, c.Moved = 0, 0 // flags are not kept, so their changes are not known
	if rebuilt {
		if err := m.cfg.FS.MkdirAll(m.cfg.Dir, 0o700); err != nil {
			return c, err
		}
		want := t.UIDValidity
		if want == 0 {
			want = m.cfg.Options.UIDValidity
		}
		if t.UIDValidity, err = index.NextUIDValidity(m.cfg.FS, m.cfg.Dir, want, m.cfg.Now()); err != nil {
			return c, err
		}
		c.Rebuilt, c.Removed, c.Added = true, 0, t.Len()
	}
	if rebuilt || c.Added+c.Removed > 0 {
		if err := m.write(t); err != nil {
			return c, err
		}
	}
	m.status = index.Status{UIDValidity: t.UIDValidity, UIDNext: t.UIDNext, Messages: t.Len()}
	for _, f := range t.Flags() {
		if f&index.FlagSeen == 0 {
			m.status.Unseen++
		}
		if f&index.FlagDeleted != 0 {
			m.status.Deleted++
		}
	}
	m.synced = true
	return c, nil
}

func (m *mailbox) write(t *index.Table) error {
	return fsys.WriteFileAtomic(m.cfg.FS, m.path, func(w io.Writer) error {
		bw := bufio.NewWriterSize(w, 256<<10)
		fmt.Fprintf(bw, "1 %d %d\n", t.UIDValidity, t.UIDNext)
		var line []byte
		for i, uid := range t.UIDs() {
			line = strconv.AppendUint(line[:0], uint64(uid), 10)
			line = append(line, ' ')
			line = appendName(line, string(t.Key(i)))
			bw.Write(append(line, '\n'))
		}
		return bw.Flush()
	})
}

// Status before the first Sync of this handle counts the lines of the list.
func (m *mailbox) Status() index.Status {
	if !m.synced && m.status.Messages == 0 && m.status.UIDNext > 1 {
		if b, err := readList(m.cfg.FS, m.path, 1<<40); err == nil {
			m.status.Messages = max(0, bytes.Count(b, []byte{'\n'})-1)
		}
	}
	return m.status
}

// ensure syncs if this mailbox never has been: nothing is kept between opens.
func (m *mailbox) ensure() error {
	if m.synced {
		return nil
	}
	_, err := m.Sync()
	return err
}

func (m *mailbox) Messages(fn func(index.Message) bool) error {
	if err := m.ensure(); err != nil {
		return err
	}
	t := m.track.Table()
	for i := range t.Len() {
		msg := t.Message(i)
		msg.ModSeq = 0
		if !fn(msg) {
			break
		}
	}
	return nil
}

// selected prepares the rows that s selects.
func (m *mailbox) selected(s index.Search) (r index.Rows, err error) {
	if err := m.ensure(); err != nil {
		return r, err
	}
	t := m.track.Table()
	var all bool
	if m.rows, all, err = t.Select(m.rows[:0], s); err != nil {
		return r, err
	}
	r = index.Rows{Source: &m.src, N: t.Len(), Entry: m.track.Entry, Workers: m.cfg.Options.Workers, Phases: m.cfg.Phases}
	m.uids = m.uids[:0]
	if all {
		m.uids = append(m.uids, t.UIDs()...)
		return r, nil
	}
	r.N = len(m.rows)
	r.Entry = func(i int) *index.Entry { return m.track.Entry(int(m.rows[i])) }
	for _, row := range m.rows {
		m.uids = append(m.uids, t.UIDs()[row])
	}
	return r, nil
}

func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	r, err := m.selected(s)
	if err != nil {
		return nil, err
	}
	c, err := r.Columns(index.WantThread, m.cfg.Options.Compat)
	if err != nil {
		return nil, err
	}
	defer m.cfg.Phases.Begin(index.PhaseLink).End()
	thread.Build(alg, &c.Input, nil, &m.forest.Forest, &m.threads)
	m.forest.UID = m.uids
	return &m.forest, nil
}

func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	r, err := m.selected(s)
	if err != nil {
		return nil, err
	}
	col, err := r.SortColumns(crit, m.cfg.Options.Compat, &m.sorts)
	if err != nil {
		return nil, err
	}
	defer m.cfg.Phases.Begin(index.PhaseSort).End()
	m.order = mailsort.Order(m.order[:0], r.N, nil, crit, col, &m.sorts)
	out := make([]uint32, len(m.order))
	for i, row := range m.order {
		out[i] = m.uids[row]
	}
	return out, nil
}

// Fetch opens each message.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	if err := m.ensure(); err != nil {
		return err
	}
	entry := func(uid uint32) *index.Entry {
		row, ok := m.track.Table().Row(uid)
		if !ok {
			return nil
		}
		return m.track.Entry(row)
	}
	return index.FetchFrom(&m.src, uids, fields, entry, fn)
}

// Counts tells how many mails were opened and lines of the list read.
func (m *mailbox) Counts() map[string]int64 {
	return map[string]int64{"mails-opened": m.src.mails.Load(), "records-read": m.src.records.Load(), "compares": m.sorts.Compares()}
}

// counted is the source, asked for headers by several goroutines.
type counted struct {
	index.Source
	mails, records atomic.Int64
}

func (c *counted) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	c.mails.Add(1)
	return c.Source.ReadHeader(e, buf)
}

// Compact does nothing: the list is always rewritten as a whole.
func (m *mailbox) Compact() error { return nil }

func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		b, err := readList(m.cfg.FS, m.path, 1<<40)
		if err != nil {
			yield(err)
			return
		}
		if len(b) == 0 {
			return
		}
		bad := func(what string) error { return &index.CorruptError{File: m.path, What: what} }
		u, err := parseList(b)
		if err != nil {
			yield(bad("first line"))
			return
		}
		lines := -1
		for _, c := range b {
			if c == '\n' {
				lines++
			}
		}
		if lines != len(u.Entries) {
			yield(bad("lines that cannot be read, or a uid or name twice"))
		}
	}
}

func (m *mailbox) Stats() []index.FileStat {
	var out []index.FileStat
	for _, name := range [...]string{File, index.ValidityFile} {
		if in, err := m.cfg.FS.Stat(filepath.Join(m.cfg.Dir, name)); err == nil {
			st := index.FileStat{Name: name, Bytes: in.Size}
			if name == File {
				st.Rows = int64(m.Status().Messages)
			}
			out = append(out, st)
		}
	}
	return out
}

func (m *mailbox) Close() error {
	m.track = index.Tracker{}
	m.synced = false
	return nil
}
