package box

import (
	"fmt"
	"time"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	"mailbench/store"
)

// An incoming message is one that is being appended.
type incoming struct {
	msg store.Message
	key string // of the store, "" while it has none
	uid uint32
	err error

	known index.Cached // with Config.Cache; UID comes later
	turn  chan bool    // of a group: true = lead, false = done
}

// Append adds a message and returns its UID when it lasts as Fsync says, in the
// store, in the index and, with Config.Cache, in the cache. After an error the
// message may be there nevertheless.
func (b *Box) Append(m store.Message) (uint32, error) {
	if err := b.enter(); err != nil {
		return 0, err
	}
	defer b.leave()
	if m.Date == 0 {
		m.Date = b.now()
	}
	in := &incoming{msg: m}
	if b.cfg.Cache {
		in.known = known(&m) // here, where clients do it side by side
	}
	if b.cfg.Fsync == Always {
		b.carry([]*incoming{in})
	} else {
		b.group.join(in, b.carry)
	}
	return in.uid, in.err
}

func (b *Box) now() int64 { return b.cfg.Now().Truncate(time.Second).Unix() }

// carry takes messages through store, index and cache. Each gets its UID or
// its error.
func (b *Box) carry(ins []*incoming) {
	ticket := b.arrival.expect()
	stored := b.keep(ins)
	b.arrival.stored(ticket, stored)
	if len(stored) > 0 {
		b.enlist(stored)
	}
	b.arrival.done(stored)
}

// keep puts messages into the store and returns those that are there. One that
// the store refuses costs the others a call of their own, no more.
func (b *Box) keep(ins []*incoming) (stored []*incoming) {
	msgs := make([]store.Message, len(ins))
	for i, in := range ins {
		msgs[i] = in.msg
	}
	for len(ins) > 0 {
		keys, err := b.store.Append(msgs)
		if len(keys) > len(ins) || err == nil && len(keys) < len(ins) {
			err = fmt.Errorf("%d keys for %d messages", len(keys), len(ins))
			keys = nil
		}
		for i, k := range keys {
			ins[i].key = k
		}
		stored = append(stored, ins[:len(keys)]...)
		ins, msgs = ins[len(keys):], msgs[len(keys):]
		if len(ins) > 0 {
			ins[0].err = fmt.Errorf("box: append of %s: %w", describe(ins[0].msg.Body), err)
			ins, msgs = ins[1:], msgs[1:]
		}
	}
	return stored
}

// enlist gives stored messages their UIDs and tells the cache of them.
func (b *Box) enlist(ins []*incoming) {
	b.mu.Lock()
	defer b.mu.Unlock()
	listed := false
	err := b.again(func() error {
		listed = false
		if err := b.sync(); err != nil {
			return err
		}
		for _, in := range ins {
			in.uid = b.arrival.claim(in.key)
		}
		listed = true
		return b.tell()
	})
	for _, in := range ins {
		switch {
		case err != nil && !listed:
			in.err = fmt.Errorf("box: message %s is in the store, but not in the index: %w", in.key, err)
		case in.uid == 0:
			in.err = fmt.Errorf("box: message %s is in the store, but the index does not see it", in.key)
		case err != nil:
			in.err = fmt.Errorf("box: message %s, uid %d, is in the store and the index, but not in the cache: %w", in.key, in.uid, err)
		}
	}
}

// describe names a message that has no key yet.
func describe(body []byte) string {
	if id, ok := rfc5322.Get(body, "Message-ID"); ok && len(id) < 200 {
		return fmt.Sprintf("message %q", rfc5322.Unfold(nil, id))
	}
	return fmt.Sprintf("a message of %d bytes", len(body))
}
