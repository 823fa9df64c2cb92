package session

import (
	"errors"
	"slices"

	"mailbench/index"
)

// A view is what a connection knows of the mailbox that it has selected.
type view struct {
	f        *folder
	readOnly bool
	epoch    uint32 // of the folder
	exists   uint32
	status   index.Status // of the index, when the view was last brought in line with it
	loaded   bool         // below is there
	uid      []uint32     // by sequence number - 1; shared with the rows, not to be changed
	behind   bool         // it has messages that are gone: the client has not been told
	tick     uint32       // of the rows, for flags and new messages
	gone     uint32       // of the rows, for those that are gone
	missed   []uint32     // UIDs with other flags that the ticks do not tell of
	next     uint32       // UIDNEXT: what is not below it is new
}

// errNewMailbox ends a session: nothing that the client knows holds any more.
var errNewMailbox = errors.New("the mailbox has been built anew: select it again")

// newView is that of a folder as its index is now. f.mu is held.
func newView(f *folder, readOnly bool) *view {
	v := &view{f: f, readOnly: readOnly, epoch: f.epoch, status: f.status, exists: uint32(f.status.Messages), next: f.status.UIDNext}
	if f.rows.loaded {
		v.share()
	}
	return v
}

func (v *view) share() {
	r := &v.f.rows
	v.uid, v.loaded, v.behind = r.uid[:len(r.uid):len(r.uid)], true, false
	v.tick, v.gone = r.tick, r.gone
	v.missed = nil
	v.exists, v.next = uint32(len(v.uid)), v.f.status.UIDNext
}

// current reports whether the view is what the index says: its answers about all
// messages are the view's. f.mu is held.
func (v *view) current() bool {
	a, b := &v.status, &v.f.status
	if v.epoch != v.f.epoch {
		return false
	}
	if !v.loaded {
		return a.HighestModSeq == b.HighestModSeq && a.UIDNext == b.UIDNext && a.Messages == b.Messages
	}
	return !v.behind && v.gone == v.f.rows.gone && len(v.uid) == v.f.rows.len()
}

// load fills the view in. What has happened since it was last in line with the
// index is left for update to tell. f.mu is held; m is the index of it.
func (v *view) load(m index.Mailbox) error {
	if v.epoch != v.f.epoch {
		return errNewMailbox
	}
	if v.loaded {
		return nil
	}
	r := &v.f.rows
	if !r.loaded {
		if err := r.load(m, v.f.status); err != nil {
			return err
		}
	}
	if v.current() {
		v.share()
		return nil
	}
	return v.recall(m)
}

// recall finds out what the UIDs were when the view was last in line with the
// index.
func (v *view) recall(m index.Mailbox) error {
	r := &v.f.rows
	n, _ := r.find(v.status.UIDNext)
	uid := slices.Clone(r.uid[:n])
	c, ok := m.(index.Changer)
	if !ok {
		return errNewMailbox
	}
	var missed []uint32
	err := c.ChangesSince(v.status.HighestModSeq, func(m index.Message) bool {
		if m.UID < v.status.UIDNext {
			missed = append(missed, m.UID)
		}
		return true
	}, func(gone uint32) bool {
		if gone < v.status.UIDNext {
			uid = append(uid, gone)
		}
		return true
	})
	if err != nil {
		return err
	}
	slices.Sort(uid)
	if uid = slices.Compact(uid); len(uid) != int(v.exists) {
		return errNewMailbox
	}
	v.uid, v.loaded, v.missed = uid, true, missed
	v.tick, v.gone, v.behind = r.tick, r.gone, len(uid) != n
	return nil
}

// A teller gets what has happened to a view, in the order in which the client
// must hear it.
type teller interface {
	expunged(seq uint32)
	exists(n uint32)
	changed(seq, uid uint32, flags index.Flags, keywords uint32)
}

// update tells what has happened since it was last called; expunges only if they
// may be told now. known: messages whose flags the client has just heard. f.mu
// is held.
func (v *view) update(m index.Mailbox, t teller, expunges bool, known func(uid uint32) bool) error {
	if !v.loaded && v.epoch == v.f.epoch && v.current() {
		v.status = v.f.status
		return nil
	}
	if err := v.load(m); err != nil {
		return err
	}
	r := &v.f.rows
	if v.gone != r.gone {
		v.behind, v.gone = true, r.gone
	}
	if v.behind && expunges {
		v.expunge(t)
	}
	if v.tick != r.tick || len(v.missed) > 0 {
		v.flagged(t, known)
		v.tick, v.missed = r.tick, nil
	}
	v.grow(t)
	v.status = v.f.status
	return nil
}

// expunge tells which messages are gone, the last one first: so the numbers are
// those that the client has.
func (v *view) expunge(t teller) {
	old := v.uid
	k, _ := v.f.rows.find(v.next)
	v.uid, v.behind = v.f.rows.uid[:k:k], false
	v.exists = uint32(k)
	for i, left := len(old)-1, k; i >= 0; i-- {
		if left > 0 && v.uid[left-1] == old[i] {
			left--
			continue
		}
		t.expunged(uint32(i + 1))
	}
}

// flagged tells of messages with other flags.
func (v *view) flagged(t teller, known func(uid uint32) bool) {
	r := &v.f.rows
	at := 0 // in v.uid
	for i, stamp := range r.stamp {
		uid := r.uid[i]
		if uid >= v.next {
			return
		}
		_, missed := slices.BinarySearch(v.missed, uid)
		if stamp <= v.tick && !missed || known != nil && known(uid) {
			continue
		}
		more, ok := slices.BinarySearch(v.uid[at:], uid)
		at += more
		if ok {
			t.changed(uint32(at+1), uid, r.flags[i], r.keywords[i])
		}
	}
}

// grow tells how many messages there are, if some have come.
func (v *view) grow(t teller) {
	r := &v.f.rows
	k, _ := r.find(v.next)
	if k == len(r.uid) {
		v.next = v.f.status.UIDNext
		return
	}
	if v.behind {
		v.uid = append(slices.Clip(v.uid), r.uid[k:]...)
	} else {
		v.uid = r.uid[:len(r.uid):len(r.uid)]
	}
	v.next, v.exists = v.f.status.UIDNext, uint32(len(v.uid))
	t.exists(v.exists)
}

// seq is the sequence number of a UID.
func (v *view) seq(uid uint32) (seq uint32, ok bool) {
	i, ok := slices.BinarySearch(v.uid, uid)
	return uint32(i + 1), ok
}
