package mdbox

import (
	"fmt"
	"slices"
	"sync"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store/catalog"
)

// maxOpen bounds the files that are kept open for reading.
const maxOpen = 64

// handles are files that are open for reading, by number.
type handles struct {
	s  *mdbox
	mu sync.Mutex
	m  map[int64]*handle
}

type handle struct {
	f    fsys.File
	n    int64
	refs int
	gone bool // no longer in handles: the last user closes it
}

// get opens file n, or finds it open. put is to follow.
func (h *handles) get(n int64) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.m[n]; x != nil {
		x.refs++
		return x, nil
	}
	f, err := h.s.fs.Open(h.s.path(n))
	if err != nil {
		return nil, err
	}
	if h.m == nil {
		h.m = map[int64]*handle{}
	}
	if len(h.m) >= maxOpen {
		for _, x := range h.m { // any that is not in use
			if x.refs == 0 {
				h.forget(x)
				break
			}
		}
	}
	x := &handle{f: f, n: n, refs: 1}
	h.m[n] = x
	return x, nil
}

func (h *handles) put(x *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.refs--; x.refs == 0 && x.gone {
		x.f.Close()
	}
}

func (h *handles) forget(x *handle) {
	delete(h.m, x.n)
	if x.gone = true; x.refs == 0 {
		x.f.Close()
	}
}

// drop forgets a file that is to be removed.
func (h *handles) drop(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.m[n]; x != nil {
		h.forget(x)
	}
}

func (h *handles) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.m {
		h.forget(x)
	}
}

// ReadHead reads the beginning of a message: one pread, if its file is open.
func (s *mdbox) ReadHead(r catalog.Row, buf []byte) ([]byte, error) {
	x, err := s.open.get(r.File)
	if err != nil {
		return buf[:0], err
	}
	defer s.open.put(x)
	b, err := catalog.ReadHeadAt(x.f, r.Off, r.Size, buf)
	if err != nil {
		err = fmt.Errorf("%s: %w", x.f.Name(), err)
	}
	return b, err
}

// ReadMessage reads a message and checks it.
func (s *mdbox) ReadMessage(r catalog.Row, buf []byte) ([]byte, error) {
	b, _, err := s.framed(&r, buf)
	if err != nil {
		return buf[:0], err
	}
	return b[:copy(b, b[catalog.DboxHead:catalog.DboxHead+r.Size])], nil
}

// framed reads a message with its framing, and something of what follows; n is
// its length.
func (s *mdbox) framed(r *catalog.Row, buf []byte) (b []byte, n int64, err error) {
	x, err := s.open.get(r.File)
	if err != nil {
		return buf[:0], 0, err
	}
	defer s.open.put(x)
	bad := func(what string) ([]byte, int64, error) {
		return buf[:0], 0, &index.CorruptError{File: x.f.Name(), Off: r.Off - catalog.DboxHead, What: what}
	}
	size, err := x.f.Size()
	if err != nil {
		return buf[:0], 0, err
	}
	from := r.Off - catalog.DboxHead
	want := min(size-from, catalog.DboxHead+r.Size+catalog.DboxTail)
	if from < 0 || r.Size < 0 || want < catalog.DboxHead+r.Size {
		return bad("file ends before the message")
	}
	b = slices.Grow(buf[:0], int(want))[:want]
	if err := catalog.ReadFullAt(x.f, b, from); err != nil {
		return bad(err.Error())
	}
	got, n, err := catalog.ParseDbox(b)
	if err != nil {
		return bad(err.Error())
	}
	if got.Key != r.Key || got.Size != r.Size {
		return bad(fmt.Sprintf("message %s of %d bytes, the map says %s of %d", got.Key, got.Size, r.Key, r.Size))
	}
	return b, n, nil
}
