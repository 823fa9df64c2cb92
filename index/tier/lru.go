package tier

import (
	"math"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// lru is an exact LRU, bounded by bytes instead of the number of records.
type lru struct {
	bound, used int64
	list        *simplelru.LRU[uint64, []byte]
}

func newLRU(bound int64) (*lru, error) {
	l := &lru{bound: bound}
	var err error
	l.list, err = simplelru.NewLRU(math.MaxInt, func(_ uint64, r []byte) { l.used -= cost(r) })
	return l, err
}

func cost(record []byte) int64 { return int64(len(record)) + Overhead }

func (l *lru) get(key uint64) []byte {
	r, _ := l.list.Get(key)
	return r
}

func (l *lru) add(key uint64, r []byte) {
	l.list.Remove(key)
	c := cost(r)
	if c > l.bound {
		return
	}
	for l.used+c > l.bound {
		l.list.RemoveOldest()
	}
	l.list.Add(key, r)
	l.used += c
}

func (l *lru) remove(key uint64) { l.list.Remove(key) }
func (l *lru) clear()            { l.list.Purge() }
func (l *lru) bytes() int64      { return l.used }
func (l *lru) wait()             {}
func (l *lru) close()            { l.clear() }
