package index

import (
	"errors"
	"time"
)

// Known is what an index remembers of the source it was last brought in line
// with: enough to tell, without a listing or after one, that nothing changed.
type Known struct {
	State  State
	Digest Digest
}

// A Keeper is where a design keeps its rows. Follow does the rest of a Sync, so
// that every design notices the same changes by the same rules.
type Keeper interface {
	// Known tells what is remembered; ok false: there is no index, or it
	// cannot be read, and everything is built anew.
	Known() (k Known, ok bool, err error)
	// Load returns the rows. An error that wraps ErrCorrupt builds the index anew.
	Load() (*Table, error)
	// Note remembers a state alone: the names have not changed. It need not be
	// on disk when it returns; losing it costs a listing.
	Note(k Known) error
	// Save puts a change on disk: t is the table after it, the one that Load
	// returned and Follow has changed in place; c.Rebuilt: a new one, d has
	// every row as added, and t.UIDValidity is what the adopted uidlist says, or 0
	// when Save is to choose one (NextUIDValidity).
	Save(t *Table, d *Delta, k Known, c Changes) error
}

// Follow brings the rows of a Keeper in line with src. Nothing changed: one
// State, or, when the State differs but the names do not, one listing. u is
// the uidlist that a new index adopts (ReadUIDList), asked for only then.
// After an error the Keeper holds what it held before; k holds nothing of use.
func (k *Tracker) Follow(src Source, keep Keeper, u func() *UIDListData) (Changes, error) {
	known, ok, err := keep.Known()
	if err != nil {
		return Changes{}, err
	}
	before, err := src.State()
	if err != nil {
		return Changes{}, err
	}
	if !ok {
		return k.build(src, keep, before, u())
	}
	if !known.State.Racy && known.State.Same(before) {
		k.rec.delta.reset()
		return Changes{}, nil
	}
	if err := k.glance(src); err != nil {
		return Changes{}, err
	}
	if k.list.Digest == known.Digest {
		k.rec.delta.reset()
		before.Busy = false
		if before == known.State {
			return Changes{Scanned: true}, nil
		}
		return Changes{Scanned: true}, unlessDenied(keep.Note(Known{before, known.Digest}))
	}
	t, err := keep.Load()
	if errors.Is(err, ErrCorrupt) {
		return k.build(src, keep, before, u())
	}
	if err != nil {
		return Changes{}, err
	}
	if t != k.table {
		k.rec.t, k.table = t, t
	}
	if c, done, err := k.hear(src, keep, t, known, before); done || err != nil {
		return c, err
	}
	s, err := k.update(src, before)
	if errors.Is(err, ErrNoUIDs) {
		return k.build(src, keep, before, u())
	}
	if err != nil {
		return s.Changes, err
	}
	now := Known{s.State, s.Digest}
	if k.rec.delta.empty() && now == known {
		return s.Changes, nil
	}
	return s.Changes, keep.Save(t, &k.rec.delta, now, s.Changes)
}

// build makes everything anew.
func (k *Tracker) build(src Source, keep Keeper, before State, u *UIDListData) (Changes, error) {
	k.Adopt(u)
	s, err := k.first(src, before)
	if errors.Is(err, ErrNoUIDs) && u != nil {
		k.Adopt(nil)
		s, err = k.first(src, before)
	}
	if err != nil {
		return Changes{}, err
	}
	return s.Changes, keep.Save(k.table, &k.rec.delta, Known{s.State, s.Digest}, s.Changes)
}

// Load makes t, which a design has read from its own files, the table of k.
func (k *Tracker) Load(t *Table) { k.set(t) }

// ChooseUIDValidity gives t the UIDVALIDITY of a new index in dir: that of an
// adopted uidlist, else the one that o asks for, else the clock's, above every
// earlier one of dir (I2).
func ChooseUIDValidity(fsy FS, dir string, t *Table, o Options, now time.Time) error {
	want := t.UIDValidity
	if want == 0 {
		want = o.UIDValidity
	}
	v, err := NextUIDValidity(fsy, dir, want, now)
	if err != nil {
		return err
	}
	t.UIDValidity = v
	return nil
}
