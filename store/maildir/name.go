package maildir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mailbench/internal/fsys"
)

// maxMicro is above every name of ours; later ones, which only strangers make,
// are not risen above.
const maxMicro = 1e18

// maxClock is the latest time that a clock is believed, in the year 5138: a
// clock that runs wild leaves names above its own.
const maxClock = 1e17

// ErrFull reports that no name above the newest one can be made.
var ErrFull = errors.New("no name is left above the newest one")

// base gives out the next base name: of now, or of the microsecond after the
// last one, whichever is later (M2). m.naming is held.
func (m *mailbox) base(size, vsize int64) (string, error) {
	now := m.now()
	micro := now.UnixMicro()
	switch s := now.Unix(); { // where UnixMicro may have no room
	case s >= maxClock/1e6:
		micro = maxClock
	case s < 0:
		micro = 0
	}
	if micro = max(m.last+1, micro); micro >= maxMicro {
		return "", ErrFull
	}
	m.last = micro
	key := fmt.Sprintf("%d.M%dP%d.%s,S=%d,W=%d", m.last/1e6, m.last%1e6, os.Getpid(), m.host, size, vsize)
	if _, ok := m.cat.Get(key); ok { // not to overwrite mail, whatever has gone wrong
		return "", fmt.Errorf("%s is there already", key)
	}
	return key, nil
}

// microOf is a microsecond such that names of all later ones come after base in
// the order of maildir.Compare; 0 for what rises above all times.
func microOf(base string) int64 {
	digits := 0
	for digits < len(base) && base[digits]-'0' <= 9 {
		digits++
	}
	secs, err := strconv.ParseInt("0"+base[:digits], 10, 64)
	if err != nil || secs >= maxMicro/1e6 {
		return 0
	}
	if rest, ok := strings.CutPrefix(base[digits:], ".M"); ok {
		end := 0
		for end < len(rest) && rest[end]-'0' <= 9 {
			end++
		}
		if usec, err := strconv.ParseInt("0"+rest[:end], 10, 64); err == nil && usec < 1e6 {
			return secs*1e6 + usec
		}
	}
	return secs*1e6 + 999_999
}

// tempName is a name in tmp/ that nobody else uses.
func (m *mailbox) tempName() string {
	now := m.now().UnixMicro()
	return filepath.Join(m.tmp, fmt.Sprintf("%d.M%dP%dQ%d.%s", now/1e6, now%1e6, os.Getpid(), m.temp.Add(1), m.host))
}

// note puts the last name on disk before its message goes (M3). m.naming is
// held.
func (m *mailbox) note() error {
	if m.noted >= m.last {
		return nil
	}
	err := fsys.WriteFileAtomic(m.fs, filepath.Join(m.dir, newestFile), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%d\n", m.last)
		return err
	})
	if err == nil {
		m.noted = m.last
	}
	return err
}
