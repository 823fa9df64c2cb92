package maildir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"mailbench/internal/fsys"
	"mailbench/store/catalog"
)

// errSize reports a file that is not as long as its name says.
var errSize = errors.New("not the size that the name tells")

// open opens the file of a row. A message whose name is just being changed is
// waited for.
func (m *mailbox) open(r *catalog.Row) (fsys.File, error) {
	f, err := m.fs.Open(m.file(r))
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	m.place.RLock()
	defer m.place.RUnlock()
	now, ok := m.cat.Get(r.Key)
	if !ok {
		return nil, err
	}
	*r = now
	return m.fs.Open(m.file(r))
}

// ReadHead reads the header and perhaps something of the body.
func (m *mailbox) ReadHead(r catalog.Row, buf []byte) ([]byte, error) {
	f, err := m.open(&r)
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	size, err := m.size(f, &r)
	if err == nil {
		buf, err = catalog.ReadHeadAt(f, 0, size, buf)
	}
	return buf, m.odd(f, err)
}

// ReadMessage reads the file.
func (m *mailbox) ReadMessage(r catalog.Row, buf []byte) ([]byte, error) {
	f, err := m.open(&r)
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	size, err := m.size(f, &r)
	if err != nil {
		return buf[:0], err
	}
	// One byte more is asked for, to see that there is none.
	buf = slices.Grow(buf[:0], int(size)+1)
	n, err := f.ReadAt(buf[:size+1], 0)
	if int64(n) > size || errors.Is(err, io.EOF) && int64(n) < size {
		return buf[:0], m.odd(f, errSize)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return buf[:0], err
	}
	return buf[:n], nil
}

// maxSize bounds what a name may make a reader allocate.
const maxSize = 1 << 31

// size is what the name tells, or of a stranger's name what the file system does.
func (m *mailbox) size(f fsys.File, r *catalog.Row) (size int64, err error) {
	if size = r.Size; size < 0 {
		size, err = f.Size()
	}
	if err == nil && size > maxSize {
		err = m.odd(f, errSize)
	}
	return size, err
}

// odd says of which file an error is.
func (m *mailbox) odd(f fsys.File, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errSize
	}
	if err == nil || !errors.Is(err, errSize) {
		return err
	}
	return fmt.Errorf("store/maildir: %s: %w", f.Name(), err)
}

// Stat tells the size and the INTERNALDATE of a message found at opening.
func (m *mailbox) Stat(r catalog.Row) (size, date int64, err error) {
	st, err := m.fs.Stat(m.file(&r))
	if errors.Is(err, fs.ErrNotExist) {
		m.place.RLock()
		defer m.place.RUnlock()
		if now, ok := m.cat.Get(r.Key); ok {
			st, err = m.fs.Stat(m.file(&now))
		}
	}
	if err != nil {
		return 0, 0, err
	}
	return st.Size, st.ModTime.Unix(), nil
}
