package corpus

// planQueue is a heap of messages under way by arrival, then by the order in
// which they were sent.
type planQueue struct {
	heap []queued
	free []*plan
}

type queued struct {
	*plan
	serial uint64
}

func (q *planQueue) less(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	return a.arrival < b.arrival || a.arrival == b.arrival && a.serial < b.serial
}

func (q *planQueue) push(p *plan, serial *uint64) {
	var c *plan
	if n := len(q.free); n > 0 {
		c, q.free = q.free[n-1], q.free[:n-1]
	} else {
		c = new(plan)
	}
	*c = *p
	*serial++
	q.heap = append(q.heap, queued{c, *serial})
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.less(i, up) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// first is the arrival of the next message; ok is false if none is under way.
func (q *planQueue) first() (arrival int64, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].arrival, true
}

// pop moves the message that arrives first into p.
func (q *planQueue) pop(p *plan) {
	n := len(q.heap) - 1
	first := q.heap[0].plan
	q.heap[0] = q.heap[n]
	q.heap = q.heap[:n]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if q.less(c, least) {
				least = c
			}
		}
		if least == i {
			break
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
	*p = *first
	q.free = append(q.free, first)
}
