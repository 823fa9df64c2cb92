package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// clients: 20 goroutines append, mark and expunge their own mail, one reads what
// there is and one purges; then everything is as each of them left it.
func clients(t *testing.T, k *kit) {
	const writers = 20
	each := 8
	if k.o.Short {
		each = 4
	}
	cfg := k.config(t)
	st := k.open(t, cfg)
	models := make([]*model, writers)
	errs := make(chan error, writers+2)
	var work, watch sync.WaitGroup
	done := make(chan struct{})
	for c := range writers {
		models[c] = newModel()
		work.Go(func() { errs <- k.client(st, models[c], uint64(c), each) })
	}
	watch.Go(func() { errs <- readAll(st, done) })
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := st.Purge(); err != nil {
					errs <- err
					return
				}
			}
		}
	})
	work.Wait()
	close(done)
	watch.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		all, wrong := merge(st, models)
		if wrong == "" {
			wrong = all.wrong(st, false)
		}
		if wrong != "" {
			t.Fatalf("%s: %s", when, wrong)
		}
	}
	check("in the end")
	mustCheck(t, st)
	before := digest(t, st)
	mustClose(t, st)
	st = k.open(t, cfg)
	defer mustClose(t, st)
	check("opened again")
	if digest(t, st) != before {
		t.Error("opened again it has another digest")
	}
}

func (k *kit) client(st store.Store, m *model, c uint64, n int) error {
	r := k.rand(700 + c)
	for i := range n {
		msgs := []store.Message{k.newMessage(r)}
		if i%4 == 3 {
			msgs = append(msgs, k.newMessage(r), k.newMessage(r))
		}
		keys, err := st.Append(msgs)
		if err != nil {
			return err
		}
		if err := m.append(msgs, keys); err != nil {
			return err
		}
		switch i % 3 {
		case 1:
			ch := []store.Change{{Key: m.msgs[r.IntN(len(m.msgs))].key, Flags: index.Flags(r.IntN(64))}}
			if err := st.SetFlags(ch); err != nil {
				return err
			}
			m.setFlags(ch)
		case 2:
			gone := []string{m.msgs[r.IntN(len(m.msgs))].key}
			if err := st.Expunge(gone); err != nil {
				return err
			}
			m.expunge(gone)
		}
	}
	return nil
}

// readAll lists and reads while others change: what is listed can be read, or
// has gone.
func readAll(st store.Store, done chan struct{}) error {
	src := st.Source()
	var l, after index.Listing
	var buf []byte
	for {
		select {
		case <-done:
			return nil
		default:
		}
		if err := src.List(&l); err != nil {
			return err
		}
		for i := range l.Entries {
			e := &l.Entries[i]
			b, err := src.ReadMessage(e, buf)
			if err == nil {
				buf = b
				continue
			}
			if err := src.List(&after); err != nil {
				return err
			}
			if slices.ContainsFunc(after.Entries, func(x index.Entry) bool { return x.Key == e.Key }) {
				return fmt.Errorf("message %s is there and cannot be read: %w", e.Key, err)
			}
		}
	}
}

// merge puts the clients' mailboxes into the order of the Store: that of each
// client must be in it.
func merge(st store.Store, models []*model) (*model, string) {
	src := st.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, err.Error()
	}
	src.Order(l.Entries)
	all := newModel()
	next := make([]int, len(models))
	for i := range l.Entries {
		found := false
		for c, m := range models {
			if next[c] < len(m.msgs) && m.msgs[next[c]].key == l.Entries[i].Key {
				all.msgs = append(all.msgs, m.msgs[next[c]])
				next[c]++
				found = true
				break
			}
		}
		if !found {
			return nil, fmt.Sprintf("message %s is nobody's, or not in the order of its client's appends", l.Entries[i].Key)
		}
	}
	return all, ""
}
