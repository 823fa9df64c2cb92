package peer

import (
	"bufio"
	"fmt"
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
	names := make(map[uint32]string)
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		if line == 1 {
			continue // the head: version, validity
		}
		// UID, extensions that begin with a letter, and the name after " :".
		head, file, ok := strings.Cut(in.Text(), " :")
		word, _, _ := strings.Cut(head, " ")
		if uid, err := strconv.ParseUint(word, 10, 32); ok && err == nil {
			base, _, _ := strings.Cut(file, ":2,")
			names[uint32(uid)] = base
			continue
		}
		return nil, fmt.Errorf("%s: line %d: %q", name, line, in.Text())
	}
	return names, in.Err()
}
