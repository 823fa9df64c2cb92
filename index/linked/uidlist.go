package linked

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// The uidlist holds the names: "3 V<uidvalidity> N<uidnext> G<index id>", then
// "UID :NAME" for each message, UIDs ascending. Lines of expunged messages
// stay until the file is written anew. A line feed in a name is written as NUL.

func listHeader(v *view) string {
	return fmt.Sprintf("3 V%d N%d G%032x\n", v.hdr.uidValidity, v.hdr.uidNext, v.hdr.indexID)
}

func appendListLine(b []byte, uid uint32, key []byte) []byte {
	b = strconv.AppendUint(b, uint64(uid), 10)
	b = append(b, " :"...)
	at := len(b)
	b = append(b, key...)
	for i := at; i < len(b); i++ {
		if b[i] == '\n' {
			b[i] = 0
		}
	}
	return append(b, '\n')
}

// loadTable makes the table of the view, names from the uidlist. A message without
// a name is corruption.
func (m *mailbox) loadTable() (*index.Table, error) {
	if m.table != nil {
		return m.table, nil
	}
	if err := m.loadRows(); err != nil {
		return nil, err
	}
	v := &m.disk.view
	raw, err := readWhole(m.fs, m.path(listFile), 1<<32)
	if err != nil {
		return nil, err
	}
	s := string(raw)
	line, rest, _ := strings.Cut(s, "\n")
	f := strings.Fields(line)
	if len(f) != 4 || f[0] != "3" || f[1] != fmt.Sprintf("V%d", v.hdr.uidValidity) || f[3] != fmt.Sprintf("G%032x", v.hdr.indexID) {
		return nil, corrupt(listFile, "first line")
	}
	if v.hdr.uidNext == 0 || v.hdr.uidValidity == 0 {
		return nil, corrupt(indexFile, "header")
	}
	t := index.NewTable(v.hdr.uidValidity, v.hdr.uidNext, v.hdr.modseq, len(v.uid))
	kw := v.recs(extKeywords)
	m.deadLines = 0
	row := 0
	for len(rest) > 0 && row < len(v.uid) {
		var uid uint64
		at := 0
		for at < len(rest) && at < 11 && rest[at]-'0' < 10 {
			uid = uid*10 + uint64(rest[at]-'0')
			at++
		}
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			break // torn
		}
		if at == 0 || at+2 >= end || rest[at:at+2] != " :" {
			return nil, corrupt(listFile, "a line")
		}
		key := rest[at+2 : end]
		rest = rest[end+1:]
		if want := uint64(v.uid[row]); uid != want {
			if uid > want {
				return nil, corrupt(listFile, "no name of uid %d", want)
			}
			m.deadLines++
			continue
		}
		if strings.IndexByte(key, 0) >= 0 {
			key = strings.ReplaceAll(key, "\x00", "\n")
		}
		k := uint32(0)
		if kw != nil {
			k = kw[row]
		}
		if err := t.Append(v.uid[row], key, v.flagsOf(row), v.flags[row]>>6, k, v.modseqOf(row)); err != nil {
			return nil, corrupt(listFile, "%v", err)
		}
		row++
	}
	if row < len(v.uid) {
		return nil, corrupt(listFile, "no name of uid %d", v.uid[row])
	}
	m.table = t
	m.track.Load(t)
	return t, nil
}

// listOK is a cheap look at the uidlist: it is as long as when it was last written.
func (m *mailbox) listOK() (bool, error) {
	in, err := m.fs.Stat(m.path(listFile))
	if err != nil {
		return false, nil
	}
	k, ok := m.disk.known()
	return ok && in.Size == k.listSize, nil
}

// writeList writes the uidlist anew from t and returns its size. v has
// UIDVALIDITY, UIDNEXT and index id.
func (m *mailbox) writeList(v *view, t *index.Table) (size int64, err error) {
	err = fsys.WriteFileAtomic(m.fs, m.path(listFile), func(w io.Writer) error {
		b := append(make([]byte, 0, 300<<10), listHeader(v)...)
		for i, uid := range t.UIDs() {
			b = appendListLine(b, uid, t.Key(i))
			if len(b) > 256<<10 {
				if _, err := w.Write(b); err != nil {
					return err
				}
				size += int64(len(b))
				b = b[:0]
			}
		}
		_, err := w.Write(b)
		size += int64(len(b))
		return err
	})
	m.deadLines = 0
	return size, err
}

// extendList appends the rows of t from row on, behind size bytes that are
// known to be right; when the file is not that long it is written anew.
func (m *mailbox) extendList(v *view, t *index.Table, row int, size int64) (int64, error) {
	if !m.listGrows(size, t.Len()) {
		return m.writeList(v, t)
	}
	var b []byte
	for ; row < t.Len(); row++ {
		b = appendListLine(b, t.UIDs()[row], t.Key(row))
	}
	return m.growList(b, size)
}

// listGrows reports whether lines can be appended to the uidlist of n messages,
// which should be size bytes long.
func (m *mailbox) listGrows(size int64, n int) bool {
	in, err := m.fs.Stat(m.path(listFile))
	return err == nil && in.Size == size && 4*m.deadLines <= n+1024
}

// growList appends lines and returns the size after it.
func (m *mailbox) growList(b []byte, size int64) (int64, error) {
	if len(b) == 0 {
		return size, nil
	}
	f, err := m.fs.OpenFile(m.path(listFile), os.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteAt(b, size); err != nil {
		return 0, err
	}
	return size + int64(len(b)), f.Datasync()
}

// checkList tells of lines that the loader passes over.
func checkList(b []byte) (what string) {
	lines := bytes.Split(bytes.TrimSuffix(b, []byte{'\n'}), []byte{'\n'})
	prev := uint64(0)
	for _, l := range lines[1:] {
		num, _, ok := bytes.Cut(l, []byte(" :"))
		uid, err := strconv.ParseUint(string(num), 10, 32)
		if !ok || err != nil || uid <= prev {
			return "a line that cannot be read or is out of order"
		}
		prev = uid
	}
	return ""
}
