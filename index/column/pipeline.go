package column

import (
	"runtime"
	"sync"
	"time"

	"mailbench/index"
)

// slowRead is how long reading and parsing one message takes when it comes
// from a device and not from memory: then more readers help.
const slowRead = 150 * time.Microsecond

// readAll reads n messages with several readers and hands the chunks to merge
// in row order, one at a time, while other chunks are being read. No reader
// waits for another: whoever finishes a chunk that is next in line merges it
// and those ready behind it, unless somebody is at it. Memory is bounded by
// the number of chunks, two per reader. workers 0 starts 2*GOMAXPROCS readers
// and adds more, up to index.MaxReaders, while reads are slow.
func readAll(r *reader, n, workers int, entry entryFunc, merge func(*chunk) error) error {
	if n == 0 {
		return nil
	}
	r.mask = r.want.mask()
	rows := chunkRows
	if r.want.envelope {
		rows = envRows
	}
	chunks := (n + rows - 1) / rows
	q := &queue{n: n, rows: rows, chunks: chunks, r: r, entry: entry, merge: merge, ready: make([]*chunk, chunks)}
	q.adapt = workers <= 0
	if q.adapt {
		workers = 2 * runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, chunks, index.MaxReaders))
	q.workers = workers
	q.free = make(chan *chunk, 2*index.MaxReaders)
	q.mu.Lock()
	for range workers {
		q.spawn()
	}
	q.mu.Unlock()
	q.wg.Wait()
	return q.err
}

// entryFunc gives the entry of message i, nil if it has gone, in e and buf or
// elsewhere, and the buffer to use next. It is called from several goroutines.
type entryFunc func(i int, e *index.Entry, buf []byte) (*index.Entry, []byte)

type queue struct {
	n, rows int // messages, and how many make a chunk
	chunks  int
	workers int // to begin with
	r       *reader
	entry   entryFunc
	merge   func(*chunk) error
	free    chan *chunk
	adapt   bool
	wg      sync.WaitGroup

	mu      sync.Mutex
	live    int // readers
	claimed int // chunks given out
	merged  int // chunks merged
	merging bool
	ready   []*chunk
	err     error
}

// spawn starts a reader and gives it two chunks, if so many are to be read; mu
// is held.
func (q *queue) spawn() {
	q.live++
	q.free <- newChunk(q.r.want, min(q.rows, q.n))
	if q.chunks > q.workers { // else nobody has a second one to read
		q.free <- newChunk(q.r.want, min(q.rows, q.n))
	}
	q.wg.Go(q.work)
}

func (q *queue) work() {
	for {
		c := <-q.free
		q.mu.Lock()
		if q.claimed == q.chunks || q.err != nil {
			q.mu.Unlock()
			q.free <- c
			return
		}
		seq := q.claimed
		q.claimed++
		q.mu.Unlock()

		begin := time.Now()
		err := q.read(c, seq)
		slow := q.adapt && time.Since(begin) > time.Duration(c.n)*slowRead

		q.mu.Lock()
		q.ready[seq] = c
		q.fail(err)
		if slow && q.live < index.MaxReaders && q.claimed < q.chunks {
			q.spawn()
		}
		q.drain()
		q.mu.Unlock()
	}
}

// drain merges what is next in line; mu is held, but not while merging.
func (q *queue) drain() {
	for !q.merging && q.err == nil && q.merged < q.chunks && q.ready[q.merged] != nil {
		m := q.ready[q.merged]
		q.ready[q.merged] = nil
		q.merged++
		q.merging = true
		q.mu.Unlock()
		link := q.r.phases.Begin(index.PhaseLink)
		err := q.merge(m)
		link.End()
		q.free <- m
		q.mu.Lock()
		q.merging = false
		q.fail(err)
	}
	if q.err == nil {
		return
	}
	for i, c := range q.ready[:q.claimed] { // let those who wait for a free chunk see the error
		if c != nil {
			q.ready[i] = nil
			q.free <- c
		}
	}
}

func (q *queue) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *queue) read(c *chunk, seq int) error {
	c.reset(seq)
	for i := seq * q.rows; i < min((seq+1)*q.rows, q.n); i++ {
		var e *index.Entry
		e, c.name = q.entry(i, &c.entry, c.name)
		if err := q.r.read(c, i, e); err != nil {
			return err
		}
	}
	if q.r.want.envelope {
		c.packed = c.env.pack()
	}
	return nil
}
