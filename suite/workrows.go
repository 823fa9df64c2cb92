package suite

import (
	"mailbench/store/box"
)

// clientCounts are those of the posts; clientBase is the one that the other
// axes are shown at.
var clientCounts = []int{1, 5, 30, 100, 200}

const clientBase = 30

// postWriters is how many deliver at the same time in the post of
// BenchmarkDeliver.
const postWriters = 10

// workRows are the rows that write. Every value of every axis has a row, not
// every combination: fsync is crossed with clients, the others are shown at 30
// clients with group commit.
func (r *Runner) workRows() []Row {
	var rows []Row
	for _, g := range r.grounds {
		for _, other := range []bool{false, true} {
			if other && !r.otherDir {
				continue
			}
			for i, d := range r.cfg.Designs {
				for _, sh := range r.shelf {
					s := setting{design: d, store: sh, ground: g, other: other, fsync: box.Group, cache: true, clients: clientBase, grown: grownNone, slow: r.sluggish}
					def := r.isDefaultStore(sh)
					rows = append(rows, appendRows(s, def)...)
					if i == 0 { // it is the store that is compared
						rows = append(rows, deliverRows(s, def)...)
					}
					rows = append(rows, mixRows(s, def && i == 0 && (sh.remote() || sh.name == r.mixStore()), d)...)
				}
			}
		}
	}
	return rows
}

// mixStore is the store of the one default row of BenchmarkMix; each database
// of -dsn has another.
func (r *Runner) mixStore() string {
	if r.cfg.Stores == "" && len(r.cfg.Formats) == 0 || len(r.shelf) == 0 {
		return defaultStores[0]
	}
	return r.shelf[0].name
}

func appendRows(s setting, def bool) []Row {
	var rows []Row
	add := func(s setting, def bool) {
		row := Row{Bench: "Append", Params: s.params(), Default: def}
		row.prepare = func(r *Runner, _ *fixture) (*job, error) {
			if err := r.doubtSync(row.Name(), s); err != nil {
				return nil, err
			}
			return r.writing("append", s, r.letters(s.appends()))
		}
		rows = append(rows, row)
	}
	for _, policy := range []box.Fsync{box.Group, box.Always, box.Never} {
		for _, n := range clientCounts {
			v := s
			v.fsync, v.clients = policy, n
			add(v, def && policy == box.Group && (n == 1 || n == clientBase))
		}
	}
	for _, size := range grownSizes {
		for _, policy := range []box.Fsync{box.Group, box.Never} {
			v := s
			v.fsync, v.grown = policy, size
			add(v, false)
		}
	}
	v := s
	v.cache = false
	add(v, false)
	return rows
}

// deliverRows: an agent hands over mail for one recipient, which goes into
// the store and the index, and nothing of it into the cache.
func deliverRows(s setting, def bool) []Row {
	var rows []Row
	add := func(s setting, def bool) {
		s.cache, s.grown = false, grownSize{}
		row := Row{Bench: "Deliver", Params: s.params(), Default: def}
		row.prepare = func(r *Runner, _ *fixture) (*job, error) {
			if err := r.doubtSync(row.Name(), s); err != nil {
				return nil, err
			}
			return r.writing("deliver", s, r.parcels(delivered))
		}
		rows = append(rows, row)
	}
	for _, n := range []int{1, postWriters, clientBase} {
		v := s
		v.clients = n
		add(v, def && n != postWriters)
	}
	for _, policy := range []box.Fsync{box.Always, box.Never} {
		v := s
		v.fsync, v.clients = policy, postWriters
		add(v, false)
	}
	return rows
}
