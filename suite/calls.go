package suite

import (
	"math/rand/v2"
	"slices"

	"mailbench/index/tier"
)

// What a sample reads. One of the messages costs microseconds, so it takes
// many to be seen above the clock.
const (
	singleCalls = 1000 // one message each
	windowCalls = 20
	windowSize  = 100
	recentCalls = 200
	pageSize    = 50 // of a client's list of messages
	zipfSkew    = 1.1

	// Calls before those of a sample, in front of a tier: enough for it to
	// hold what it holds in use.
	warmFactor = 10
)

// calls draws the calls of a sample from the messages of box, and those that
// a tier has seen before them. The draw depends on the mailbox alone.
func (q reading) calls(box []uint32) (before, sample []tier.Call) {
	rnd := rand.New(rand.NewPCG(uint64(len(box)), 23))
	fields := q.asked()
	n := len(box)
	one := func(next func() int) []tier.Call {
		calls := make([]tier.Call, singleCalls)
		for i := range calls {
			calls[i] = tier.Call{UIDs: []uint32{box[next()]}, Fields: fields}
		}
		return calls
	}
	times := 1
	if q.tier != "" {
		times += warmFactor
	}
	switch q.op {
	case "window":
		size := min(windowSize, n)
		for range windowCalls {
			from := rnd.IntN(n - size + 1)
			sample = append(sample, tier.Call{UIDs: box[from : from+size], Fields: fields})
		}
	case "all":
		sample = []tier.Call{{UIDs: box, Fields: fields}}
	case "zipf":
		// What is often read is not what lies together.
		place := rnd.Perm(n)
		z := rand.NewZipf(rnd, zipfSkew, 1, uint64(n-1))
		for range times {
			before, sample = append(before, sample...), one(func() int { return place[z.Uint64()] })
		}
	case "recent":
		c := client{box: box, rnd: rnd}
		for range times {
			before = append(before, sample...)
			sample = nil
			for range recentCalls {
				sample = append(sample, tier.Call{UIDs: c.next(), Fields: fields})
			}
		}
	default: // envelope, header
		sample = one(func() int { return rnd.IntN(n) })
	}
	return before, sample
}

// A client reads mail as people do: mostly the newest pages of the list, each
// older one half as often as the one before; then messages of the page that
// is shown; now and then, after a search or a long scroll, a page anywhere.
type client struct {
	box   []uint32
	rnd   *rand.Rand
	shown []uint32
}

func (c *client) next() []uint32 {
	n := len(c.box)
	size := min(pageSize, n)
	page := func(end int) []uint32 {
		end = max(end, size)
		c.shown = c.box[end-size : end]
		return c.shown
	}
	switch p := c.rnd.IntN(10); {
	case p < 6 || c.shown == nil:
		back := 0
		for back < n/size && c.rnd.IntN(2) == 0 {
			back++
		}
		return page(n - back*size)
	case p < 9:
		return slices.Clone(c.shown[c.rnd.IntN(len(c.shown)):][:1])
	}
	return page(size + c.rnd.IntN(n-size+1))
}
