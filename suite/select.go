package suite

import (
	"cmp"
	"fmt"
	"time"

	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

// selectFirst: no index files. Scan, assign UIDs, write the index; timed until
// it is on disk.
func selectFirst(d index.Design, mails temp.State) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		src, err := f.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("select-first")
		if err != nil {
			return nil, err
		}
		want, err := namesInOrder(f)
		if err != nil {
			return nil, err
		}
		var mb index.Mailbox
		j := &job{
			design: d.Name(), op: "select-first", messages: f.messages,
			mails: mails, files: f.files, index: indexNone, dir: st.work, stage: st,
			readsAll: index.ReadsAtSync(d, index.Options{}),
			reset:    st.reset, // the stage is empty
			run: func() (err error) {
				if mb, err = openDesign(d, src, st.work, index.Options{}); err != nil {
					return err
				}
				if _, err = mb.Sync(); err != nil {
					return err
				}
				return mb.Close()
			},
			close: func() error { return joinClose(src.Close, st.close) },
		}
		j.check = func() error { return checkUIDs(d, src, st.work, f.messages, want) }
		if f.kind == "maildir" {
			dir := floor.Maildir(f.path)
			j.floor = dir.Names
			if j.readsAll {
				j.floor = func() (floor.Work, error) { return dir.Headers(floorReaders(mails)) }
			}
		}
		return j, nil
	}
}

// checkUIDs opens the index and compares its UIDs, 1 to n, with the keys in
// the order that want gives (nil: only the numbers are compared).
func checkUIDs(d index.Design, src index.Source, dir string, n int, want []string) error {
	mb, err := openDesign(d, src, dir, index.Options{})
	if err != nil {
		return err
	}
	defer mb.Close()
	if _, err := mb.Sync(); err != nil {
		return err
	}
	if st := mb.Status(); st.Messages != n || int(st.UIDNext) != n+1 {
		return fmt.Errorf("select: %d messages, UIDNEXT %d; want %d, %d", st.Messages, st.UIDNext, n, n+1)
	}
	i := 0
	var bad error
	err = mb.Messages(func(m index.Message) bool {
		switch {
		case int(m.UID) != i+1:
			bad = fmt.Errorf("select: message %d has UID %d", i+1, m.UID)
		case want != nil && (i >= len(want) || m.Key != want[i]):
			bad = fmt.Errorf("select: UID %d is %s, want %s", m.UID, m.Key, want[min(i, len(want)-1)])
		}
		i++
		return bad == nil
	})
	return cmp.Or(err, bad)
}

// joinClose calls every f and returns the first error.
func joinClose(fs ...func() error) error {
	var first error
	for _, f := range fs {
		if err := f(); first == nil {
			first = err
		}
	}
	return first
}

// selectAgain: an index exists and nothing has changed. Open, compare, status.
func selectAgain(d index.Design, ix string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		src, err := f.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("select-again")
		if err != nil {
			return nil, err
		}
		if err := settle(src); err != nil {
			return nil, err
		}
		if err := r.fill(d, src, st.dir, index.Options{}, nil); err != nil {
			return nil, err
		}
		if err := st.reset(); err != nil {
			return nil, err
		}
		var (
			mb     index.Mailbox
			status index.Status
			change index.Changes
		)
		if ix == indexOpen {
			if mb, err = openDesign(d, src, st.work, index.Options{}); err != nil {
				return nil, err
			}
		}
		j := &job{
			design: d.Name(), op: "select-again", messages: f.messages,
			mails: temp.Warm, files: f.files, index: ix, dir: st.work, stage: st,
			run: func() (err error) {
				if ix != indexOpen {
					if mb, err = openDesign(d, src, st.work, index.Options{}); err != nil {
						return err
					}
				}
				if change, err = mb.Sync(); err != nil {
					return err
				}
				status = mb.Status()
				return nil
			},
			check: func() error {
				if status.Messages != f.messages || int(status.UIDNext) != f.messages+1 || change.Added+change.Removed+change.Flagged+change.Moved != 0 || change.Rebuilt {
					return fmt.Errorf("select again: %+v after %+v; want %d messages and no change", status, change, f.messages)
				}
				return nil
			},
			close: func() error { return joinClose(src.Close, st.close) },
		}
		if ix != indexOpen {
			j.after = func() error { return mb.Close() }
		} else {
			j.stage = nil
			j.handle = func() index.Mailbox { return mb }
			j.close = func() error { return joinClose(mb.Close, src.Close, st.close) }
		}
		return j, nil
	}
}

// settle waits until the mailbox is old enough for its state to be trusted: a
// change within the same tick of the clock as a look at it would not show, so
// every design looks again at a young mailbox.
func settle(src index.Source) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		st, err := src.State()
		if err != nil {
			return err
		}
		if !st.Racy {
			return nil
		}
		if time.Now().After(deadline) {
			return skip("%s keeps changing: nothing can be unchanged in it", src.Path())
		}
	}
}

// fill builds the index of src in dir as a first SELECT does, then lets
// warm ask it what is to be cached, and closes it. In a process that inherits
// its index files there is nothing to do.
func (r *Runner) fill(d index.Design, src index.Source, dir string, o index.Options, warm func(index.Mailbox) error) error {
	if r.inherited != "" {
		return nil
	}
	mb, err := openDesign(d, src, dir, o)
	if err != nil {
		return err
	}
	if _, err = mb.Sync(); err == nil && warm != nil {
		err = warm(mb)
	}
	return joinClose(func() error { return err }, mb.Close)
}
