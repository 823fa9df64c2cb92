package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// WriteMbox writes spec's messages as one mboxrd file, which must not exist:
// "From sender date" with the INTERNALDATE in UTC, the message with a > before
// every line of >* and "From ", an empty line. The file is synced; it is
// removed again when writing fails or ctx ends.
func WriteMbox(ctx context.Context, path string, spec Spec, p Progress) (Info, error) {
	if err := spec.Check(); err != nil {
		return Info{}, err
	}
	return writeMbox(ctx, path, Generate(spec), plain, func() {}, p)
}

// WritePackedMbox is WriteMbox through a compressor that pack puts in front of
// the file.
func WritePackedMbox(ctx context.Context, path string, spec Spec, pack func(io.Writer) (io.WriteCloser, error), p Progress) (Info, error) {
	if err := spec.Check(); err != nil {
		return Info{}, err
	}
	return writeMbox(ctx, path, Generate(spec), pack, func() {}, p)
}

// plain packs nothing.
func plain(w io.Writer) (io.WriteCloser, error) { return unclosed{w}, nil }

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func writeMbox(ctx context.Context, path string, g *Generator, pack func(io.Writer) (io.WriteCloser, error), seen func(), p Progress) (info Info, err error) {
	p = orQuiet(p)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return Info{}, fmt.Errorf("corpus: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	w, err := pack(f)
	if err != nil {
		return Info{}, fmt.Errorf("corpus: %w", err)
	}
	p.Start("writing "+g.spec.String(), g.count)
	defer p.Done()
	const flush = 1 << 20
	buf := make([]byte, 0, flush+256<<10)
	last := 0
	for g.step() {
		seen()
		buf = append(append(append(buf, "From "...), g.sender()...), ' ')
		buf = append(appendCtime(buf, g.plan.internal), '\n')
		buf = append(appendQuoted(buf, g.data), '\n')
		if len(buf) >= flush {
			if ctx.Err() != nil {
				return Info{}, context.Cause(ctx)
			}
			if _, err := w.Write(buf); err != nil {
				return Info{}, explain(err, path, last, g.spec)
			}
			p.Add(g.n - last)
			buf, last = buf[:0], g.n
		}
	}
	if _, err := w.Write(buf); err != nil {
		return Info{}, explain(err, path, last, g.spec)
	}
	p.Add(g.n - last)
	if err := w.Close(); err != nil {
		return Info{}, explain(err, path, g.n, g.spec)
	}
	if err := f.Sync(); err != nil {
		return Info{}, explain(err, path, g.n, g.spec)
	}
	return g.Info(), nil
}

var fromWord = []byte("From ")

// appendQuoted copies a message, putting > before lines of >* and "From ".
func appendQuoted(dst, msg []byte) []byte {
	for at := 0; ; {
		i := bytes.Index(msg[at:], fromWord)
		if i < 0 {
			return append(dst, msg...)
		}
		line := at + i
		for line > 0 && msg[line-1] == '>' {
			line--
		}
		if line == 0 || msg[line-1] == '\n' {
			dst = append(append(dst, msg[:line]...), '>')
			msg, at = msg[line:], at+i-line+len(fromWord)
		} else {
			at += i + len(fromWord)
		}
	}
}
