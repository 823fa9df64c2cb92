package column

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"mailbench/index"
	"mailbench/index/blockfile"
)

// Check yields what is wrong with the index, the cache and the answers: every
// block is read, every column decoded, every reference followed. A cache that
// is missing or belongs to an older state of the mailbox is not wrong.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range [...]error{m.lostCache, m.lost} {
			if err != nil && !yield(fmt.Errorf("column: the last write failed: %w", err)) {
				return
			}
		}
		for err := range m.base.Check() {
			if !yield(err) {
				return
			}
		}
		h := m.base.Header()
		for _, check := range [...]func(*index.BaseHeader, func(error) bool) bool{m.checkCache, m.checkTail, m.checkAnswers} {
			if !check(&h, yield) {
				return
			}
		}
	}
}

func (m *mailbox) checkCache(h *index.BaseHeader, yield func(error) bool) bool {
	r, err := blockfile.Open(m.fs, m.cachePath)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(err)
	}
	defer r.Close()
	for err := range r.Verify {
		if !yield(err) {
			return false
		}
	}
	fh := r.Header()
	key, ok := m.cacheOK(&fh, h)
	if !ok {
		return true // stale: will be made anew
	}
	s, err := openStore(r, key)
	if err == nil {
		err = s.loadAll()
	}
	if err == nil && s.covers("env") {
		_, err = s.pruneEnvelopes(all(s.rows))
	}
	if err == nil {
		_, _, err = s.pruneBodies(all(s.rows))
	}
	if err != nil {
		return yield(err)
	}
	if s.state.uidNext > h.UIDNext {
		return yield(fmt.Errorf("column: the cache knows messages below uid %d, the index below %d", s.state.uidNext, h.UIDNext))
	}
	return s.checkTexts(yield)
}

func (m *mailbox) checkTail(h *index.BaseHeader, yield func(error) bool) bool {
	_, damaged, err := loadTail(m.fs, m.tailPath, m.identity(h))
	if err == nil {
		err = damaged
	}
	return err == nil || yield(err)
}

// checkTexts compares the stored places of strings with the strings.
func (s *store) checkTexts(yield func(error) bool) bool {
	for _, t := range append([]*text{&s.subject}, s.addressTexts()...) {
		rank := t.dict.ranks()
		if rank == nil || !t.hasText {
			continue
		}
		order := make([]int32, len(rank))
		for id, r := range rank {
			order[r] = int32(id)
		}
		if !slices.IsSortedFunc(order, func(a, b int32) int { return bytes.Compare(t.dict.str(a), t.dict.str(b)) }) &&
			!yield(fmt.Errorf("column: strings of %s are not in order", t.name)) {
			return false
		}
	}
	return true
}

func (s *store) addressTexts() []*text {
	out := make([]*text, len(s.address))
	for i := range s.address {
		out[i] = &s.address[i]
	}
	return out
}

func (m *mailbox) checkAnswers(h *index.BaseHeader, yield func(error) bool) bool {
	r, err := blockfile.Open(m.fs, m.answersPath)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(err)
	}
	defer r.Close()
	for err := range r.Verify {
		if !yield(err) {
			return false
		}
	}
	return true
}

// Stats lists files and columns with their bytes, and the rows of the cache
// whose messages are gone, with the share of the cache's bytes that falls to
// them.
func (m *mailbox) Stats() []index.FileStat {
	out := append(m.base.Stats(), fileStats(m.fs, CacheFile, m.cachePath)...)
	if dead, bytes := m.dead(); dead > 0 {
		out = append(out, index.FileStat{Name: CacheFile, Part: "dead rows", Bytes: bytes, Rows: dead})
	}
	if info, err := m.fs.Stat(m.tailPath); err == nil {
		h := m.base.Header()
		t, _, _ := loadTail(m.fs, m.tailPath, m.identity(&h))
		out = append(out, index.FileStat{Name: TailFile, Bytes: info.Size, Rows: int64(len(t.recs))})
	}
	return append(out, fileStats(m.fs, AnswersFile, m.answersPath)...)
}

// dead counts what Compact would leave out.
func (m *mailbox) dead() (rows, bytes int64) {
	h := m.base.Header()
	st, err := m.cache(&h)
	if err != nil || st.rows == 0 || st.r == nil {
		return 0, 0
	}
	t, err := m.table(st, &h)
	if err != nil {
		return 0, 0
	}
	live, _, ok := match(st, t)
	if !ok {
		return 0, 0
	}
	rows = int64(st.rows - len(live))
	return rows, rows * st.r.Size() / int64(st.rows)
}

func fileStats(fsy index.FS, name, path string) []index.FileStat {
	r, err := blockfile.Open(fsy, path)
	if err != nil {
		return nil
	}
	defer r.Close()
	out := []index.FileStat{{Name: name, Bytes: r.Size()}}
	at := map[string]int{}
	add := func(part string, bytes, rows int64) {
		i, ok := at[part]
		if !ok {
			i = len(out)
			at[part] = i
			out = append(out, index.FileStat{Name: name, Part: part})
		}
		out[i].Bytes += bytes
		out[i].Rows += rows
	}
	for i := range r.Segments() {
		parts, err := segParts(r.Segment(i), nil)
		if err != nil {
			return out
		}
		for _, p := range parts {
			if p.sec != nil {
				add(p.name, p.sec.Stored(), int64(p.rows))
			} else {
				add(p.name, int64(len(p.b)), int64(p.rows))
			}
		}
	}
	return out
}
