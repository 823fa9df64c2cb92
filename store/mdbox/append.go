package mdbox

import (
	"mailbench/store"
	"mailbench/store/catalog"
)

// appending is what one caller of Append wants.
type appending struct {
	msgs []store.Message
	keys []string
	done bool
	err  error
}

// Append queues the messages. Who gets the lock first writes those of all who
// wait (M3).
func (s *mdbox) Append(msgs []store.Message) ([]string, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	a := &appending{msgs: msgs}
	s.queueMu.Lock()
	s.queue = append(s.queue, a)
	s.queueMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.done {
		return a.keys, a.err
	}
	s.queueMu.Lock()
	all := s.queue
	s.queue = nil
	s.queueMu.Unlock()
	rows, err := s.write(all)
	if err == nil {
		// Should this fail, they are dead bytes; or whole messages, if the machine
		// stops before the map has seen another id.
		err = s.list.Add(rows, false)
	}
	for _, a := range all {
		if a.done, a.err = true, err; err == nil {
			a.keys = make([]string, len(a.msgs))
			for i := range a.keys {
				a.keys[i] = rows[i].Key
			}
			rows = rows[len(a.msgs):]
		}
	}
	return a.keys, a.err
}

// write puts messages into files and makes them last.
func (s *mdbox) write(all []*appending) ([]catalog.Row, error) {
	if err := s.list.Begin(); err != nil {
		return nil, err
	}
	if err := s.tidy(); err != nil {
		return nil, err
	}
	n := 0
	for _, a := range all {
		n += len(a.msgs)
	}
	id := s.list.Reserve(n)
	rows := make([]catalog.Row, 0, n)
	for _, a := range all {
		for i := range a.msgs {
			rows = append(rows, catalog.NewRow(id, &a.msgs[i], s.now))
			if err := s.put(&rows[len(rows)-1], id, a.msgs[i].Body); err != nil {
				s.undo()
				return nil, err
			}
			id++
		}
	}
	if err := s.sync(); err != nil {
		s.undo()
		return nil, err
	}
	return rows, nil
}

// put frames a message and tells its place.
func (s *mdbox) put(r *catalog.Row, id uint64, body []byte) (err error) {
	if err = s.room(int64(len(body))); err == nil {
		r.File, r.Off = s.w.n, s.w.end()+catalog.DboxHead
		s.w.buf, err = catalog.AppendDbox(s.w.buf, id, s.guids.Of(id), body, r)
	}
	return err
}
