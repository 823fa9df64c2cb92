package box

import (
	"errors"
	"runtime"
	"sync"
	"time"
)

// The bounds of a group: what one client waits for because of others.
const (
	groupMessages = 1024
	groupBytes    = 16 << 20
)

var errLeader = errors.New("box: the append that led the group did not come to its end")

// group is group commit by a leader: the first who comes takes itself and all
// who came meanwhile through, then the first of those still waiting leads.
type group struct {
	mu      sync.Mutex
	waiting []*incoming
	led     bool

	size int           // of the last group
	took time.Duration // the way of the last group
}

// join returns when in is done. Whoever leads calls carry for a group that it
// is the first of.
func (g *group) join(in *incoming, carry func([]*incoming)) {
	g.mu.Lock()
	g.waiting = append(g.waiting, in)
	if g.led {
		in.turn = make(chan bool, 1)
		g.mu.Unlock()
		if lead := <-in.turn; !lead {
			return
		}
		g.mu.Lock()
	}
	g.led = true
	g.letIn()
	ins := g.take()
	g.mu.Unlock()
	start := time.Now()
	defer func() { // also if carry panics: nobody waits for ever
		g.handOver(ins, time.Since(start))
	}()
	carry(ins)
}

// letIn lets those who are about to come come first: it lends them the processor
// twice, and again and again while somebody came less than a hundredth of the
// last group's time ago, but a tenth of that time at most. Without it the members
// of the group before, who have just been told, come a moment too late, and two
// half groups take turns: twice the syncs. A client that is alone is not delayed.
func (g *group) letIn() {
	start := time.Now()
	came, yields := start, 0
	for len(g.waiting) < groupMessages {
		n := len(g.waiting)
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
		now := time.Now()
		if len(g.waiting) > n {
			came, yields = now, 0
		} else if yields++; yields >= 2 && (g.size < 2 && n < 2 || now.Sub(came) >= g.took/100) || now.Sub(start) >= max(g.took/10, time.Microsecond) {
			return
		}
	}
}

// take removes the next group from those waiting: at least one.
func (g *group) take() []*incoming {
	n, bytes := 0, 0
	for n < len(g.waiting) && n < groupMessages {
		bytes += len(g.waiting[n].msg.Body)
		if n > 0 && bytes > groupBytes {
			break
		}
		n++
	}
	ins := append([]*incoming(nil), g.waiting[:n]...)
	rest := copy(g.waiting, g.waiting[n:])
	clear(g.waiting[rest:])
	g.waiting = g.waiting[:rest]
	return ins
}

// handOver tells the members that they are done and the next one to lead.
func (g *group) handOver(ins []*incoming, took time.Duration) {
	for _, in := range ins[1:] {
		if in.uid == 0 && in.err == nil {
			in.err = errLeader
		}
		in.turn <- false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size, g.took = len(ins), took
	if len(g.waiting) > 0 {
		g.waiting[0].turn <- true
		return
	}
	g.led = false
}
