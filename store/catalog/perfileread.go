package catalog

import (
	"fmt"

	"mailbench/index"
)

// ReadHead reads the beginning of a message's file.
func (p *PerFile) ReadHead(r Row, buf []byte) ([]byte, error) {
	f, err := p.fs.Open(p.path(KeyID(r.Key)))
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	b, err := ReadHeadAt(f, r.Off, r.Size, buf)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name(), err)
	}
	return b, err
}

// ReadMessage reads a message's file; a format that can tell checks it.
func (p *PerFile) ReadMessage(r Row, buf []byte) ([]byte, error) {
	name := p.path(KeyID(r.Key))
	b, err := readFile(p.fs, name, buf)
	if err != nil {
		return buf[:0], err
	}
	return p.mail(name, &r, b)
}

// mail is the message in its file, moved to the beginning of file.
func (p *PerFile) mail(name string, r *Row, file []byte) ([]byte, error) {
	if p.layout.Finds() {
		got, err := p.layout.Decode(file)
		if err == nil && (got.Key != r.Key || got.Off != r.Off || got.Size != r.Size) {
			err = fmt.Errorf("message %s of %d bytes at %d, want %s of %d at %d", got.Key, got.Size, got.Off, r.Key, r.Size, r.Off)
		}
		if err != nil {
			return file[:0], &index.CorruptError{File: name, What: err.Error()}
		}
	} else if int64(len(file)) != r.Off+r.Size {
		return file[:0], &index.CorruptError{File: name, Off: int64(len(file)), What: fmt.Sprintf("file has %d bytes, the list says %d", len(file), r.Off+r.Size)}
	}
	if r.Off == 0 {
		return file, nil
	}
	return file[:copy(file, file[r.Off:r.Off+r.Size])], nil
}

// readFile reads a file into buf[:0].
func readFile(fsy index.FS, name string, buf []byte) ([]byte, error) {
	f, err := fsy.Open(name)
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return buf[:0], err
	}
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if err := ReadFullAt(f, buf, 0); err != nil {
		return buf[:0], fmt.Errorf("%s: %w", name, err)
	}
	return buf, nil
}
