package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/store/box"
)

// A ledger is what a mailbox has to hold, by UID.
type ledger map[uint32]entry

type entry struct {
	sum      uint64 // digest of the message
	flags    index.Flags
	keywords uint32
}

// verify compares b, which was opened again after it was written to, with the
// ledger: UIDs and flags of the index, then every message, byte for byte by
// its digest, then what store and index say of themselves.
func (l ledger) verify(b *box.Box) error {
	var problem error
	want := slices.Sorted(maps.Keys(l))
	if err := b.Query(func(m index.Mailbox) error {
		i := 0
		problem = nil
		err := m.Messages(func(msg index.Message) bool {
			if i == len(want) {
				problem = fmt.Errorf("UID %d is there, and nobody wrote it", msg.UID)
				return false
			}
			e := l[msg.UID]
			switch {
			case msg.UID > want[i]:
				problem = fmt.Errorf("UID %d is lost", want[i])
			case msg.UID < want[i]:
				problem = fmt.Errorf("UID %d is there, and nobody wrote it", msg.UID)
			case msg.Flags != e.flags || msg.Keywords != e.keywords:
				problem = fmt.Errorf("UID %d has flags %q and keywords %#x, want %q and %#x", msg.UID, msg.Flags, msg.Keywords, e.flags, e.keywords)
			}
			i++
			return problem == nil
		})
		if problem == nil && err == nil && i < len(want) {
			problem = fmt.Errorf("UID %d is lost", want[i])
		}
		if n := m.Status().Messages; problem == nil && n != len(want) {
			problem = fmt.Errorf("%d messages by its status, want %d", n, len(want))
		}
		return err
	}); err != nil {
		return err
	}
	if problem != nil {
		return fmt.Errorf("read back: %w", problem)
	}
	var buf []byte
	for _, uid := range want {
		var err error
		if buf, err = b.Read(uid, buf); err != nil {
			return fmt.Errorf("read back: %w", err)
		}
		if xxhash.Sum64(buf) != l[uid].sum {
			return fmt.Errorf("read back: UID %d is another message: %d bytes", uid, len(buf))
		}
	}
	for err := range b.Check() {
		return fmt.Errorf("read back: %w", err)
	}
	return nil
}

// A uidBook takes the UIDs that appends return: none twice, and for one client
// each greater than the one before.
type uidBook struct {
	uids []uint32 // by message; 0 = not appended
	last []uint32 // by client
}

func (u *uidBook) note(client, message int, uid uint32) error {
	if uid <= u.last[client] {
		return fmt.Errorf("client %d was given UID %d after %d", client, uid, u.last[client])
	}
	u.last[client], u.uids[message] = uid, uid
	return nil
}

// enter puts the appended messages into l.
func (u *uidBook) enter(l ledger, list []letter) error {
	for i, uid := range u.uids {
		if _, twice := l[uid]; twice || uid == 0 {
			return fmt.Errorf("append: UID %d was given twice, or to nothing", uid)
		}
		l[uid] = entry{sum: list[i].sum, flags: list[i].Flags, keywords: list[i].Keywords}
	}
	return nil
}
