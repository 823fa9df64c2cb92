package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/index/tier"
	"mailbench/internal/fsys"
)

// A plainReader reads header fields from the mail by the plainest means: a
// maildir's as whole files, a line at a time, without any of the code that
// is measured. UIDs are those of an index made by one SELECT.
type plainReader struct {
	path  string
	order []string // base names by UID
	names map[string]mailName

	src     index.Source // of mail in one file
	entries []index.Entry
	buf     []byte
}

func readPlainly(r *Runner, f *fixture) (*plainReader, error) {
	p := &plainReader{path: f.path}
	var err error
	if f.kind == "maildir" {
		if p.order, err = namesInOrder(f); err == nil {
			p.names, err = f.names()
		}
		return p, err
	}
	if p.src, err = f.source(r.scratch); err != nil {
		return nil, err
	}
	var l index.Listing
	if err := p.src.List(&l); err != nil {
		return nil, joinClose(func() error { return err }, p.src.Close)
	}
	p.src.Order(l.Entries)
	p.entries = l.Entries
	return p, nil
}

func (p *plainReader) close() {
	if p.src != nil {
		p.src.Close()
	}
}

// values are the fields of a message, nil where it has none of that name.
func (p *plainReader) values(uid uint32, fields []string) ([][]byte, error) {
	var text []byte
	var err error
	if p.src != nil {
		if uid == 0 || int(uid) > len(p.entries) {
			return nil, fmt.Errorf("no such message among %d", len(p.entries))
		}
		p.buf, err = p.src.ReadHeader(&p.entries[uid-1], p.buf)
		text = p.buf
	} else {
		if uid == 0 || int(uid) > len(p.order) {
			return nil, fmt.Errorf("no such message among %d", len(p.order))
		}
		at := p.names[p.order[uid-1]]
		p.buf, err = readQuietly(filepath.Join(p.path, at.dir, at.file), p.buf)
		text = p.buf
	}
	if err != nil {
		return nil, err
	}
	text = headerLines(text)
	values := make([][]byte, len(fields))
	for i, name := range fields {
		values[i] = plainField(text, name)
	}
	return values, nil
}

// readQuietly reads a whole file into buf's memory, and leaves the access time
// of a user's mail alone.
func readQuietly(path string, buf []byte) ([]byte, error) {
	f, err := fsys.OS.Open(path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		return buf, err
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	_, err = f.ReadAt(buf, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf, err
}

// plainField is the value of the first field of that name, the obvious way:
// lines, then those that go on, then line ends and outer white space away.
// nil: there is none.
func plainField(header []byte, name string) []byte {
	lines := strings.SplitAfter(string(header), "\n")
	for i, line := range lines {
		if strings.TrimRight(line, "\r\n") == "" {
			return nil
		}
		head, value, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimRight(head, " \t"), name) {
			continue
		}
		for _, more := range lines[i+1:] {
			if more == "" || more[0] != ' ' && more[0] != '\t' {
				break
			}
			value += more
		}
		value = strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", ""), "\n", "")
		return append([]byte{}, strings.Trim(value, " \t\r")...) // nil would say: no such field
	}
	return nil
}

// headerLines is msg up to its first empty line.
func headerLines(msg []byte) []byte {
	for at := 0; at < len(msg); {
		line, _, _ := bytes.Cut(msg[at:], []byte("\n"))
		if len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			return msg[:at]
		}
		at += len(line) + 1
	}
	return msg
}

// flagLetters are the flags of each message in its file name, sorted, by UID.
func (f *fixture) flagLetters() (map[uint32]string, error) {
	order, err := namesInOrder(f)
	if err != nil {
		return nil, err
	}
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	out := make(map[uint32]string, len(order))
	for i, base := range order {
		out[uint32(i+1)] = nameFlags(names[base].file)
	}
	return out, nil
}

// nameFlags are the system flags in a maildir file name, sorted, each once.
func nameFlags(file string) string {
	_, info, ok := strings.Cut(file, ":2,")
	if !ok {
		return ""
	}
	info, _, _ = strings.Cut(info, ",")
	var out []byte
	for _, c := range []byte(info) {
		if strings.IndexByte("DFPRST", c) >= 0 && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return string(out)
}

// callsName tells one reply from another in the cache of digests.
func callsName(calls []tier.Call, flags map[uint32]string) string {
	h := xxhash.New()
	for _, c := range calls {
		fmt.Fprintf(h, "%q %d:", c.Fields, len(c.UIDs))
		for _, uid := range c.UIDs {
			fmt.Fprintf(h, " %d%s", uid, flags[uid])
		}
	}
	return fmt.Sprintf("fetch %d calls: %016x", len(calls), h.Sum64())
}
