package suite

import (
	"fmt"
	"sync"

	"mailbench/index"
)

// A mixModel is what the mailbox of BenchmarkMix must look like while many
// clients change it. Each event has a stamp. What a client sees is compared
// with the model wherever the stamps say that nothing can have been on its way:
// what had ended before the look began is seen, and nothing else is guessed.
type mixModel struct {
	mu    sync.Mutex
	stamp uint64
	live  map[uint32]*mixMessage
	gone  map[uint32]uint64 // when the expunging of a UID had ended
}

// A mixMessage is a message as the model knows it.
type mixMessage struct {
	letter   *letter // nil: somebody saw it before its append had ended
	since    uint64  // when that had ended
	flags    index.Flags
	keywords uint32
	flagged  bool   // flags and keywords are known
	first    entry  // what they were when somebody changed them before the append had ended
	early    bool   // first is set
	changed  uint64 // when they last changed, or had changed
	pending  int    // changes on their way
	dying    bool   // an expunge has begun
}

func newMixModel() *mixModel {
	return &mixModel{live: map[uint32]*mixMessage{}, gone: map[uint32]uint64{}}
}

func (m *mixModel) tick() uint64 {
	m.stamp++
	return m.stamp
}

// now is the stamp of a look that begins.
func (m *mixModel) now() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tick()
}

func (m *mixModel) get(uid uint32) *mixMessage {
	msg := m.live[uid]
	if msg == nil {
		msg = &mixMessage{}
		m.live[uid] = msg
	}
	return msg
}

// appended notes that l has the UID.
func (m *mixModel) appended(uid uint32, l *letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, gone := m.gone[uid]; gone && m.live[uid] == nil {
		return fmt.Errorf("UID %d is given to a new message, and was that of one expunged", uid)
	}
	msg := m.get(uid)
	if msg.letter != nil {
		return fmt.Errorf("UID %d is given twice", uid)
	}
	if msg.early && (msg.first.flags != l.Flags || msg.first.keywords != l.Keywords) {
		return fmt.Errorf("UID %d was appended with flags %q and had %q", uid, l.Flags, msg.first.flags)
	}
	if !msg.flagged {
		msg.flags, msg.keywords, msg.flagged = l.Flags, l.Keywords, true
	}
	msg.letter, msg.since = l, m.tick()
	return nil
}

// changing notes the change of a message's flags from old, inside the call that
// makes it, and what they were by the model.
func (m *mixModel) changing(uid uint32, old, flags index.Flags, oldKeywords, keywords uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, gone := m.gone[uid]; gone && m.live[uid] == nil {
		return fmt.Errorf("UID %d was expunged (%d) and has flags %q", uid, at, old)
	}
	msg := m.get(uid)
	if msg.flagged && (msg.flags != old || msg.keywords != oldKeywords) {
		return fmt.Errorf("UID %d has flags %q and keywords %#x, want %q and %#x", uid, old, oldKeywords, msg.flags, msg.keywords)
	}
	if !msg.flagged {
		msg.first, msg.early = entry{flags: old, keywords: oldKeywords}, true
	}
	msg.flags, msg.keywords, msg.flagged = flags, keywords, true
	msg.changed = m.tick()
	msg.pending++
	return nil
}

// changed notes that the call has ended.
func (m *mixModel) changed(uids []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uid := range uids {
		if msg := m.live[uid]; msg != nil {
			msg.pending--
			msg.changed = m.tick()
		}
	}
}

// expunging notes that an expunge begins, and expunged that it has ended.
func (m *mixModel) expunging(uids []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uid := range uids {
		if _, gone := m.gone[uid]; !gone {
			m.get(uid).dying = true
		}
	}
}

func (m *mixModel) expunged(uids []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uid := range uids {
		if _, gone := m.gone[uid]; !gone {
			m.gone[uid] = m.tick()
		}
		if msg := m.live[uid]; msg != nil && msg.letter != nil {
			delete(m.live, uid)
		}
	}
}

// A seen message is one of a listing.
type seen struct {
	uid      uint32
	flags    index.Flags
	keywords uint32
}

// listed compares a listing that was asked for at stamp begun.
func (m *mixModel) listed(list []seen, begun uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	there := make(map[uint32]bool, len(list))
	last := uint32(0)
	for _, s := range list {
		if s.uid <= last {
			return fmt.Errorf("UID %d is listed behind %d", s.uid, last)
		}
		last = s.uid
		there[s.uid] = true
		if at, gone := m.gone[s.uid]; gone {
			if at < begun {
				return fmt.Errorf("UID %d is listed, and was expunged", s.uid)
			}
			continue
		}
		msg := m.get(s.uid) // if it is new: its append has not ended
		quiet := msg.flagged && msg.pending == 0 && msg.changed < begun && msg.letter != nil && msg.since < begun
		if quiet && (msg.flags != s.flags || msg.keywords != s.keywords) {
			return fmt.Errorf("UID %d is listed with flags %q and keywords %#x, want %q and %#x", s.uid, s.flags, s.keywords, msg.flags, msg.keywords)
		}
	}
	for uid, msg := range m.live {
		if msg.letter != nil && msg.since < begun && !msg.dying && !there[uid] {
			return fmt.Errorf("UID %d is lost", uid)
		}
	}
	return nil
}

// letterOf is the message of a UID and whether it may be gone; nil: its append
// has not ended.
func (m *mixModel) letterOf(uid uint32) (l *letter, mayBeGone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	msg := m.live[uid]
	if msg == nil {
		return nil, true
	}
	return msg.letter, msg.dying
}

// ledger is what the mailbox must hold now that all clients are done.
func (m *mixModel) ledger() (ledger, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := ledger{}
	for uid, msg := range m.live {
		if _, gone := m.gone[uid]; gone {
			if msg.letter == nil {
				return nil, fmt.Errorf("UID %d was seen, and nobody appended it", uid)
			}
			continue
		}
		if msg.letter == nil {
			return nil, fmt.Errorf("UID %d was seen, and nobody appended it", uid)
		}
		l[uid] = entry{sum: msg.letter.sum, flags: msg.flags, keywords: msg.keywords}
	}
	return l, nil
}
