package floor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// ReadSeq reads the file at path from its start to its end with buf.
func ReadSeq(path string, buf []byte) (Work, error) {
	f, err := os.Open(path)
	if err != nil {
		return Work{}, fmt.Errorf("floor: %w", err)
	}
	defer f.Close()
	w := Work{Calls: 2}
	for {
		n, err := f.Read(buf)
		w.Bytes += int64(n)
		w.Calls++
		if err == io.EOF {
			return w, nil
		}
		if err != nil {
			return w, fmt.Errorf("floor: %w", err)
		}
	}
}

// WriteSeq writes size bytes of buf, again and again, to a new file in dir,
// with one fsync at the end, and leaves the file there under the name it
// returns.
func WriteSeq(dir string, size int64, buf []byte) (string, Work, error) {
	f, err := os.CreateTemp(dir, "floor-")
	if err != nil {
		return "", Work{}, fmt.Errorf("floor: %w", err)
	}
	defer f.Close()
	w := Work{Calls: 3}
	for w.Bytes < size {
		n, err := f.Write(buf[:min(int64(len(buf)), size-w.Bytes)])
		if err != nil {
			return f.Name(), w, fmt.Errorf("floor: %w", err)
		}
		w.Bytes += int64(n)
		w.Calls++
	}
	if err := f.Sync(); err != nil {
		return f.Name(), w, fmt.Errorf("floor: %w", err)
	}
	return f.Name(), w, nil
}

// Sync4K appends 4 KiB to a file in dir and syncs its data, n times, and
// returns how long each took, in order. The file is removed.
func Sync4K(dir string, n int) ([]time.Duration, Work, error) {
	f, err := os.CreateTemp(dir, "floor-")
	if err != nil {
		return nil, Work{}, fmt.Errorf("floor: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	took := make([]time.Duration, 0, n)
	for range n {
		begin := time.Now()
		if _, err := f.Write(block); err != nil {
			return took, Work{}, fmt.Errorf("floor: %w", err)
		}
		if err := datasync(f); err != nil {
			return took, Work{}, fmt.Errorf("floor: %w", err)
		}
		took = append(took, time.Since(begin))
	}
	return took, Work{Bytes: int64(n) * 4096, Calls: int64(2 * n)}, nil
}

// Create makes n files of size bytes in a new directory below dir, without a
// sync, and returns that directory for the caller to remove.
func Create(dir string, n, size int) (string, Work, error) {
	d, err := os.MkdirTemp(dir, "floor-")
	if err != nil {
		return "", Work{}, fmt.Errorf("floor: %w", err)
	}
	data := make([]byte, size)
	for i := range n {
		f, err := os.OpenFile(filepath.Join(d, strconv.Itoa(i)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return d, Work{}, fmt.Errorf("floor: %w", err)
		}
		_, err = f.Write(data)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return d, Work{}, fmt.Errorf("floor: %w", err)
		}
	}
	return d, Work{Bytes: int64(n) * int64(size), Calls: int64(3 * n)}, nil
}
