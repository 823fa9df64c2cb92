// Package example is the smallest complete index design, to begin your own
// with: see docs/NEW-DESIGN.md. It uses nothing that a module elsewhere cannot
// import, and is plain rather than fast: every change writes everything.
//
// One file, example.index:
//
//	"example2" | crc64 (ECMA) of what follows, u64 big-endian | gob of a state
//
// E1. The file is replaced as a whole; nothing is used that was not checked.
//
// E2. What THREAD and SORT want of a header is read when first asked for, and
// kept: unless another process has written meanwhile, whose file stays.
//
// E3. What was read under one Options.Compat is not used under the other: it
// is read again, and replaces what was kept.
//
// Not done: locking, as in every design here; sizes, which are read again.
package example

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc64"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"time"

	"mailbench/index"
)

// Design is the design, named "example".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "example" }
func (design) Integrity() index.Integrity { return index.DetectsDamage }
func (design) Axes() index.Axes           { return index.Axes{Fetches: true, ModSeqs: true} }

// state is all that is kept.
type state struct {
	UIDValidity, UIDNext uint32
	HighestModSeq        uint64
	Known                index.Known
	Compat               index.Compat // whose reading Fields are
	Rows                 []row
	Vanished             []index.Vanished
}

type row struct {
	Message index.Message
	Dir     uint8
	Fields  []byte // index.AppendFields of the header; nil: not read yet
}

type mailbox struct {
	index.Answerer // Status, Messages, Thread, Sort, Fetch, ChangesSince
	cfg            index.Config
	path           string
	sum            uint64 // of the file that the table is from; 0: none
	known          index.Known
	fields         map[uint32][]byte // by UID
}

// Open reads the file. One that is missing or damaged is an empty mailbox until Sync.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = index.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, path: filepath.Join(cfg.Dir, "example.index")}
	m.Answerer = index.Answerer{Source: cfg.Source, Options: cfg.Options, Table: index.NewTable(0, 0, 0, 0), Fields: m.field}
	_, _, err := m.Known()
	return m, err
}

const magic, head = "example2", 16

var ecma = crc64.MakeTable(crc64.ECMA)

// read returns the file behind its head and its sum, nil when it is missing. An
// error about damage wraps index.ErrCorrupt.
func (m *mailbox) read() (body []byte, sum uint64, err error) {
	b, err := index.ReadFile(m.cfg.FS, m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if len(b) < head || string(b[:len(magic)]) != magic {
		return nil, 0, &index.CorruptError{File: m.path, What: "no head"}
	}
	if sum = binary.BigEndian.Uint64(b[len(magic):]); sum != crc64.Checksum(b[head:], ecma) {
		return nil, 0, &index.CorruptError{File: m.path, What: "checksum"}
	}
	return b[head:], sum, nil
}

// Sync calls Known, and then, as far as it must, Load, Note and Save.
func (m *mailbox) Sync() (index.Changes, error) {
	maps.DeleteFunc(m.fields, func(_ uint32, f []byte) bool { return len(f) == 0 })
	return m.Track.Follow(m.cfg.Source, m, func() *index.UIDListData {
		return index.ReadUIDList(m.cfg.FS, m.cfg.Source, m.cfg.Options.UIDList)
	})
}

// Known reads the file, if it is not the one that was read or written last.
func (m *mailbox) Known() (known index.Known, ok bool, err error) {
	body, sum, err := m.read()
	if errors.Is(err, index.ErrCorrupt) {
		return m.known, false, nil
	}
	if err != nil || body == nil || sum == m.sum {
		return m.known, body != nil, err
	}
	var s state
	if gob.NewDecoder(bytes.NewReader(body)).Decode(&s) != nil {
		return m.known, false, nil
	}
	t, fields := index.NewTable(s.UIDValidity, s.UIDNext, s.HighestModSeq, len(s.Rows)), map[uint32][]byte{}
	for i := range s.Rows {
		r := &s.Rows[i]
		err = errors.Join(err, t.Append(r.Message.UID, r.Message.Key, r.Message.Flags, r.Dir, r.Message.Keywords, r.Message.ModSeq))
		if s.Compat == m.cfg.Options.Compat {
			fields[r.Message.UID] = r.Fields
		}
	}
	for _, v := range s.Vanished {
		err = errors.Join(err, t.AppendVanished(v.UID, v.ModSeq))
	}
	if err == nil {
		m.Table, m.fields, m.known, m.sum = t, fields, s.Known, sum
	}
	return m.known, err == nil, nil
}

// Load returns what Known has read.
func (m *mailbox) Load() (*index.Table, error) { return m.Table, nil }

// Note keeps what the mailbox looked like.
func (m *mailbox) Note(k index.Known) error { return m.write(m.Table, k) }

// Save keeps a change: on disk when it returns.
func (m *mailbox) Save(t *index.Table, d *index.Delta, k index.Known, c index.Changes) error {
	if c.Rebuilt {
		if err := m.cfg.FS.MkdirAll(m.cfg.Dir, 0o700); err != nil {
			return err
		}
		if err := index.ChooseUIDValidity(m.cfg.FS, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
			return err
		}
		m.fields = map[uint32][]byte{}
	}
	for _, uid := range d.Removed {
		delete(m.fields, uid)
	}
	return m.write(t, k)
}

func (m *mailbox) write(t *index.Table, k index.Known) error {
	s := state{t.UIDValidity, t.UIDNext, t.HighestModSeq, k, m.cfg.Options.Compat, make([]row, t.Len()), t.Vanished()}
	for i := range s.Rows {
		s.Rows[i] = row{t.Message(i), t.Dir(i), m.fields[t.UIDs()[i]]}
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(&s); err != nil {
		return err
	}
	sum := crc64.Checksum(body.Bytes(), ecma)
	m.sum = 0 // after an error: read again
	err := index.WriteFileAtomic(m.cfg.FS, m.path, func(w io.Writer) error {
		_, err := w.Write(append(binary.BigEndian.AppendUint64([]byte(magic), sum), body.Bytes()...))
		return err
	})
	if err == nil {
		m.Table, m.known, m.sum = t, k, sum
	}
	return err
}

// field is what the Answerer asks of each row.
func (m *mailbox) field(row int, f *index.Fields) error {
	uid := m.Table.UIDs()[row]
	if m.fields[uid] == nil {
		if err := m.fill(f); err != nil {
			return err
		}
	}
	if len(m.fields[uid]) == 0 { // gone
		*f = index.Fields{}
		return nil
	}
	if _, ok := index.ParseFields(m.fields[uid], f); !ok {
		return &index.CorruptError{File: m.path, What: "fields of a message"}
	}
	return nil
}

// fill reads all headers that have not been read yet.
func (m *mailbox) fill(f *index.Fields) error {
	for row, uid := range m.Table.UIDs() {
		if m.fields[uid] != nil {
			continue
		}
		if err := m.Read(row, f); errors.Is(err, fs.ErrNotExist) {
			m.fields[uid] = []byte{} // gone: the next Sync will tell
			continue
		} else if err != nil {
			return err
		}
		m.fields[uid] = index.AppendFields(nil, f)
	}
	if _, sum, err := m.read(); err != nil || sum != m.sum {
		return err
	}
	return m.write(m.Table, m.known)
}

// Compact has nothing to do: there are no dead records.
func (m *mailbox) Compact() error { return nil }

// Check reads the file again.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		body, _, err := m.read()
		if err == nil && body == nil && m.sum != 0 {
			err = &index.CorruptError{File: m.path, What: "missing"}
		}
		if err != nil {
			yield(err)
		}
		if err != nil || body == nil { // not there yet
			return
		}
		m.Table.Problems(func(what string) bool { return yield(&index.CorruptError{File: m.path, What: what}) })
	}
}

// Stats has one file.
func (m *mailbox) Stats() []index.FileStat {
	in, err := m.cfg.FS.Stat(m.path)
	if err != nil {
		return nil
	}
	return []index.FileStat{{Name: filepath.Base(m.path), Bytes: in.Size, Rows: int64(m.Table.Len())}}
}

// Close has nothing open.
func (m *mailbox) Close() error { return nil }
