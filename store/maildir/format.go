package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=maildir.
var Format store.Format = format{}

type format struct{}

// ErrKeyword reports a keyword bit that has no letter in a maildir's names.
var ErrKeyword = errors.New("store/maildir: keyword above bit 25, which is the letter z")

// errClosed is returned by changes after Close.
var errClosed = errors.New("store/maildir: closed")

// newestFile holds the highest name that there ever was (M3).
const newestFile = "mailbench-newest"

// tmpAge is after what time a file in tmp/ is nobody's: what maildir's
// specification says.
const tmpAge = 36 * time.Hour

// A mailbox is one opened maildir.
type mailbox struct {
	fs            fsys.FS
	dir           string
	cur, new, tmp string
	into          uint8 // where mail without flags goes
	host          string
	now           func() time.Time
	cat           *catalog.Catalog
	closed        atomic.Bool
	temp          atomic.Uint64 // numbers the names in tmp/
	line          line

	naming sync.Mutex // names in the order in which they are given out and published
	last   int64      // microsecond of the last name
	newest string     // key of the last message appended or found
	noted  int64      // what newestFile holds
	stray  []string   // files that could not be taken back

	change sync.Mutex   // held by SetFlags and Expunge from beginning to end
	place  sync.RWMutex // held while a name changes, until the catalog knows
}

// Name is "maildir".
func (format) Name() string { return "maildir" }

// Open opens the maildir in cfg.Dir and makes cur/, new/ and tmp/ where they are
// missing. It reads three directories and no file: O(messages).
//
// Extra: "into" is "cur" (the default) or "new": where mail without flags goes.
func (format) Open(cfg store.Config) (store.Store, error) {
	m := &mailbox{fs: cfg.FS, dir: cfg.Dir, now: cfg.Now,
		cur: filepath.Join(cfg.Dir, "cur"), new: filepath.Join(cfg.Dir, "new"), tmp: filepath.Join(cfg.Dir, "tmp")}
	if m.fs == nil {
		m.fs = fsys.OS
	}
	if m.now == nil {
		m.now = time.Now
	}
	switch into := cfg.Extra["into"]; into {
	case "", "cur":
		m.into = index.DirCur
	case "new":
		m.into = index.DirNew
	default:
		return nil, fmt.Errorf("store/maildir: into=%q: cur or new", into)
	}
	host, _ := os.Hostname() // any name does; the time makes names unique here
	m.host = strings.NewReplacer("/", `\057`, ":", `\072`, ",", `\054`).Replace(host)
	if m.host == "" {
		m.host = "localhost"
	}
	m.cat = catalog.New("maildir", cfg.Dir, m)
	if err := m.make(); err != nil {
		return nil, fmt.Errorf("store/maildir: %w", err)
	}
	if err := m.load(); err != nil {
		return nil, fmt.Errorf("store/maildir: %w", err)
	}
	return m, nil
}

// make makes the directories and their names last.
func (m *mailbox) make() error {
	made := false
	for _, dir := range []string{m.cur, m.new, m.tmp} {
		_, err := m.fs.Stat(dir)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := m.fs.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		made = true
	}
	if !made {
		return nil
	}
	if err := m.fs.SyncDir(m.dir); err != nil {
		return err
	}
	return m.fs.SyncDir(filepath.Dir(filepath.Clean(m.dir)))
}

// load fills the catalog from the names.
func (m *mailbox) load() error {
	if err := m.loadNewest(); err != nil {
		return err
	}
	if err := m.clean(); err != nil {
		return err
	}
	entries, err := m.list()
	if err != nil {
		return err
	}
	rows := make([]catalog.Row, 0, len(entries))
	moved := [2]bool{}
	for i := range entries {
		e := &entries[i]
		if i > 0 && e.Base == entries[i-1].Base {
			continue // twice: see Check
		}
		r := rowOf(e)
		if file := fileOf(&r); file != e.File { // M4
			if err := m.fs.Rename(filepath.Join(m.path(r.Dir), e.File), filepath.Join(m.path(r.Dir), file)); err != nil {
				return err
			}
			moved[r.Dir] = true
		}
		m.last = max(m.last, microOf(r.Key))
		rows = append(rows, r)
	}
	for dir, moved := range moved {
		if moved {
			if err := m.fs.SyncDir(m.path(uint8(dir))); err != nil {
				return err
			}
		}
	}
	if len(rows) > 0 {
		m.newest = rows[len(rows)-1].Key
	}
	m.cat.Load(rows...)
	return nil
}

// list reads new/ and cur/ through the file layer, in the order of the names,
// what is in cur/ before what has the same base name in new/.
func (m *mailbox) list() ([]maildir.Entry, error) {
	var entries []maildir.Entry
	for _, dir := range []maildir.Dir{maildir.Cur, maildir.New} {
		names, err := m.fs.ReadDir(m.path(uint8(dir)))
		if err != nil {
			return nil, err
		}
		entries = slices.Grow(entries, len(names))
		for _, file := range names {
			n := maildir.Parse(file, maildir.Options{})
			if file[0] == '.' || n.Base == "" {
				continue // no message in any maildir
			}
			entries = append(entries, maildir.Entry{File: file, Base: n.Base, Dir: dir,
				Flags: n.Flags, Keywords: n.Keywords, Size: n.Size, VSize: n.VSize})
		}
	}
	maildir.SortBase(entries) // stable
	return entries, nil
}

func rowOf(e *maildir.Entry) catalog.Row {
	return catalog.Row{Key: e.Base, Flags: index.Flags(e.Flags), Keywords: e.Keywords, Dir: uint8(e.Dir),
		Size: e.Size, VSize: e.VSize, Date: catalog.NoDate}
}

// fileOf is the name of a message's file.
func fileOf(r *catalog.Row) string {
	return string(maildir.AppendFile(make([]byte, 0, len(r.Key)+16), r.Key, maildir.Dir(r.Dir), maildir.Flags(r.Flags), r.Keywords, maildir.Options{}))
}

func (m *mailbox) path(dir uint8) string {
	if dir == index.DirNew {
		return m.new
	}
	return m.cur
}

func (m *mailbox) file(r *catalog.Row) string { return filepath.Join(m.path(r.Dir), fileOf(r)) }

// clean removes what crashed deliveries left in tmp/ long ago (M1).
func (m *mailbox) clean() error {
	names, err := m.fs.ReadDir(m.tmp)
	if err != nil {
		return err
	}
	for _, file := range names {
		name := filepath.Join(m.tmp, file)
		st, err := m.fs.Stat(name)
		if err != nil || st.Dir || st.Odd {
			continue
		}
		begun := st.ModTime
		if named := time.UnixMicro(microOf(file)); named.After(begun) {
			begun = named
		}
		if m.now().Sub(begun) > tmpAge {
			m.fs.Remove(name) // best effort: it is in nobody's way
		}
	}
	return nil
}

// loadNewest reads what newestFile holds. One that cannot be understood is as
// good as none, and Check tells.
func (m *mailbox) loadNewest() error {
	micro, err := m.readNewest()
	if err == nil {
		m.noted = micro
		m.last = max(m.last, micro)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNewest) {
		return nil
	}
	return err
}

var errNewest = errors.New("not a time in microseconds")

func (m *mailbox) readNewest() (micro int64, err error) {
	name := filepath.Join(m.dir, newestFile)
	f, err := m.fs.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var b [32]byte
	n, _ := f.ReadAt(b[:], 0)
	text, ok := strings.CutSuffix(string(b[:n]), "\n")
	micro, err = strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || micro < 0 || micro > maxMicro {
		return 0, &fs.PathError{Op: "read", Path: name, Err: errNewest}
	}
	return micro, nil
}
