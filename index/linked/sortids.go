package linked

import (
	"bytes"
	"math"
	"slices"

	"mailbench/index"
	mailsort "mailbench/sort"
)

// Sort ids are an extension of the index: for each message a number, so that
// the numbers sort as the strings do and equal strings have equal numbers. 0 is
// none yet. They are spread over 32 bits, so that new strings find room between
// old ones; where they do not, all are given out anew.

// sortKey is how a key's strings are made: from which field, and its extension.
type sortKey struct {
	field, ext string
	make       func(c index.Compat, dst, raw []byte) []byte
}

func subjectKey(c index.Compat, dst, raw []byte) []byte {
	dst, _ = c.SubjectKey(dst, raw)
	return dst
}

func sortKeyOf(k mailsort.Key) sortKey {
	address, display := mailsort.Compat.AddressKey, mailsort.Compat.DisplayKey
	switch k {
	case mailsort.Subject:
		return sortKey{"hdr.subject", "sort-s", subjectKey}
	case mailsort.From:
		return sortKey{"hdr.from", "sort-f", address}
	case mailsort.To:
		return sortKey{"hdr.to", "sort-t", address}
	case mailsort.Cc:
		return sortKey{"hdr.cc", "sort-c", address}
	case mailsort.DisplayFrom:
		return sortKey{"hdr.from", "sort-df", display}
	default:
		return sortKey{"hdr.to", "sort-dt", display}
	}
}

// sortIDs are the sort ids of all rows; those of rows (nil: all) are there.
func (m *mailbox) sortIDs(k mailsort.Key, rows []int32) ([]uint32, error) {
	key := sortKeyOf(k)
	if m.cfg.Options.Compat == index.CompatDovecot {
		key.ext += ":dovecot"
	}
	v := &m.disk.view
	ids := make([]uint32, len(v.uid))
	copy(ids, v.recs(key.ext))
	var todo []int32
	need := func(r int32) {
		if ids[r] == 0 {
			todo = append(todo, r)
		}
	}
	if rows == nil {
		for i := range ids {
			need(int32(i))
		}
	} else {
		for _, r := range rows {
			need(r)
		}
	}
	if len(todo) == 0 {
		return ids, nil
	}
	have := len(ids) - len(todo)
	if rows != nil {
		have = 0
		for _, id := range ids {
			if id != 0 {
				have++
			}
		}
	}
	whole := len(todo) > have/4 // cheaper than looking for the place of each
	if !whole {
		done, gone, err := m.insertIDs(key, ids, todo)
		if err != nil {
			return nil, err
		}
		if done {
			if !gone {
				err = m.saveIDs(key, ids, todo)
			}
			return ids, err
		}
	}
	if have > 0 { // all that have one get a new one
		todo = todo[:0]
		want := make([]bool, len(ids))
		if rows == nil {
			for i := range want {
				want[i] = true
			}
		}
		for _, r := range rows {
			want[r] = true
		}
		for i, w := range want {
			if w || ids[i] != 0 {
				todo = append(todo, int32(i))
			}
		}
		clear(ids)
	}
	a, gone, err := m.strings(key, todo)
	if err != nil {
		return nil, err
	}
	ranks := mailsort.Ranks(nil, a, &m.sortScratch)
	top := uint64(0)
	for _, r := range ranks {
		top = max(top, uint64(r))
	}
	for i, r := range todo {
		ids[r] = uint32((uint64(ranks[i]) + 1) * (math.MaxUint32 / (top + 2)))
	}
	if !gone {
		err = m.saveIDs(key, ids, todo)
	}
	return ids, err
}

// strings makes the strings of rows. gone: one of them could not be read.
func (m *mailbox) strings(key sortKey, rows []int32) (a *mailsort.Arena, gone bool, err error) {
	a = &mailsort.Arena{Off: make([]uint32, 1, len(rows)+1)}
	err = m.each(rows, []string{key.field}, true, func(_ int32, vals [][]byte) error {
		gone = gone || vals[0] == nil
		if raw := headerValue(vals[0]); raw != nil || key.field == "hdr.subject" {
			a.Data = key.make(m.cfg.Options.Compat, a.Data, raw)
		}
		a.Off = append(a.Off, uint32(len(a.Data)))
		return nil
	})
	return a, gone, err
}

// insertIDs gives the rows of todo ids between those that are there. done false:
// there was no room.
func (m *mailbox) insertIDs(key sortKey, ids []uint32, todo []int32) (done, gone bool, err error) {
	a, gone, err := m.strings(key, todo)
	if err != nil {
		return false, gone, err
	}
	var reps []int32 // a row for each id that is there, by id
	for i, id := range ids {
		if id != 0 {
			reps = append(reps, int32(i))
		}
	}
	slices.SortFunc(reps, func(x, y int32) int { return int(int64(ids[x]) - int64(ids[y])) })
	reps = slices.CompactFunc(reps, func(x, y int32) bool { return ids[x] == ids[y] })
	known := map[int32][]byte{} // strings of reps that were looked at
	text := func(r int32) ([]byte, error) {
		s, ok := known[r]
		if !ok {
			one, bad, err := m.strings(key, []int32{r})
			if err != nil {
				return nil, err
			}
			gone = gone || bad
			s = one.Data
			known[r] = s
		}
		return s, nil
	}
	order := make([]int, len(todo))
	for i := range order {
		order[i] = i
	}
	str := func(i int) []byte { return a.Data[a.Off[i]:a.Off[i+1]] }
	slices.SortFunc(order, func(x, y int) int {
		m.counts.compares++
		return bytes.Compare(str(x), str(y))
	})
	for from := 0; from < len(order); {
		// The place of the first string; then all that go into the same gap.
		lo, hi := 0, len(reps)
		for lo < hi {
			mid := (lo + hi) / 2
			s, err := text(reps[mid])
			if err != nil {
				return false, gone, err
			}
			m.counts.compares++
			if bytes.Compare(s, str(order[from])) < 0 {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		below, above := uint64(0), uint64(math.MaxUint32)
		if lo > 0 {
			below = uint64(ids[reps[lo-1]])
		}
		var next []byte
		if lo < len(reps) {
			above = uint64(ids[reps[lo]])
			if next, err = text(reps[lo]); err != nil {
				return false, gone, err
			}
			if bytes.Equal(next, str(order[from])) {
				ids[todo[order[from]]] = ids[reps[lo]]
				from++
				continue
			}
		}
		to, distinct := from, uint64(0)
		for to < len(order) && (lo == len(reps) || bytes.Compare(str(order[to]), next) < 0) {
			if to == from || !bytes.Equal(str(order[to]), str(order[to-1])) {
				distinct++
			}
			to++
		}
		step := (above - below) / (distinct + 1)
		if step == 0 {
			return false, gone, nil
		}
		id := below
		for i := from; i < to; i++ {
			if i == from || !bytes.Equal(str(order[i]), str(order[i-1])) {
				id += step
			}
			ids[todo[order[i]]] = uint32(id)
		}
		from = to
	}
	return true, gone, nil
}

// saveIDs writes the ids of rows to the log.
func (m *mailbox) saveIDs(key sortKey, ids []uint32, rows []int32) error {
	return m.extend(func() error {
		t := newTrans()
		t.intro(&m.disk.view, key.ext, 1, 4)
		at := t.begin(recExtRec)
		t.b = slices.Grow(t.b, 8*len(rows))
		for _, r := range rows {
			t.b = le.AppendUint32(t.b, m.disk.uid[r])
			t.b = le.AppendUint32(t.b, ids[r])
		}
		t.end(at)
		return m.appendLog(t, false)
	})
}
