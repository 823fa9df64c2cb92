package box

import (
	"cmp"
	"slices"
	"sync"

	"mailbench/index"
)

// arrival is where appends and Syncs meet. A Sync also sees messages whose own
// append has not come as far: those find their UIDs here, and the cache is told
// of them here by whoever has the index, so that it hears of all in the order
// of their UIDs, which costs a design less than any other.
type arrival struct {
	mu    sync.Mutex
	moved sync.Cond // an append has left the store; L is mu

	waiting int             // appends on their way
	tickets uint64          // handed out
	inStore map[uint64]bool // tickets of appends that are in the store
	uid     map[string]uint32
	body    map[string]*incoming // left the store
	fresh   []listed             // in the index, not told to the cache
	cache   bool                 // there is somebody to tell
}

type listed struct {
	uid uint32
	key string
}

// expect is called before the store is.
func (a *arrival) expect() (ticket uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inStore == nil {
		a.moved.L = &a.mu
		a.inStore, a.uid, a.body = map[uint64]bool{}, map[string]uint32{}, map[string]*incoming{}
	}
	a.waiting++
	a.tickets++
	a.inStore[a.tickets] = true
	return a.tickets
}

// stored is called after the store has been.
func (a *arrival) stored(ticket uint64, ins []*incoming) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.inStore, ticket)
	for _, in := range ins {
		a.body[in.key] = in
	}
	a.moved.Broadcast()
}

// came notes a message that the index has for the first time.
func (a *arrival) came(key string, uid uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting > 0 {
		a.uid[key] = uid
		if a.cache {
			a.fresh = append(a.fresh, listed{uid, key})
		}
	}
}

// forget is for an index that was built anew: earlier UIDs mean nothing.
func (a *arrival) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.uid)
	a.fresh = nil
}

// claim gives the UID of a message, 0 if no Sync has seen it.
func (a *arrival) claim(key string) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.uid[key]
}

// untold is what the cache has not been told of, in the order of UIDs. It waits
// for appends that are about to come out of the store with a message that the
// index has; they need nothing that the caller holds. One that failed there, but
// left its message, is not waited for longer than its call lasts.
func (a *arrival) untold() []index.Cached {
	a.mu.Lock()
	defer a.mu.Unlock()
	for until := a.tickets; a.missing() && a.within(until); {
		a.moved.Wait()
	}
	slices.SortFunc(a.fresh, func(x, y listed) int { return cmp.Compare(x.uid, y.uid) })
	msgs := make([]index.Cached, 0, len(a.fresh))
	for _, f := range a.fresh {
		if in := a.body[f.key]; in != nil {
			in.known.UID = f.uid
			msgs = append(msgs, in.known)
		}
	}
	return msgs
}

// missing reports whether the index has a message whose append has not come
// out of the store.
func (a *arrival) missing() bool {
	return slices.ContainsFunc(a.fresh, func(f listed) bool { return a.body[f.key] == nil })
}

// within reports whether an append with a ticket up to that is in the store.
func (a *arrival) within(ticket uint64) bool {
	for t := range a.inStore {
		if t <= ticket {
			return true
		}
	}
	return false
}

// told is called when the cache has heard of all that untold returned. Nobody
// adds to it between: both need the index.
func (a *arrival) told() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fresh = a.fresh[:0]
}

// done ends what expect began.
func (a *arrival) done(ins []*incoming) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, in := range ins {
		delete(a.uid, in.key)
		delete(a.body, in.key)
	}
	if a.waiting--; a.waiting == 0 {
		clear(a.uid)
		clear(a.body)
		a.fresh = nil
	}
}
