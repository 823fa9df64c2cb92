package suite

import (
	"cmp"
	"fmt"
	"strings"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

// resync: cur/ was touched, and perhaps changed. Open, scan, reconcile; on
// disk when it ends.
func resync(d index.Design, name string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		c, err := r.changing(f, d, name, index.Options{}, nil)
		if err != nil {
			return nil, err
		}
		var mb index.Mailbox
		var got index.Changes
		j := c.job(d, f, "resync")
		j.run = func() (err error) {
			if mb, err = openDesign(d, c.src, c.st.work, index.Options{}); err != nil {
				return err
			}
			got, err = mb.Sync()
			return err
		}
		j.check = func() error {
			if err := checkChanges(name, got, len(c.delta.touched), mb.Status().HighestModSeq > 0); err != nil {
				return err
			}
			if err := c.delta.checkFlags(mb); err != nil {
				return err
			}
			if n, want := mb.Status().Messages, len(c.delta.m.present()); n != want {
				return fmt.Errorf("resync: %d messages, want %d", n, want)
			}
			return nil
		}
		j.after = func() error { return mb.Close() }
		dir := floor.Maildir(c.delta.m.path)
		j.floor = dir.List
		return j, nil
	}
}

// checkChanges compares what Sync counted with the k messages of the change.
// A design without MODSEQ keeps no flags and cannot tell that they changed.
func checkChanges(name string, got index.Changes, k int, modseq bool) error {
	var want index.Changes
	switch name {
	case "deliver":
		want.Added = k
	case "delete", "expunge":
		want.Removed = k
	case "flags":
		want.Flagged = k
	case "rename":
		want.Moved = k
	}
	if name == "flags" {
		got.Moved = 0 // a flag given in new/ moves the file too
	}
	if !modseq {
		want.Flagged, want.Moved = 0, 0
	}
	if got.Added != want.Added || got.Removed != want.Removed || got.Flagged != want.Flagged || got.Moved != want.Moved {
		return fmt.Errorf("resync delta=%s: found %+v, want %+v", name, got, want)
	}
	if got.Rebuilt || !got.Scanned {
		return fmt.Errorf("resync delta=%s: %+v: want a scan and no rebuilding", name, got)
	}
	return nil
}

// checkFlags compares folder and \Flagged of every message the change touched
// with what the file names say.
func (d *delta) checkFlags(mb index.Mailbox) error {
	want := make(map[string]string, len(d.touched))
	for _, i := range d.touched {
		if rel := d.m.at[i]; rel != "" {
			want[d.base(i)] = rel
		}
	}
	var bad error
	err := mb.Messages(func(m index.Message) bool {
		rel, ok := want[m.Key]
		if !ok {
			return true
		}
		delete(want, m.Key)
		folder, name, _ := strings.Cut(rel, "/")
		_, letters, _ := strings.Cut(name, ":2,")
		if flagged := strings.Contains(letters, "F"); m.Folder != folder || flagged != (m.Flags&index.FlagFlagged != 0) {
			bad = fmt.Errorf("resync delta=%s: UID %d in %s with flags %v, the file is %s", d.name, m.UID, m.Folder, m.Flags, rel)
		}
		return bad == nil
	})
	if err = cmp.Or(err, bad); err == nil && len(want) > 0 {
		err = fmt.Errorf("resync delta=%s: %d of the messages concerned are missing", d.name, len(want))
	}
	return err
}

// A changing is what every row with a delta needs: the live mailbox before
// the change, an index that knows that state, and the change itself.
type changing struct {
	src   index.Source
	st    *stage
	delta *delta
}

func (r *Runner) changing(f *fixture, d index.Design, name string, o index.Options, prime func(index.Mailbox) error) (*changing, error) {
	m, err := r.live(f)
	if err != nil {
		return nil, err
	}
	c := &changing{delta: newDelta(name, m)}
	if err := c.delta.before(); err != nil {
		return nil, err
	}
	clone := &fixture{path: m.path, kind: "maildir"}
	if c.src, err = clone.source(r.scratch); err != nil {
		return nil, err
	}
	if c.st, err = r.newStage(name); err != nil {
		return nil, err
	}
	return c, r.fill(d, c.src, c.st.dir, o, prime)
}

// job makes the parts of a job that all rows with a delta share. The names of
// the files change from sample to sample, so warmth is asked of a fresh list.
func (c *changing) job(d index.Design, f *fixture, op string) *job {
	j := &job{design: d.Name(), op: op, messages: f.messages, mails: temp.Warm, index: indexWarm, dir: c.st.work}
	j.reset = func() (err error) {
		if err = c.delta.before(); err != nil {
			return err
		}
		if err = c.st.reset(); err != nil {
			return err
		}
		if err = c.delta.apply(); err != nil {
			return err
		}
		j.files, err = mailFiles(c.delta.m.path, "maildir")
		return err
	}
	j.close = func() error { return joinClose(c.src.Close, c.st.close, c.delta.m.restore) }
	return j
}

// answerAfterDelta: the index is current, then the mailbox changes; the
// operation opens, takes the change in, answers and formats.
func answerAfterDelta(r *Runner, f *fixture, d index.Design, q query) (*job, error) {
	o := index.Options{Answers: q.answers}
	c, err := r.changing(f, d, q.delta, o, q.prime)
	if err != nil {
		return nil, err
	}
	if err := c.delta.apply(); err != nil {
		return nil, err
	}
	var box []uint32
	if q.delta != "deliver" { // after a delivery everything is there
		box = c.delta.m.present()
	}
	want, err := q.want(f, box)
	if err != nil {
		return nil, err
	}
	var mb index.Mailbox
	var line []byte
	j := c.job(d, f, q.op())
	j.run = func() (err error) {
		if mb, err = openDesign(d, c.src, c.st.work, o); err != nil {
			return err
		}
		if _, err = mb.Sync(); err != nil {
			return err
		}
		line, err = q.ask(mb, line)
		return err
	}
	j.check = func() error { return wantDigest(q.what(), corpus.AnswerDigest(line), want) }
	j.after = func() error { return mb.Close() }
	return j, nil
}
