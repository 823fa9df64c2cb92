package source

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"mailbench/index"
)

// toldUnread bounds the errors that are kept.
const toldUnread = 10

// unread remembers messages that are there and cannot be read. Designs take
// them for empty ones, and somebody should be told.
type unread struct {
	mu   sync.Mutex
	keys map[string]error // by message; nil beyond toldUnread
}

// note takes up the result of a read. Without an error it costs nothing.
func (u *unread) note(e *index.Entry, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.keys[e.Key]; ok {
		return
	}
	if u.keys == nil {
		u.keys = make(map[string]error)
	}
	if len(u.keys) >= toldUnread {
		err = nil
	}
	u.keys[strings.Clone(e.Key)] = err
}

func (u *unread) list() (first []error, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, err := range u.keys {
		if err != nil {
			first = append(first, err)
		}
	}
	slices.SortFunc(first, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return first, len(u.keys)
}
