package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// likelyID bounds the ids that a file's name alone can take from those that are
// to be given: a name with a greater one is nobody's mail.
const likelyID = 1 << 31

// aside is what is put behind the name of a file that is kept, though the list
// does not have it, and a number if there is one already.
const aside = ".left"

// remake makes a list where there is none, or a damaged one: why. From the
// files, if the format can; flags are then those of the append.
func (p *PerFile) remake(name string, why error) (*List, error) {
	names, err := p.fs.ReadDir(p.dir)
	if err != nil {
		return nil, err
	}
	p.cat = New(p.layout.Kind(), p.dir, p)
	var ids []uint64
	next := uint64(1)
	for _, n := range names {
		next = max(next, p.past(n))
		id := p.layout.ID(n)
		if id == 0 {
			continue
		}
		if plain, err := p.plain(n); err != nil {
			return nil, err
		} else if plain {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 && !p.layout.Finds() {
		return nil, fmt.Errorf("%s: %d mail files, but the list of them cannot be read: %w", p.dir, len(ids), why)
	}
	if len(ids) == 0 && !errors.Is(why, fs.ErrNotExist) && !p.layout.Finds() {
		return nil, why
	}
	rows, rest, err := p.found(ids)
	if err != nil {
		return nil, err
	}
	for _, f := range rest { // out of a sweep's way: a person may want it
		if !f.foreign {
			if err := p.setAside(f.id, ".damaged"); err != nil {
				return nil, err
			}
		}
	}
	p.cat.Load(rows...)
	return CreateList(p.fs, name, p.cat, next)
}

// past is the lowest id above that of a file's name, also of one that was set
// aside; 0: it is no name of a mail file.
func (p *PerFile) past(name string) uint64 {
	for _, mark := range []string{aside, ".damaged"} {
		if i := strings.LastIndex(name, mark); i >= 0 {
			name = name[:i]
		}
	}
	if id := p.layout.ID(name); id > 0 && id < likelyID {
		return id + 1
	}
	return 0
}

// raise makes the ids to come higher than those of all files that there are.
func (p *PerFile) raise() error {
	names, err := p.fs.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		p.list.Raise(p.past(n))
	}
	return nil
}

// plain reports whether a name is that of a file, which can be read.
func (p *PerFile) plain(name string) (bool, error) {
	st, err := p.fs.Stat(filepath.Join(p.dir, name))
	if errors.Is(err, fs.ErrNotExist) { // a link to nowhere
		return false, nil
	}
	return err == nil && !st.Dir && !st.Odd, err
}

// setAside gives a file a name under which nothing here looks for it.
func (p *PerFile) setAside(id uint64, mark string) error {
	to := p.path(id) + mark
	for n := 2; ; n++ {
		if _, err := p.fs.Stat(to); errors.Is(err, fs.ErrNotExist) {
			return p.fs.Rename(p.path(id), to)
		} else if err != nil {
			return err
		}
		to = fmt.Sprintf("%s%s%d", p.path(id), mark, n)
	}
}

// A rest is a file that is no whole message.
type rest struct {
	id            uint64
	torn, foreign bool
}

// found reads files that no list has, in the order of their ids. others are those
// that are not whole: never acknowledged, or damaged, or not of this format.
func (p *PerFile) found(ids []uint64) (rows []Row, others []rest, err error) {
	slices.Sort(ids)
	var buf []byte
	for _, id := range ids {
		if buf, err = readFile(p.fs, p.path(id), buf); err != nil {
			return nil, nil, err
		}
		if r, err := p.layout.Decode(buf); err == nil && r.Key == IDKey(id) {
			rows = append(rows, r)
		} else {
			others = append(others, rest{id, p.layout.Torn(buf), p.layout.Foreign(buf)})
		}
	}
	return rows, others, nil
}

// sweep puts a directory in order that was not closed. Whole messages that the
// list cannot know yet are taken in, if the format can tell. Removed are files
// that the list has taken out, and what a crash leaves of one being written; what
// else is not in the list may be mail all the same, if the list is less than it
// was: it is set aside, or left where it is if it is foreign. Nothing else may go on.
func (p *PerFile) sweep() error {
	names, err := p.fs.ReadDir(p.dir)
	if err != nil {
		return err
	}
	next := p.list.Next()
	gone := p.list.Removed()
	slices.Sort(gone)
	there := 0
	var fresh, old, litter []uint64
	for _, n := range names {
		id := p.layout.ID(n)
		if id == 0 {
			p.list.Raise(p.past(n))
			if fsys.IsTemp(n) && strings.HasPrefix(n, listFile(p.layout.Kind())) {
				if err := p.fs.Remove(filepath.Join(p.dir, n)); err != nil {
					return err
				}
			}
			continue
		}
		if _, listed := p.cat.Get(IDKey(id)); listed {
			there++
			continue
		}
		if plain, err := p.plain(n); err != nil {
			return err
		} else if !plain {
			continue
		}
		switch _, taken := slices.BinarySearch(gone, id); {
		case taken:
			litter = append(litter, id)
		case id >= next:
			fresh = append(fresh, id)
		default:
			old = append(old, id)
		}
	}
	if there < p.cat.Len() && !p.layout.Finds() {
		return p.ghost()
	}
	var keep []uint64
	if p.layout.Finds() {
		if keep, litter, err = p.adopt(fresh, old, litter); err != nil {
			return err
		}
	} else {
		keep = append(old, fresh...)
	}
	// Those that somebody has removed already, perhaps before a crash, count, too.
	p.removed.Store(true)
	for _, id := range keep {
		p.list.Raise(p.past(p.layout.File(id)))
		if err := p.setAside(id, aside); err != nil {
			return err
		}
	}
	for _, id := range litter {
		if err := p.fs.Remove(p.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// adopt takes those of fresh in that are whole, and sorts out the others.
func (p *PerFile) adopt(fresh, old, junk []uint64) (keep, litter []uint64, err error) {
	rows, others, err := p.found(fresh)
	if err != nil {
		return nil, nil, err
	}
	known, more, err := p.found(old)
	if err != nil {
		return nil, nil, err
	}
	for i := range known {
		keep = append(keep, KeyID(known[i].Key))
	}
	litter = junk
	for _, f := range append(others, more...) {
		switch {
		case f.foreign:
		case f.torn:
			p.list.Raise(p.past(p.layout.File(f.id)))
			litter = append(litter, f.id)
		default:
			keep = append(keep, f.id)
		}
	}
	if len(rows) > 0 {
		p.list.Raise(KeyID(rows[len(rows)-1].Key) + 1)
		err = p.list.Add(rows, true)
	}
	return keep, litter, err
}

// ghost is the error about a message that is listed, and its file is not there.
// No crash leaves that: the list is an older one, or somebody removed the file.
func (p *PerFile) ghost() error {
	var missing Row
	var err error
	p.cat.Each(func(r Row) bool {
		_, err = p.fs.Stat(p.path(KeyID(r.Key)))
		missing = r
		return err == nil
	})
	if err == nil {
		return nil // a name that is no file's: reading tells
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &index.CorruptError{File: filepath.Join(p.dir, listFile(p.layout.Kind())), Off: p.list.end(),
		What: fmt.Sprintf("message %s is listed, and its file %s is not there: the list ends too early, or the file was removed", missing.Key, p.layout.File(KeyID(missing.Key)))}
}
