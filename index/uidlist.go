package index

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
)

// UIDListEntry is one line of a dovecot-uidlist.
type UIDListEntry struct {
	UID uint32
	Key string // base name, flags removed
}

// UIDListData is a dovecot-uidlist.
type UIDListData struct {
	UIDValidity uint32
	UIDNext     uint32         // at least the highest UID plus one
	Entries     []UIDListEntry // ascending UIDs, each UID and each key once
}

// ErrUIDList reports a file that is no dovecot-uidlist: its UIDs are lost.
var ErrUIDList = errors.New("index: not a dovecot-uidlist")

// ParseUIDList reads versions 1 and 3 of Dovecot's uidlist:
//
//	1 UIDVALIDITY UIDNEXT            3 V<uidvalidity> N<uidnext> G<guid>
//	UID NAME                         UID [X<extension>]... :NAME
//
// A first line whose numbers are not 1 to 4294967295 is damage, ErrUIDList.
// Lines that cannot be read are left out, CR before LF is dropped, flags after
// a name do not belong to it. Of a name listed twice the higher UID counts (it
// was moved away and came back), of a UID listed twice the first line.
// O(n log n).
func ParseUIDList(b []byte) (*UIDListData, error) {
	line, rest, _ := bytes.Cut(b, []byte{'\n'})
	f := bytes.Fields(line)
	if len(f) < 3 || len(f[0]) != 1 {
		return nil, ErrUIDList
	}
	u := &UIDListData{}
	version := f[0][0]
	switch version {
	case '1':
		u.UIDValidity, _ = parseUID(f[1])
		u.UIDNext, _ = parseUID(f[2])
	case '3':
		for _, w := range f[1:] {
			switch w[0] {
			case 'V':
				u.UIDValidity, _ = parseUID(w[1:])
			case 'N':
				u.UIDNext, _ = parseUID(w[1:])
			}
		}
	}
	if u.UIDValidity == 0 || u.UIDNext == 0 {
		return nil, ErrUIDList
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		num, name, ok := bytes.Cut(line, []byte{' '})
		uid, okUID := parseUID(num)
		if !ok || !okUID {
			continue
		}
		if version == '3' {
			// Extensions are words that end where the name starts, at " :".
			if i := bytes.Index(name, []byte(" :")); len(name) > 0 && name[0] != ':' && i >= 0 {
				name = name[i+1:]
			}
			if len(name) == 0 || name[0] != ':' {
				continue
			}
			name = name[1:]
		}
		if i := bytes.IndexByte(name, ':'); i >= 0 {
			name = name[:i]
		}
		if len(name) == 0 || uid == math.MaxUint32 {
			continue
		}
		u.Entries = append(u.Entries, UIDListEntry{uid, string(name)})
	}
	slices.SortStableFunc(u.Entries, func(a, b UIDListEntry) int { return int(int64(a.UID) - int64(b.UID)) })
	u.Entries = slices.CompactFunc(u.Entries, func(a, b UIDListEntry) bool { return a.UID == b.UID })
	if n := len(u.Entries); n > 0 {
		u.UIDNext = max(u.UIDNext, u.Entries[n-1].UID+1)
	}
	seen := make(map[string]bool, len(u.Entries))
	at := len(u.Entries)
	for i := len(u.Entries) - 1; i >= 0; i-- {
		if e := u.Entries[i]; !seen[e.Key] {
			seen[e.Key] = true
			at--
			u.Entries[at] = e
		}
	}
	u.Entries = u.Entries[at:]
	return u, nil
}

// parseUID reads a nonzero 32-bit number; 0 when it is none.
func parseUID(b []byte) (uint32, bool) {
	v, err := strconv.ParseUint(string(b), 10, 32)
	if err != nil {
		return 0, false // v is the largest there is, if the number is too large
	}
	return uint32(v), v > 0
}

// readFile reads all of a file.
func readFile(fs FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}
