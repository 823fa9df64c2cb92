package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/temp"
	"mailbench/store"
	"mailbench/store/box"
	sqlstore "mailbench/store/sql"
)

// A setting is what the rows that write differ in.
type setting struct {
	design  index.Design
	store   shelf
	ground  *ground
	other   bool // the index lies in -index-dir, not beside the mail
	fsync   box.Fsync
	cache   bool
	clients int
	grown   grownSize
	slow    slowness
}

// params are the row's axes, with kv beside them.
func (s setting) params(kv ...string) []Param {
	dir, cache := "local", "off"
	if s.other {
		dir = "other"
	}
	if s.cache {
		cache = "on"
	}
	return params(append(kv, "design", s.design.Name(), "store", s.store.name, "indexdir", dir, "fs", s.ground.fs, "fsync", s.fsync.String(),
		"slow", s.slow.name, "cache", cache, "clients", strconv.Itoa(s.clients), "grown", s.grown.name)...)
}

// countsFiles reports whether all that is written goes through the file layer
// that counts.
func (s setting) countsFiles() bool {
	return !index.AxesOf(s.design).OwnIO && s.store.format.Name() != "sql"
}

// A stand is a mailbox that a row writes to, with its instruments.
type stand struct {
	setting
	base   string // directory of the row on its ground
	other  string // directory of the row in -index-dir; "" = none
	n      int    // mailboxes made so far
	mail   string
	index  string
	files  *fsys.Counter
	device *busyClock
	box    *box.Box
}

func (r *Runner) newStand(s setting) (*stand, error) {
	st := &stand{setting: s}
	var err error
	if st.base, err = s.ground.own("work"); err != nil {
		return nil, err
	}
	if s.other {
		if st.other, err = os.MkdirTemp(r.index, "work-"); err != nil {
			return nil, errors.Join(err, st.remove())
		}
	}
	return st, nil
}

// renew makes an empty mailbox, or a copy of the one in from, and opens it.
// Nothing of what that wrote is left for the disk to do.
func (st *stand) renew(from string) error {
	if err := st.shut(); err != nil {
		return err
	}
	if err := st.clear(); err != nil {
		return err
	}
	// Another name each time: a database behind a store may know the last one.
	st.n++
	name := strconv.Itoa(st.n)
	st.mail = filepath.Join(st.base, "mail"+name)
	st.index = filepath.Join(st.base, "index"+name)
	if st.other != "" {
		st.index = filepath.Join(st.other, "index"+name)
	}
	if from != "" {
		if err := errors.Join(copyMail(filepath.Join(from, "mail"), st.mail, st.store.format.Name()), copyMail(filepath.Join(from, "index"), st.index, "")); err != nil {
			return err
		}
	} else if err := errors.Join(os.Mkdir(st.mail, 0o755), os.Mkdir(st.index, 0o755)); err != nil {
		return err
	}
	st.files, st.device = fsys.Counting(fsys.OS), &busyClock{}
	if err := st.open(st.fsync, true); err != nil {
		return err
	}
	return settleDisk(st.base, st.other)
}

// settleDisk waits until what was written is on its device, where that can be
// waited for: what is timed next shall not pay for it.
func settleDisk(dirs ...string) error {
	if smallWork {
		return nil
	}
	for _, dir := range dirs {
		if dir == "" || temp.Missing(dir) != "" {
			continue
		}
		if err := temp.SyncFS(dir); err != nil {
			return err
		}
	}
	return nil
}

// open opens the mailbox; watched: with the instruments of a timed run.
func (st *stand) open(policy box.Fsync, watched bool) error {
	mail, ix := index.FS(fsys.OS), index.FS(fsys.OS)
	if watched {
		layer := func(slow bool) index.FS {
			fs := index.FS(st.files)
			if slow && st.slow.name != "" {
				fs = fsys.Delaying(fs, st.slow.latency, st.slow.rate)
			}
			return timedFS{fs, st.device, slow && st.slow.name != ""}
		}
		mail, ix = layer(st.slow.mail), layer(st.slow.index)
	}
	o := index.Options{UIDList: "none", UIDValidity: 1}
	if st.cache && slices.Contains(index.AxesOf(st.design).Fields, "envelope") {
		o.Fields = "envelope" // what clients ask of new mail is there when it has come
	}
	b, err := box.Open(box.Config{
		Store: st.store.format, Design: st.design, Dir: st.mail, IndexDir: st.index, FS: mail, IndexFS: ix,
		Fsync: policy, Cache: st.cache, Options: o, StoreExtra: st.store.extra,
	})
	if err != nil {
		return err
	}
	st.box = b
	return nil
}

// shut closes the mailbox if it is open.
func (st *stand) shut() error {
	b := st.box
	st.box = nil
	if b == nil {
		return nil
	}
	return b.Close()
}

// verify closes the mailbox, opens it as another process would, and compares
// it with what it has to hold. It tells what the index takes on disk.
func (st *stand) verify(l ledger) (indexBytes int64, err error) {
	if err := st.shut(); err != nil {
		return 0, err
	}
	if indexBytes, err = dirBytes(st.index); err != nil {
		return 0, err
	}
	if err := st.open(st.fsync, false); err != nil {
		return 0, fmt.Errorf("open again: %w", err)
	}
	return indexBytes, errors.Join(l.verify(st.box), st.shut())
}

// clear removes the last mailbox, also from a database that is not below its
// directory.
func (st *stand) clear() (err error) {
	if st.mail == "" {
		return nil
	}
	if st.store.remote() && st.store.format == sqlstore.Format {
		err = sqlstore.Remove(store.Config{Dir: st.mail, Extra: st.store.extra})
	}
	err = errors.Join(err, os.RemoveAll(st.mail), os.RemoveAll(st.index))
	st.mail, st.index = "", ""
	return err
}

// remove ends the stand.
func (st *stand) remove() error {
	err := errors.Join(st.shut(), st.clear(), os.RemoveAll(st.base))
	if st.other != "" {
		err = errors.Join(err, os.RemoveAll(st.other))
	}
	return err
}
