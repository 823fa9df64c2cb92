package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// WriteMaildir writes spec's messages as a maildir: dir with cur, new and tmp,
// made if missing. Each file's mtime is its message's INTERNALDATE; file names
// are in message order. Existing files are never overwritten: a name that
// exists is an error. Nothing is synced file by file; the file system is synced
// once at the end.
//
// One goroutine generates, a few write. When ctx ends, so does the writing,
// with ctx's error, and the maildir stays incomplete. A full disk gives an
// error that wraps ErrNoSpace.
func WriteMaildir(ctx context.Context, dir string, spec Spec, p Progress) (Info, error) {
	if err := spec.Check(); err != nil {
		return Info{}, err
	}
	return writeMaildir(ctx, dir, Generate(spec), func() {}, p)
}

// parcel is a batch of messages on its way to the disk, with everything in
// two buffers, so that nothing is allocated per message.
type parcel struct {
	data  []byte
	names []byte // each ended by NUL, as the kernel wants them
	items []item
}

type item struct {
	dataEnd, nameEnd int
	mtime            int64
	fresh            bool // goes to new/
}

const (
	parcelBytes = 256 << 10
	parcelItems = 256
)

// writeMaildir calls seen after each message is made, before the next one.
func writeMaildir(ctx context.Context, dir string, g *Generator, seen func(), p Progress) (Info, error) {
	p = orQuiet(p)
	out, err := openMaildir(dir)
	if err != nil {
		return Info{}, fmt.Errorf("corpus: %w", err)
	}
	defer out.close()
	p.Start("writing "+g.spec.String(), g.count)
	defer p.Done()

	writers := min(4, max(2, runtime.GOMAXPROCS(0)))
	full, empty := make(chan *parcel, writers), make(chan *parcel, 2*writers)
	for range 2 * writers {
		empty <- &parcel{data: make([]byte, 0, parcelBytes+64<<10), names: make([]byte, 0, parcelItems*96)}
	}
	var (
		wg     sync.WaitGroup
		done   atomic.Int64
		failed = make(chan error, writers)
	)
	for range writers {
		wg.Go(func() {
			for b := range full {
				n, err := out.write(b)
				done.Add(int64(n))
				if err != nil {
					failed <- err
					return // the generator hears of it before it needs this parcel
				}
				*b = parcel{b.data[:0], b.names[:0], b.items[:0]}
				empty <- b
			}
		})
	}

	err = func() error {
		defer wg.Wait()
		defer close(full)
		for more := true; more; {
			var b *parcel
			select {
			case b = <-empty:
			case err := <-failed:
				return explain(err, dir, int(done.Load()), g.spec)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			for len(b.data) < parcelBytes && len(b.items) < parcelItems {
				if more = g.step(); !more {
					break
				}
				seen()
				b.data = append(b.data, g.data...)
				b.names = append(append(b.names, g.name...), 0)
				b.items = append(b.items, item{len(b.data), len(b.names), g.plan.internal, g.n > g.firstNew})
			}
			p.Add(len(b.items))
			select {
			case full <- b:
			case err := <-failed:
				return explain(err, dir, int(done.Load()), g.spec)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}()
	if err == nil {
		select {
		case err = <-failed:
			err = explain(err, dir, int(done.Load()), g.spec)
		default:
			if err = out.sync(); err != nil {
				err = explain(err, dir, int(done.Load()), g.spec)
			}
		}
	}
	if err != nil {
		return Info{}, err
	}
	return g.Info(), nil
}

// makeMaildir makes the three directories of a maildir.
func makeMaildir(dir string) error {
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}
