package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A UIDNamer says which file of a maildir an Instance has given which UID, by
// base name (without flags), if it can tell.
type UIDNamer interface {
	UIDNames() (map[uint32]string, error)
}

// UIDNames reads dovecot-uidlist; it is nil for a dbox.
func (x *dovecotInstance) UIDNames() (map[uint32]string, error) {
	if !x.maildir() {
		return nil, nil
	}
	name := filepath.Join(x.dir("control"), dovecotInbox, dovecotUIDList)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := readUIDNames(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return names, nil
}

// readUIDNames reads a dovecot-uidlist: after its head, a line for each message
// with its UID, extensions, and behind " :" the name of its file.
func readUIDNames(r io.Reader) (map[uint32]string, error) {
	names := make(map[uint32]string)
	in := bufio.NewScanner(r)
	for line := 1; in.Scan(); line++ {
		if line == 1 {
			continue // version and validity
		}
		head, file, ok := strings.Cut(in.Text(), " :")
		word, _, _ := strings.Cut(head, " ")
		uid, err := strconv.ParseUint(word, 10, 32)
		if !ok || err != nil || uid == 0 {
			return nil, fmt.Errorf("line %d: %.100q", line, in.Text())
		}
		names[uint32(uid)], _, _ = strings.Cut(file, ":2,")
	}
	return names, in.Err()
}
