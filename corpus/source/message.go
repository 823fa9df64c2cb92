package source

import (
	"fmt"
	"path/filepath"

	"mailbench/index"
	"mailbench/maildir"
)

// A Message is one message in a file of its own. Its INTERNALDATE is the
// file's modification time.
type Message struct{ file }

// Kind is "message".
func (s *Message) Kind() string { return "message" }

// List gives the one entry.
func (s *Message) List(l *index.Listing) error {
	defer s.p.Begin(index.PhaseScan).End()
	if err := s.refresh(); err != nil {
		return err
	}
	l.Entries, l.Problems = l.Entries[:0], l.Problems[:0]
	if err := s.m.Damage(); err != nil {
		l.Problems = append(l.Problems, err)
	}
	info := s.m.Info()
	e := index.Entry{Key: filepath.Base(s.path), Dir: index.DirNone, Size: int64(len(s.m.Data())), VSize: -1,
		MTime: info.ModTime.Unix(), MTimeOK: true, Off: -1}
	var h fieldWalk
	if err := s.m.Guard(func() {
		h.walk(s.m.Data())
		e.VSize = maildir.CRLFSize(s.m.Data())
	}); err != nil {
		return fmt.Errorf("source: %s: %w", s.path, err)
	}
	e.Flags = h.flags
	l.Entries = append(l.Entries, e)
	l.Digest = index.Digest{Sum: digestOf(h.hash, 1, &e), N: 1}
	return nil
}

// Order has nothing to do.
func (s *Message) Order([]index.Entry) {}

// ReadHeader copies the header with its empty line, at most maildir.MaxHeader
// bytes of it. O(header).
func (s *Message) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	err := s.m.Guard(func() {
		b := s.m.Data()
		buf = append(buf[:0], b[:min(headerEnd(b), maildir.MaxHeader)]...)
	})
	return s.result(buf, err)
}

// ReadMessage copies the file. O(message).
func (s *Message) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	err := s.m.Guard(func() { buf = append(buf[:0], s.m.Data()...) })
	return s.result(buf, err)
}

func (s *Message) result(buf []byte, err error) ([]byte, error) {
	if err != nil {
		return buf[:0], fmt.Errorf("source: %s: %w", s.path, err)
	}
	s.p.Mail(len(buf))
	return buf, nil
}

// Sizes returns the file's bytes as stored and with CRLF line ends, as the
// listing has counted them. O(1).
func (s *Message) Sizes(e *index.Entry, _ []byte) (size, vsize int64, err error) {
	return int64(len(s.m.Data())), e.VSize, nil
}

// MessageOffset is 0: the file is the message.
func (s *Message) MessageOffset(*index.Entry) int64 { return 0 }

// Stat returns the size in bytes and the file's modification time.
func (s *Message) Stat(e *index.Entry) (size, mtimeSec int64, err error) {
	return int64(len(s.m.Data())), s.m.Info().ModTime.Unix(), nil
}
