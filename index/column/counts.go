package column

import (
	"sync/atomic"

	"mailbench/index"
)

// counts is what a handle has done since Open; see index.Counter.
type counts struct {
	mails   atomic.Int64 // headers, messages and stats asked of the source
	bytes   atomic.Int64 // of parts of cache and answers, decompressed
	blocks  atomic.Int64 // of envelopes
	records atomic.Int64 // envelopes given
	ranked  atomic.Int64 // comparisons of strings that were given numbers
	updated atomic.Int64 // stored answers that were brought up to date
}

// decoded counts bytes of a part or of a block; a store under Check has no counts.
func (c *counts) decoded(bytes int64) {
	if c != nil {
		c.bytes.Add(bytes)
	}
}

func (c *counts) compared(n int64) {
	if c != nil {
		c.ranked.Add(n)
	}
}

// Counts implements index.Counter.
func (m *mailbox) Counts() map[string]int64 {
	out := map[string]int64{
		"mails-opened":   m.counts.mails.Load(),
		"bytes-decoded":  m.counts.bytes.Load(),
		"blocks-decoded": m.counts.blocks.Load(),
		"records-read":   m.counts.records.Load(),

		"answers-updated": m.counts.updated.Load(),
		"compares":        m.counts.ranked.Load() + m.sorts.Compares(),
	}
	out["rows-read"], out["keys-read"] = m.base.Loaded()
	return out
}

// source is the mail, with what is opened of it counted.
func (m *mailbox) source() countedSource { return countedSource{m.cfg.Source, &m.counts} }

type countedSource struct {
	index.Source
	c *counts
}

func (s countedSource) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	s.c.mails.Add(1)
	return s.Source.ReadHeader(e, buf)
}

// ReadHead is the source's, or ReadHeader: see index.HeadReader.
func (s countedSource) ReadHead(e *index.Entry, buf []byte) ([]byte, error) {
	s.c.mails.Add(1)
	if h, ok := s.Source.(index.HeadReader); ok {
		return h.ReadHead(e, buf)
	}
	return s.Source.ReadHeader(e, buf)
}

func (s countedSource) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	s.c.mails.Add(1)
	return s.Source.ReadMessage(e, buf)
}
