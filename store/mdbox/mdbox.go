// Package mdbox is the mail store of files with many messages each: after the
// description of Dovecot's multi-dbox, written anew and not its format to the
// byte.
//
//	mdbox.list    the map: id -> flags, keywords, date, sizes, file, offset (catalog.List)
//	storage/m.1   a line about the file, then messages: head, mail, metadata (catalog/dbox.go)
//	storage/m.2   ...
//
// Dovecot's map index is one for all mailboxes of a user, and each mailbox has a
// list that refers to it by map UIDs. Here a store is one mailbox, so that map
// and list are one file and each record stands for one in both; the count of
// references is 1 for what is listed, else 0.
//
// # Invariants
//
// M1. Messages are appended to the file with the highest number, in the order
// of their ids, until it has Extra "rotate" bytes; then the next begins. Nothing in
// a file is changed, and nothing is written behind bytes that are not whole
// messages: after an error, or a crash that left such bytes, a new file begins.
//
// M2. A message is in the mailbox if it is in the map, or if it is whole in a
// file and its id one that the map has not seen: then the crash came between the
// file and the map. The next opening takes it in, with the flags of the append,
// which are in the file. So an append need not wait for the map. Torn bytes behind
// them are cut off; bytes that are damaged, not torn, stay, and messages behind them
// are searched for.
//
// M3. Append of any number of messages by any number of callers that wait at
// the same time costs one write and one fdatasync of one file, and one write of
// the map. A file that begins costs one more, and one of its directory.
//
// M4. SetFlags and Expunge cost one fdatasync, of the map. The bytes of an
// expunged message stay until Purge, which copies what is alive in a file with
// Extra "dead" percent of dead space or more, makes that last, then the new places
// in the map, and then removes the file. A crash in between leaves copies that
// nothing refers to, or a file in which all is dead: it is removed by the next opening.
//
// A file that does not begin as mdbox's do, and what is no file, is nobody's to
// remove or to write to: Check tells of it, and numbers go on above it.
//
// M5. A map that is damaged, shorter than it had lasted or missing is made again from the files: all that is
// whole, with the flags of the append; changes of flags are lost, and what was
// expunged and not purged comes back. Keys go on above what is found: one above all
// that was purged is given again.
//
// M6. A message is checked as a whole (xxhash64) when it is read as a whole; a
// header that is read alone is not.
//
// # Not done
//
// Several mailboxes over one map, alternate storage, preallocation.
package mdbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=mdbox. Config.Extra: "rotate", the size in bytes at which a new
// file begins (with k or M; default 10M as in Dovecot 2.3), and "dead", the
// percentage of dead space from which Purge rewrites a file (default 1).
var Format store.Format = format{}

type format struct{}

func (format) Name() string { return "mdbox" }

// Packs implements store.Packer.
func (format) Packs() bool { return true }

const (
	defaultRotate = 10 << 20
	defaultDead   = 1
)

// mdbox is one opened mailbox.
type mdbox struct {
	fs     index.FS
	dir    string // of the mailbox
	store  string // of the files
	now    func() time.Time
	guids  catalog.GUIDs
	rotate int64
	dead   int64
	cat    *catalog.Catalog
	list   *catalog.List
	open   handles

	queueMu sync.Mutex
	queue   []*appending

	mu      sync.Mutex // who writes files: appends and Purge
	w       writer
	odd     []string    // names like those of files, of what is none, when files() last looked
	removed atomic.Bool // files, and their names may come back
}

func (format) Open(cfg store.Config) (store.Store, error) {
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("mdbox: %w", err)
	}
	return s, nil
}

func open(cfg store.Config) (*mdbox, error) {
	s := &mdbox{fs: cfg.FS, dir: cfg.Dir, store: filepath.Join(cfg.Dir, "storage"), now: cfg.Now, guids: catalog.NewGUIDs()}
	s.open.s = s
	var err error
	if s.rotate, err = option(cfg, "rotate", defaultRotate); err != nil {
		return nil, err
	}
	if s.dead, err = option(cfg, "dead", defaultDead); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.dir, s.store} {
		if err := catalog.MakeDir(s.fs, dir); err != nil {
			return nil, err
		}
	}
	s.cat = catalog.New("mdbox", s.dir, s)
	name := filepath.Join(s.dir, "mdbox.list")
	s.list, err = catalog.OpenList(s.fs, name, s.cat)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, index.ErrCorrupt):
		err = s.remake(name)
	case err == nil && !s.list.Clean():
		err = s.recover()
	case err == nil:
		err = s.resume()
	}
	if err != nil {
		if s.list != nil {
			s.list.Close()
		}
		return nil, err
	}
	return s, nil
}

// option is a number of Config.Extra, perhaps with k or M.
func option(cfg store.Config, name string, missing int64) (int64, error) {
	text, ok := cfg.Extra[name]
	if !ok {
		return missing, nil
	}
	digits, unit := text, int64(1)
	for suffix, size := range map[string]int64{"k": 1 << 10, "M": 1 << 20} {
		if d, ok := strings.CutSuffix(text, suffix); ok {
			digits, unit = d, size
		}
	}
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("option %s: %q is no number from 1", name, text)
	}
	return n * unit, nil
}

// path is the name of file n.
func (s *mdbox) path(n int64) string { return filepath.Join(s.store, "m."+strconv.FormatInt(n, 10)) }

// files are the numbers of the files that there are, ascending. Names like theirs
// of what is no file are odd: they are left alone, and Check tells of them. O(files).
// Whoever calls it holds mu, or is opening.
func (s *mdbox) files() ([]int64, error) {
	names, err := s.fs.ReadDir(s.store)
	if err != nil {
		return nil, err
	}
	s.odd = nil
	var ns []int64
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "m.")
		if !ok {
			continue
		}
		n := int64(catalog.KeyID(digits))
		if n <= 0 || n >= 1<<62 {
			continue
		}
		st, err := s.fs.Stat(s.path(n))
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && (st.Dir || st.Odd): // a link to nowhere, or no file
			s.odd = append(s.odd, name)
		case err != nil:
			return nil, err
		default:
			ns = append(ns, n)
		}
	}
	sortNumbers(ns)
	return ns, nil
}

// ours reports whether file n begins as this format's do, or as a crash leaves one
// that had just begun: another one is not removed, nor written to.
func (s *mdbox) ours(n int64) (bool, error) {
	f, err := s.fs.Open(s.path(n))
	if err != nil {
		return false, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	head := make([]byte, min(size, firstSector))
	if err := catalog.ReadFullAt(f, head, 0); err != nil {
		return false, err
	}
	return !catalog.DboxForeign(head), nil
}

// SetFlags is one record of the map and one sync.
func (s *mdbox) SetFlags(changes []store.Change) error {
	return s.list.SetFlags(catalog.RowsOf(changes))
}

// Expunge is one record of the map and one sync.
func (s *mdbox) Expunge(keys []string) error {
	_, err := s.list.Remove(keys)
	return err
}

// Source is the catalog's.
func (s *mdbox) Source() index.Source { return s.cat.Source() }

// Close makes everything last and closes the files.
func (s *mdbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.removed.Load() {
		if err = s.fs.SyncDir(s.store); err != nil {
			s.list.Litter()
		}
	}
	err = errors.Join(err, s.closeFiles(), s.list.Close())
	s.open.close()
	return err
}
