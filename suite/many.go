package suite

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/temp"
)

// manyChanged is how many mailboxes a sample of op=change opens: their sizes
// differ by orders of magnitude.
const manyChanged = 20

// manyRows are what a server does to many mailboxes, most of them small.
func manyRows(d index.Design) []Row {
	var rows []Row
	for _, scale := range []manyScale{manySmall, manyLarge} {
		for _, op := range []string{"status", "change"} {
			for _, ix := range []string{indexWarm, indexCold} {
				ps := params("design", d.Name(), "op", op, "shape", scale.shape, "mails", "warm", "index", ix, "msgs", scale.msgs)
				def := scale == manySmall && op == "status" && ix == indexWarm
				rows = append(rows, Row{"Many", ps, def, many(d, scale, op, ix)})
			}
		}
	}
	return rows
}

func many(d index.Design, scale manyScale, op, ix string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, _ *fixture) (*job, error) {
		m, err := r.manyBoxes(scale)
		if err != nil {
			return nil, err
		}
		ixs, err := r.manyIndexes(m, d)
		if err != nil {
			return nil, err
		}
		j := &job{design: d.Name(), op: "many-" + op, mails: temp.Warm, files: m.pool.files, index: ix}
		if op == "status" {
			m.status(d, ixs, j)
		} else if err := m.change(r, d, ixs, j); err != nil {
			return nil, err
		}
		j.metrics = func(res *result) []metric {
			opened := min(m.scale.status, len(m.size))
			if op == "change" {
				opened = min(manyChanged, len(m.size))
			}
			return append(ixs.metrics, metric{"ns/mailbox", float64(median(wallsOf(res)).Nanoseconds()) / float64(opened)})
		}
		return j, nil
	}
}

// A visit is a mailbox that a sample opened, and what it saw.
type visit struct {
	box     int
	status  index.Status
	changes index.Changes
}

// look opens the mailbox at path with its index in dir as STATUS does: open,
// sync, status, close.
func (v *visit) look(d index.Design, path, dir string, more func(index.Mailbox) error) error {
	src, err := source.Open(path, source.Options{Kind: "maildir"})
	if err != nil {
		return err
	}
	mb, err := openDesign(d, src, dir, index.Options{})
	if err != nil {
		return joinClose(func() error { return err }, src.Close)
	}
	if v.changes, err = mb.Sync(); err == nil {
		v.status = mb.Status()
		if more != nil {
			err = more(mb)
		}
	}
	return joinClose(func() error { return err }, mb.Close, src.Close)
}

// status: STATUS of mailboxes drawn at random.
func (m *boxes) status(d index.Design, ixs *manyIndexes, j *job) {
	var seen []visit
	sample := 0
	j.dir = ixs.dir
	j.reset = func() error {
		sample++
		seen, j.indexSubs = seen[:0], j.indexSubs[:0]
		for _, i := range m.pick(m.scale.status, sample) {
			seen = append(seen, visit{box: i})
			j.indexSubs = append(j.indexSubs, boxName(i))
		}
		return nil
	}
	j.run = func() error {
		for k := range seen {
			i := seen[k].box
			if err := seen[k].look(d, m.box(i), filepath.Join(ixs.dir, boxName(i)), nil); err != nil {
				return fmt.Errorf("mailbox %d: %w", i, err)
			}
		}
		return nil
	}
	j.check = func() error {
		for _, v := range seen {
			if err := m.checkStatus(v, 0); err != nil {
				return err
			}
			if c := v.changes; c.Added+c.Removed+c.Flagged+c.Moved != 0 || c.Rebuilt {
				return fmt.Errorf("mailbox %d of %d messages: %+v, and nothing changed", v.box, m.size[v.box], c)
			}
		}
		return nil
	}
}

// checkStatus compares what v saw with the names of the files; added is how
// many messages were delivered, which nobody has seen.
func (m *boxes) checkStatus(v visit, added int) error {
	st := v.status
	n := m.size[v.box] + added
	unseen, deleted := m.flags(v.box)
	unseen += added
	if st.HighestModSeq == 0 { // it keeps no flags
		unseen, deleted = st.Unseen, st.Deleted
	}
	if st.Messages != n || int(st.UIDNext) != n+1 || st.Unseen != unseen || st.Deleted != deleted {
		want := st
		want.Messages, want.UIDNext, want.Unseen, want.Deleted = n, uint32(n+1), unseen, deleted
		return fmt.Errorf("mailbox %d: %+v, want %+v", v.box, st, want)
	}
	return nil
}

// change: one message was delivered to each of a few mailboxes. Open, sync.
// The mailboxes are copies, made of links before each sample, and so are their
// indexes.
func (m *boxes) change(r *Runner, d index.Design, ixs *manyIndexes, j *job) error {
	st, err := r.newStage("many-change")
	if err != nil {
		return err
	}
	copies, err := os.MkdirTemp(r.scratch, "many-")
	if err != nil {
		return joinClose(func() error { return err }, st.close)
	}
	var seen []visit
	sample := 0
	j.dir = st.work
	j.reset = func() error {
		sample++
		seen = seen[:0]
		if err := cmp.Or(clearDir(st.work), clearDir(copies)); err != nil {
			return err
		}
		for _, i := range m.pick(manyChanged, sample) {
			seen = append(seen, visit{box: i})
			box, dir := filepath.Join(copies, boxName(i)), filepath.Join(st.work, boxName(i))
			err := corpus.Clone(context.Background(), m.box(i), box, corpus.CloneHardlink)
			if err != nil { // the scratch directory lies on another file system
				err = corpus.Clone(context.Background(), m.box(i), box, corpus.CloneAuto)
			}
			if err := joinClose(
				func() error { return err },
				func() error { return m.deliver(i, box) },
				func() error { return os.Mkdir(dir, 0o755) },
				func() error { return copyTree(filepath.Join(ixs.dir, boxName(i)), dir) },
			); err != nil {
				return err
			}
		}
		return nil
	}
	look := func(v *visit, more func(index.Mailbox) error) error {
		if err := v.look(d, filepath.Join(copies, boxName(v.box)), filepath.Join(st.work, boxName(v.box)), more); err != nil {
			return fmt.Errorf("mailbox %d: %w", v.box, err)
		}
		return nil
	}
	j.run = func() error {
		for k := range seen {
			if err := look(&seen[k], nil); err != nil {
				return err
			}
		}
		return nil
	}
	j.check = func() error {
		for _, v := range seen {
			if c := v.changes; c.Added != 1 || c.Removed+c.Flagged+c.Moved != 0 || c.Rebuilt {
				return fmt.Errorf("mailbox %d: %+v, and one message was delivered", v.box, c)
			}
			if err := m.checkStatus(v, 1); err != nil {
				return err
			}
			if err := look(&v, func(mb index.Mailbox) error { return m.checkKeys(v.box, mb) }); err != nil {
				return err
			}
		}
		return nil
	}
	j.close = func() error { return joinClose(st.close, func() error { return os.RemoveAll(copies) }) }
	return nil
}

// checkKeys compares the UIDs and keys of a mailbox after a delivery.
func (m *boxes) checkKeys(box int, mb index.Mailbox) error {
	at := m.start[box]
	uid := 0
	var bad error
	err := mb.Messages(func(msg index.Message) bool {
		uid++
		if uid <= m.size[box]+1 {
			want, _, _ := strings.Cut(filepath.Base(m.names[at+uid-1]), ":")
			if int(msg.UID) != uid || msg.Key != want {
				bad = fmt.Errorf("UID %d is %s, want %d %s", msg.UID, msg.Key, uid, want)
			}
		}
		return bad == nil
	})
	if err = cmp.Or(err, bad); err == nil && uid != m.size[box]+1 {
		err = fmt.Errorf("%d messages are listed, want %d", uid, m.size[box]+1)
	}
	return err
}

// manyIndexes are one design's indexes of all mailboxes of BenchmarkMany, as
// one SELECT of each leaves them.
type manyIndexes struct {
	of      string // mailboxes and design
	dir     string // that of box i is dir/NNNNN
	metrics []metric
}

// manyIndexes makes them, once for all rows of a design.
func (r *Runner) manyIndexes(m *boxes, d index.Design) (*manyIndexes, error) {
	of := m.path + " " + d.Name()
	if r.many != nil && r.many.of == of {
		return r.many, nil
	}
	if err := r.dropMany(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.index, "many-")
	if err != nil {
		return nil, err
	}
	r.many = &manyIndexes{of: of, dir: dir}
	last, err := source.Open(m.box(len(m.size)-1), source.Options{Kind: "maildir"})
	if err != nil {
		return nil, err
	}
	if err := joinClose(func() error { return settle(last) }, last.Close); err != nil {
		return nil, err
	}
	// Several at a time: each waits for the disk.
	var g errgroup.Group
	g.SetLimit(8)
	for i := range m.size {
		g.Go(func() error {
			at := filepath.Join(dir, boxName(i))
			if err := os.Mkdir(at, 0o755); err != nil {
				return err
			}
			v := visit{box: i}
			if err := v.look(d, m.box(i), at, nil); err != nil {
				return fmt.Errorf("mailbox %d: %w", i, err)
			}
			return m.checkStatus(v, 0)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	n, err := dirBytes(dir)
	if err != nil {
		return nil, err
	}
	r.many.metrics = append(r.many.metrics, metric{"index-B/mailbox", float64(n) / float64(len(m.size))})
	return r.many, r.many.empty(r, d)
}

// empty measures what a mailbox without mail takes.
func (ixs *manyIndexes) empty(r *Runner, d index.Design) error {
	dir, err := os.MkdirTemp(r.index, "empty-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	box, at := filepath.Join(dir, "box"), filepath.Join(dir, "index")
	for _, sub := range []string{"box/cur", "box/new", "box/tmp", "index"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	var v visit
	if err := v.look(d, box, at, nil); err != nil {
		return fmt.Errorf("empty mailbox: %w", err)
	}
	if v.status.Messages != 0 || v.status.UIDNext != 1 {
		return fmt.Errorf("empty mailbox: %+v", v.status)
	}
	set, err := temp.Files(at)
	if err != nil {
		return err
	}
	ixs.metrics = append(ixs.metrics, metric{"empty-B", float64(set.Bytes())}, metric{"empty-files", float64(set.Len())})
	return nil
}

// dropMany removes the indexes of BenchmarkMany.
func (r *Runner) dropMany() error {
	ixs := r.many
	r.many = nil
	if ixs == nil {
		return nil
	}
	return os.RemoveAll(ixs.dir)
}
