package clone

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// An entry is a name in a directory that may be a message.
type entry struct {
	inode uint64
	name  string
	link  bool // a symbolic one
}

// list returns the names of a directory that may be messages: not those that
// begin with a dot, not directories. They are in the order of their inodes, which
// is that of their contents on the disk; the clone's is then the same.
func list(dir int) ([]entry, error) {
	var out []entry
	buf := make([]byte, 256<<10)
	for {
		var n int
		err := again(func() (err error) { n, err = unix.Getdents(dir, buf); return err })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.inode, b.inode) })
			return out, nil
		}
		out = appendEntries(out, buf[:n])
	}
}

// appendEntries takes names out of what getdents64 returned: d_ino u64, d_off
// u64, d_reclen u16, d_type u8, name, NUL, padding (getdents(2)).
func appendEntries(out []entry, b []byte) []entry {
	const header = 19
	for len(b) > header {
		size := int(binary.NativeEndian.Uint16(b[16:]))
		if size <= header || size > len(b) {
			return out // no kernel writes this
		}
		inode, kind, name := binary.NativeEndian.Uint64(b), b[18], b[header:size]
		b = b[size:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		switch {
		case len(name) == 0 || name[0] == '.':
		case kind == unix.DT_REG || kind == unix.DT_UNKNOWN || kind == unix.DT_LNK:
			out = append(out, entry{inode, string(name), kind != unix.DT_REG})
		}
	}
	return out
}
