package maildir

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"mailbench/internal/fsys"
)

// Keywords reads the dovecot-keywords file of a maildir, which gives the
// letters a to z of its file names their meaning: a line "0 $Forwarded" names
// the letter a. Lines that are not so are passed over, of two for one letter
// the last counts. What is no regular file has none, and none is needed.
func Keywords(path string) (map[byte]string, error) {
	names := map[byte]string{}
	name := filepath.Join(path, "dovecot-keywords")
	if info, err := fsys.OS.Stat(name); err == nil && (info.Dir || info.Odd) {
		return names, nil
	}
	f, err := fsys.OS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Real files have 26 short lines at most; more than this is not one.
	data := make([]byte, 64<<10)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(data[:n])); lines.Scan(); {
		number, name, ok := strings.Cut(strings.TrimRight(lines.Text(), "\r"), " ")
		i, err := strconv.Atoi(number)
		if ok && err == nil && 0 <= i && i < 26 && name != "" {
			names['a'+byte(i)] = name
		}
	}
	return names, nil
}

// KeywordNames lists the names of the keywords in bits, in the order of their
// letters. A letter without a name is left out: it means nothing.
func KeywordNames(bits uint32, names map[byte]string) []string {
	var list []string
	for i := range byte(26) {
		if name, ok := names['a'+i]; ok && bits>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}
