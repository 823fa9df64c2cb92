package index

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// MaxReaders is the largest worker number (plus one) that ReadHeaders passes on.
const MaxReaders = 32

const (
	readBatch  = 64                     // consecutive entries that one reader takes at a time
	slowReader = 150 * time.Microsecond // per message: mail comes from a device, more readers help
)

// ReadHeaders reads the headers of entries with several readers and calls fn
// for each entry, from the readers' goroutines and in no order; worker is below
// MaxReaders and one worker runs fn for one entry at a time. header is valid
// until fn returns. A message that cannot be read comes with its error.
//
// workers 0 starts 2 * GOMAXPROCS readers and, as long as reading a message
// takes longer than a warm page cache would, adds more up to MaxReaders.
// Memory: one buffer per reader. No allocation per message.
func ReadHeaders(src Source, entries []Entry, workers int, fn func(worker, i int, header []byte, err error)) {
	ReadEach(len(entries), workers, func(i int, buf []byte) ([]byte, error) {
		return src.ReadHeader(&entries[i], buf)
	}, fn)
}

// ReadEach is ReadHeaders with the reading as a function: read returns the
// bytes of message i, appended to buf[:0].
func ReadEach(n, workers int, read func(i int, buf []byte) ([]byte, error), fn func(worker, i int, b []byte, err error)) {
	p := pool{n: n, read: read, fn: fn}
	p.adapt = workers <= 0
	start := workers
	if p.adapt {
		start = 2 * runtime.GOMAXPROCS(0)
	}
	start = max(1, min(start, MaxReaders, (n+readBatch-1)/readBatch))
	p.mu.Lock()
	for range start {
		p.spawn()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

type pool struct {
	n     int
	read  func(i int, buf []byte) ([]byte, error)
	fn    func(worker, i int, b []byte, err error)
	next  atomic.Int64
	adapt bool
	mu    sync.Mutex
	live  int
	wg    sync.WaitGroup
}

// spawn starts one more reader; mu is held.
func (p *pool) spawn() {
	w := p.live
	p.live++
	p.wg.Go(func() { p.work(w) })
}

func (p *pool) work(worker int) {
	buf := make([]byte, 0, 16<<10)
	for {
		from := int(p.next.Add(readBatch)) - readBatch
		if from >= p.n {
			return
		}
		to := min(from+readBatch, p.n)
		begin := time.Now()
		for i := from; i < to; i++ {
			b, err := p.read(i, buf)
			p.fn(worker, i, b, err)
			if cap(b) > cap(buf) && cap(b) <= 1<<20 {
				buf = b[:0]
			}
		}
		// With as many readers as there are, each waits its turn for a
		// processor: compare against that many warm reads.
		if p.adapt && p.n-to > readBatch && time.Since(begin) > time.Duration(to-from)*slowReader {
			p.mu.Lock()
			if p.live < MaxReaders {
				p.spawn()
			}
			p.mu.Unlock()
		}
	}
}
