package box

import (
	"bytes"

	"mailbench/index"
	"mailbench/internal/mime"
	"mailbench/internal/rfc5322"
	"mailbench/store"
)

// known is what the bytes of a message tell a cache. Header is not copied.
// O(bytes).
func known(m *store.Message) index.Cached {
	header := m.Body
	if end := rfc5322.HeaderEnd(m.Body, 0); end >= 0 {
		header = m.Body[:end]
	}
	return index.Cached{
		Header: header, BodyStructure: mime.AppendBodyStructure(nil, m.Body),
		Size: int64(len(m.Body)), VSize: virtualSize(m.Body), Date: m.Date,
	}
}

// virtualSize is RFC822.SIZE: bytes with CRLF line ends.
func virtualSize(b []byte) int64 {
	return int64(len(b) + bytes.Count(b, []byte("\n")) - bytes.Count(b, []byte("\r\n")))
}

// tell fills the cache with what is known of new messages. A design that is no
// index.Cacher is asked for their envelopes, so that it caches what it caches
// of those; it reads the mail for that. b.mu is held.
func (b *Box) tell() error {
	if !b.cfg.Cache {
		return nil
	}
	msgs := b.arrival.untold()
	if len(msgs) == 0 { // another append has told of them
		return nil
	}
	var err error
	switch m := b.mbox.(type) {
	case index.Cacher:
		err = m.Cache(msgs)
	case index.Fetcher:
		uids := make([]uint32, len(msgs))
		for i := range msgs {
			uids[i] = msgs[i].UID
		}
		err = m.Fetch(uids, index.EnvelopeFields, func(uint32, [][]byte) error { return nil })
	}
	if err == nil {
		b.arrival.told()
	}
	return err
}
