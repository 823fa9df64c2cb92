package column

import (
	"errors"
	"slices"
)

// Enveloper is what an opened mailbox of this design gives with
// fields=envelope beside index.Mailbox.
type Enveloper interface {
	// Envelope fills e with the envelope of the message; its slices are valid
	// until the next call. A block of about a thousand envelopes is decoded
	// unless the last call was near. ErrNoEnvelope without fields=envelope or
	// for an unknown UID.
	Envelope(uid uint32, e *Envelope) error
}

// ErrNoEnvelope reports that the cache has no envelope of a message.
var ErrNoEnvelope = errors.New("column: no envelope is cached")

// Envelope implements Enveloper.
func (m *mailbox) Envelope(uid uint32, e *Envelope) error {
	return m.healing(func() error {
		st, v, err := m.ready()
		if err != nil {
			return err
		}
		m.wait()
		row, ok := slices.BinarySearch(st.cols.uid, uid)
		if ok && v.live != nil {
			_, ok = slices.BinarySearch(v.live, int32(row))
		}
		if !ok || !st.covers("env") {
			return ErrNoEnvelope
		}
		if st.env == nil {
			if st.env, err = st.envReader(); err != nil {
				return err
			}
		}
		return st.env.read(row, e)
	})
}
