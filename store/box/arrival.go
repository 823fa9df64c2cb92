package box

import "sync"

// arrival is where appends find the UIDs of their messages: a Sync also sees
// messages whose own append has not come as far, and those find theirs here.
type arrival struct {
	mu      sync.Mutex
	waiting int // appends that are on their way
	uid     map[string]uint32
}

// expect is called before the store is.
func (a *arrival) expect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting++
}

// came notes a message that the index has for the first time.
func (a *arrival) came(key string, uid uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == 0 {
		return
	}
	if a.uid == nil {
		a.uid = map[string]uint32{}
	}
	a.uid[key] = uid
}

// forget is for an index that was built anew: earlier UIDs mean nothing.
func (a *arrival) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.uid)
}

// claim gives the UID of a message.
func (a *arrival) claim(key string) (uint32, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	uid, ok := a.uid[key]
	return uid, ok
}

// done ends what expect began.
func (a *arrival) done(keys ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range keys {
		delete(a.uid, k)
	}
	if a.waiting--; a.waiting == 0 {
		a.uid = nil
	}
}
