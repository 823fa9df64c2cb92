package scan

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"mailbench/index"
)

// readList reads at most limit bytes of the list; nothing when there is none.
func readList(fsy index.FS, path string, limit int64) ([]byte, error) {
	f, err := fsy.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(size, limit))
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// appendName appends a name as the list has it (S1).
func appendName(dst []byte, name string) []byte {
	if !strings.ContainsAny(name, "\n\r:") && !strings.HasPrefix(name, `"`) {
		return append(dst, name...)
	}
	// Names end at a colon where flags begin.
	return append(dst, strings.ReplaceAll(strconv.Quote(name), ":", `\x3a`)...)
}

// parseList reads the list; a quoted name that is none is a line that cannot be read.
func parseList(b []byte) (*index.UIDListData, error) {
	u, err := index.ParseUIDList(b)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, e := range u.Entries {
		if strings.HasPrefix(e.Key, `"`) {
			name, err := strconv.Unquote(e.Key)
			if err != nil || string(appendName(nil, name)) != e.Key {
				continue // else two lines could be one name
			}
			e.Key = name
		}
		u.Entries[n] = e
		n++
	}
	u.Entries = u.Entries[:n]
	return u, nil
}
