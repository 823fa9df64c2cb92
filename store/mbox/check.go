package mbox

import (
	"fmt"
	"iter"

	"mailbench/store/catalog"
)

// Check reads the whole file: head, records, SUMs, and that the catalog has
// what it has. Changes wait.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, err := range m.problems() {
			if !yield(fmt.Errorf("store/mbox: %s: %w", m.path, err)) {
				return
			}
		}
	}
}

func (m *mailbox) problems() (errs []error) {
	size, err := m.f.Size()
	if err != nil {
		return []error{err}
	}
	s := scanner{w: window{f: m.f, size: min(size, m.end)}}
	if size != m.end && !m.ragged {
		s.problem(size, fmt.Sprintf("the file ends, not at %d", m.end))
	}
	if !s.head().ok {
		s.problem(0, "the head")
	}
	var rows []catalog.Row
	if _, err := s.records(s.w.size, true, func(r *record) { rows = append(rows, r.row(m.gen)) }); err != nil {
		return append(s.problems, err)
	}
	errs = s.problems
	if m.short != nil {
		errs = append(errs, m.short)
	}
	i := 0
	m.cat.Each(func(want catalog.Row) bool {
		if i >= len(rows) || rows[i] != want {
			errs = append(errs, m.corrupt(&want, fmt.Errorf("the catalog has another record than the file: %w", ErrCorrupt)))
		}
		i++
		return len(errs) < 2*maxProblems
	})
	if i < len(rows) {
		errs = append(errs, fmt.Errorf("%d records are not in the catalog: %w", len(rows)-i, ErrCorrupt))
	}
	return errs
}
