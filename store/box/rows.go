package box

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mailbench/index"
)

// rows is what the index says of each message, held in memory, so that a UID
// becomes a key and a key an entry without a question to the index. Its lock is
// never held across input or output.
type rows struct {
	mu   sync.RWMutex
	st   index.Status
	uid  []uint32 // ascending
	row  []row
	dead int // rows whose message is gone: row.key is ""
}

type row struct {
	key      string
	keywords uint32
	flags    index.Flags
	dir      uint8
}

// rowOf keeps m: its strings are valid only for a while.
func rowOf(m index.Message) row {
	dir := index.DirNone
	switch m.Folder {
	case "cur":
		dir = index.DirCur
	case "new":
		dir = index.DirNew
	}
	return row{strings.Clone(m.Key), m.Keywords, m.Flags, dir}
}

func (r *rows) status() index.Status {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.st
}

func (r *rows) get(uid uint32) (row, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i, ok := slices.BinarySearch(r.uid, uid)
	if !ok || r.row[i].key == "" {
		return row{}, false
	}
	return r.row[i], true
}

// put takes in what the index says of a message. An index under one UIDVALIDITY
// that gives a UID another key, or a message a UID that was used up, is wrong.
func (r *rows) put(m index.Message, oldNext uint32) error {
	if n := len(r.uid); n == 0 || m.UID > r.uid[n-1] {
		if m.UID < oldNext {
			return fmt.Errorf("box: the index gives message %s uid %d, below uidnext %d", m.Key, m.UID, oldNext)
		}
		r.uid, r.row = append(r.uid, m.UID), append(r.row, rowOf(m))
		return nil
	}
	i, ok := slices.BinarySearch(r.uid, m.UID)
	if !ok || r.row[i].key != m.Key {
		return fmt.Errorf("box: the index gives uid %d to message %s, it was used before", m.UID, m.Key)
	}
	r.row[i] = rowOf(m)
	return nil
}

// drop forgets a message. Its place is given back when half of the rows are
// dead: O(1) a message over time.
func (r *rows) drop(uid uint32) {
	i, ok := slices.BinarySearch(r.uid, uid)
	if !ok || r.row[i].key == "" {
		return
	}
	r.row[i] = row{}
	if r.dead++; r.dead < 64 || r.dead < len(r.row)/2 {
		return
	}
	to := 0
	for i := range r.row {
		if r.row[i].key != "" {
			r.uid[to], r.row[to] = r.uid[i], r.row[i]
			to++
		}
	}
	clear(r.row[to:])
	r.uid, r.row, r.dead = r.uid[:to], r.row[:to], 0
}

func (r *rows) len() int { return len(r.row) - r.dead }

// same finds a UID that names one message here and another in old: both are
// what the index said under one UIDVALIDITY. O(n).
func (r *rows) same(old *rows) error {
	i := 0
	for j, uid := range old.uid {
		for i < len(r.uid) && r.uid[i] < uid {
			i++
		}
		if i < len(r.uid) && r.uid[i] == uid && old.row[j].key != "" && r.row[i].key != old.row[j].key {
			return fmt.Errorf("box: the index gave uid %d to message %s and now to %s", uid, old.row[j].key, r.row[i].key)
		}
	}
	return nil
}
