package tier

import "github.com/dgraph-io/ristretto/v2"

// rist is ristretto, bounded by the same cost as the others.
type rist struct {
	bound int64
	c     *ristretto.Cache[uint64, []byte]
}

// usualRecord is what an envelope takes, from which the number of counters
// follows: ten for each record that fits, as ristretto's documentation says.
const usualRecord = 512

func newRistretto(bound int64) (*rist, error) {
	c, err := ristretto.NewCache(&ristretto.Config[uint64, []byte]{
		NumCounters: max(10*bound/usualRecord, 1000), MaxCost: bound, BufferItems: 64,
		IgnoreInternalCost: true, // Overhead stands for it
	})
	return &rist{bound, c}, err
}

func (r *rist) get(key uint64) []byte {
	b, _ := r.c.Get(key)
	return b
}

func (r *rist) add(key uint64, record []byte) { r.c.Set(key, record, cost(record)) }
func (r *rist) remove(key uint64)             { r.c.Del(key) }
func (r *rist) clear()                        { r.c.Clear() }
func (r *rist) bytes() int64                  { return r.bound - r.c.RemainingCost() }
func (r *rist) wait()                         { r.c.Wait() }
func (r *rist) close()                        { r.c.Close() }
