package maildir

import "sync"

// A delivery is one Append that waits for its names.
type delivery struct {
	files []written
	keys  []string
	err   error
	wake  chan bool // true: it is done; false: lead
}

// A line is where deliveries wait for each other: the first one publishes all
// that have come while the one before was published.
type line struct {
	mu      sync.Mutex
	waiting []*delivery
	leading bool
}

// publish returns when d has been given to do, alone or with others. One batch
// at a time; nobody leads more than one.
func (l *line) publish(d *delivery, do func([]*delivery)) {
	l.mu.Lock()
	l.waiting = append(l.waiting, d)
	if l.leading {
		l.mu.Unlock()
		if done := <-d.wake; done {
			return
		}
		l.mu.Lock()
	}
	l.leading = true
	batch := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	do(batch)
	l.mu.Lock()
	if len(l.waiting) > 0 {
		l.waiting[0].wake <- false
	} else {
		l.leading = false
	}
	l.mu.Unlock()
	for _, other := range batch {
		if other != d {
			other.wake <- true
		}
	}
}
