package mbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mailbench/internal/fsys"
)

// packing is how a file is compressed.
type packing uint8

const (
	plain packing = iota
	gzipped
	zstandard
)

const (
	defaultMemory  = 256 << 20
	defaultMaxSize = 1 << 40
	maxWindow      = 128 << 20 // zstd --long=27, the widest that zstd itself takes without being asked
)

// A DamageError says where a compressed stream stopped making sense, or asks
// for more memory than it gets. What is before it was read.
type DamageError struct {
	Path string
	Off  int64 // bytes of the file that were read
	Out  int64 // decompressed bytes before the damage
	Err  error // io.ErrUnexpectedEOF when the stream is cut off
}

func (e *DamageError) Error() string {
	what := "damaged"
	switch {
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		what = "truncated"
	case errors.Is(e.Err, errWindow):
		what = "not read on"
	}
	return fmt.Sprintf("mbox: %s: compressed stream %s at offset %d, after %d bytes of mail: %v", e.Path, what, e.Off, e.Out, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Damage that leaves the last message as whole as those before it.
var (
	errTrailing = errors.New("garbage after the end of the stream")
	errSum      = fmt.Errorf("the stream is complete, but: %w", gzip.ErrChecksum) // or a wrong length
)

// errWindow is a frame that zstd itself would not decompress unasked.
var errWindow = errors.New("a zstd window of more than 128 MiB: decompress the file first")

// sniff looks at the magic number: names lie. empty: there is no first byte,
// whatever the size says.
func sniff(in fsys.File) (p packing, empty bool, err error) {
	var head [6]byte
	n, err := in.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return plain, false, err
	}
	b := head[:n]
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}): // RFC 1952 section 2.3.1
		return gzipped, false, nil
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878 section 3.1.1
		return zstandard, false, nil
	case n >= 4 && b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18}): // skippable frame, section 3.1.2
		return zstandard, false, nil
	case bytes.HasPrefix(b, []byte("BZh")), bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")):
		return plain, false, fmt.Errorf("open %s: compressed with bzip2 or xz: only gzip and zstd are read", in.Name())
	}
	return plain, n == 0, nil
}

// unpack decompresses in. Damage is noted in f; errors are those of the disk
// and a stream beyond MaxSize.
func (f *File) unpack(fs fsys.FS, in fsys.File, p packing) error {
	out := sink{fs: fs, dir: f.o.TempDir, memory: f.o.MemoryLimit, max: f.o.MaxSize}
	if out.dir == "" {
		out.dir = os.TempDir()
	}
	if out.memory <= 0 {
		out.memory = defaultMemory
	}
	if out.max <= 0 {
		out.max = defaultMaxSize
	}
	src := &counter{r: io.NewSectionReader(in, 0, 1<<62)}
	var err error
	if p == gzipped {
		err = gunzip(&out, src)
	} else {
		err = unzstd(&out, src, in)
	}
	if err == nil {
		err = src.err
	}
	if out.err != nil || src.err != nil { // the disk's fault, not the stream's
		out.close()
		return fmt.Errorf("mbox: %s: %w", f.path, errors.Join(out.err, src.err))
	}
	if err != nil {
		f.damage = &DamageError{f.path, src.n, out.n, err}
		f.cut = err != errTrailing && err != errSum
	}
	f.data, f.release, err = out.finish()
	if err != nil {
		return fmt.Errorf("mbox: %s: %w", f.path, err)
	}
	return nil
}

// gunzip writes all members (RFC 1952 section 2.2: they are one stream). Zero
// bytes behind the last one are padding, as gzip(1) has it.
func gunzip(out *sink, src io.Reader) error {
	br := bufio.NewReaderSize(src, 256<<10)
	z, err := gzip.NewReader(br)
	if err != nil {
		return noEOF(err)
	}
	buf := make([]byte, 256<<10)
	for {
		z.Multistream(false)
		_, sum := io.CopyBuffer(out, onlyReader{z}, buf)
		if sum != nil && sum != gzip.ErrChecksum {
			return sum
		}
		c, err := br.ReadByte()
		for err == nil && c == 0 {
			c, err = br.ReadByte()
		}
		switch {
		case sum != nil && err == io.EOF:
			return errSum
		case sum != nil:
			return sum // who knows where the next member would have begun
		case err != nil:
			return okEOF(err)
		}
		br.UnreadByte()
		if magic, err := br.Peek(2); err == nil && (magic[0] != 0x1f || magic[1] != 0x8b) {
			return errTrailing
		}
		if err := z.Reset(br); err != nil {
			return noEOF(err)
		}
	}
}

// onlyReader hides WriteTo, which would go on to the next member.
type onlyReader struct{ io.Reader }

// unzstd writes all frames (RFC 8878 section 3) of in, which src reads.
func unzstd(out *sink, src io.Reader, in io.ReaderAt) error {
	z, err := zstd.NewReader(src, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(2*maxWindow),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(2))
	if err != nil {
		return noEOF(err)
	}
	defer z.Close()
	_, err = z.WriteTo(out)
	switch err {
	case zstd.ErrMagicMismatch: // where a frame would begin
		return errTrailing
	case zstd.ErrDecoderSizeExceeded:
		return errWindow
	case zstd.ErrWindowSizeExceeded: // a damaged block may exceed a small one
		head := make([]byte, zstd.HeaderMaxSize)
		n, _ := in.ReadAt(head, 0) // has been read
		var h zstd.Header
		if h.Decode(head[:n]) == nil && h.WindowSize > maxWindow {
			return errWindow
		}
	}
	return err
}

// noEOF: an end where more must come is an unexpected one.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func okEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// counter counts what was read and keeps the disk's errors apart from the
// stream's.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
