package catalog

import (
	"io"
	"slices"

	"mailbench/internal/rfc5322"
	"mailbench/maildir"
)

// firstRead holds most headers, and most of what it holds of a body costs less
// than a second read.
const firstRead = 8 << 10

// ReadHeadAt appends to buf[:0] the head of the message of size bytes that
// begins at off: up to the end of its header at least, and not more than
// maildir.MaxHeader of it.
func ReadHeadAt(f io.ReaderAt, off, size int64, buf []byte) ([]byte, error) {
	buf = buf[:0]
	size = min(size, maildir.MaxHeader)
	for want := int64(firstRead); ; want *= 4 {
		had := len(buf)
		n := int(min(size, want)) - had
		buf = slices.Grow(buf, n)[:had+n]
		if err := ReadFullAt(f, buf[had:], off+int64(had)); err != nil {
			return buf[:0], err
		}
		if int64(len(buf)) == size || rfc5322.HeaderEnd(buf, had) >= 0 {
			return buf, nil
		}
	}
}

// ReadFullAt fills b from off. A file that ends before gives io.ErrUnexpectedEOF.
func ReadFullAt(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF || err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
