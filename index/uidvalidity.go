package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"mailbench/internal/fsys"
)

// ValidityFile holds the last UIDVALIDITY that was given out in a directory.
// It stays when the index files are removed: RFC 3501 section 2.3.1.1 wants a
// mailbox that is deleted and made again to get a greater one, even within the
// same second. One line: the number and the xxhash64 of its digits in hex.
const ValidityFile = "mailbench.uidvalidity"

// NextUIDValidity returns the UIDVALIDITY of a new index in dir: want, or the
// clock's seconds if want is 0, raised above any earlier one, and notes it.
func NextUIDValidity(fsy FS, dir string, want uint32, now time.Time) (uint32, error) {
	last, err := lastUIDValidity(fsy, dir)
	if err != nil {
		return 0, err
	}
	v := want
	if v == 0 {
		v = uint32(max(1, now.Unix()))
	}
	if v <= last {
		v = last + 1
	}
	if v == 0 {
		return 0, errors.New("index: no UIDVALIDITY is left in this directory")
	}
	return v, noteUIDValidity(fsy, dir, v)
}

func validityLine(v uint32) string {
	d := strconv.FormatUint(uint64(v), 10)
	return fmt.Sprintf("%s %016x\n", d, xxhash.Sum64String(d))
}

func lastUIDValidity(fsy FS, dir string) (uint32, error) {
	v, err := readValidity(fsy, dir)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		return 0, nil // the clock has to do
	}
	return v, err
}

func readValidity(fsy FS, dir string) (uint32, error) {
	name := filepath.Join(dir, ValidityFile)
	b, err := readFile(fsy, name)
	if err != nil {
		return 0, err
	}
	d, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseUint(d, 10, 32)
	if err != nil || validityLine(uint32(v)) != string(b) {
		return 0, &CorruptError{File: name, What: "line or checksum"}
	}
	return uint32(v), nil
}

// checkValidity tells of a damaged note; there may be none.
func checkValidity(fsy FS, dir string) error {
	_, err := readValidity(fsy, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RepairUIDValidity writes a damaged note anew: v is the mailbox's UIDVALIDITY.
func RepairUIDValidity(fsy FS, dir string, v uint32) error {
	err := checkValidity(fsy, dir)
	if errors.Is(err, ErrCorrupt) {
		return noteUIDValidity(fsy, dir, v)
	}
	return err
}

func noteUIDValidity(fsy FS, dir string, v uint32) error {
	return fsys.WriteFileAtomic(fsy, filepath.Join(dir, ValidityFile), func(w io.Writer) error {
		_, err := io.WriteString(w, validityLine(v))
		return err
	})
}
