package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/maildir"
	"mailbench/store"
	"mailbench/store/box"
	maildirstore "mailbench/store/maildir"
)

// Config says what a Mailboxes serves.
type Config struct {
	Path     string       // of the mail: INBOX, and its subfolders below it
	Design   index.Design //
	IndexDir string       // of the index files; made when missing
	Store    store.Format // nil = the mail as it is: a maildir, an mbox, a message
	Write    bool         // without it nothing of the mail is ever changed
	Fsync    box.Fsync    // of what is written
	Options  index.Options
	Source   func(path string) (index.Source, error) // opens mail that is only read; nil = source.Open
	Synced   func() error                            // called once, when INBOX has been brought up to date; may be nil
	Literal  int64                                   // longest message that APPEND takes, in bytes; 0 = 64 MiB
}

// Mailboxes are the mailboxes of one user. Any number of connections may be
// served at once.
type Mailboxes struct {
	cfg   Config
	boxed bool // every mailbox is a Box from its opening on

	opened atomic.Int32 // folders with files open

	mu     sync.Mutex
	open   map[string]*folder
	closed bool
}

var (
	errClosed = errors.New("session: closed")
	errNoSuch = errors.New("no such mailbox")
)

// Open makes ready to serve. It opens no mail: the first command that needs it
// does.
func Open(cfg Config) (*Mailboxes, error) {
	if cfg.Source == nil {
		cfg.Source = func(path string) (index.Source, error) { return source.Open(path, source.Options{}) }
	}
	if cfg.Literal == 0 {
		cfg.Literal = 64 << 20
	}
	m := &Mailboxes{cfg: cfg, open: map[string]*folder{}}
	switch {
	case cfg.Store == nil && !cfg.Write:
	case cfg.Store == nil || cfg.Store.Name() == maildirstore.Format.Name():
		m.cfg.Store = maildirstore.Format
		if _, err := os.Stat(filepath.Join(cfg.Path, "cur")); err != nil && cfg.Store == nil {
			return nil, fmt.Errorf("session: %s is no maildir, and without a store nothing else is written to", cfg.Path)
		} else if errors.Is(err, fs.ErrNotExist) {
			if !cfg.Write {
				return nil, fmt.Errorf("session: %s is no maildir", cfg.Path)
			}
			m.boxed = true // it makes one
		}
	default:
		m.boxed = true
	}
	return m, nil
}

// Close closes every mailbox, when the commands on their way have ended. Every
// command after it is refused.
func (m *Mailboxes) Close() error {
	m.mu.Lock()
	m.closed = true
	open := m.open
	m.open = nil
	m.mu.Unlock()
	var errs []error
	for _, f := range open {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// folders lists the mailboxes that there are, INBOX first.
func (m *Mailboxes) folders() ([]maildir.Folder, error) {
	inbox := maildir.Folder{Name: "INBOX", Path: m.cfg.Path}
	if m.boxed && m.cfg.Store.Name() != maildirstore.Format.Name() {
		return []maildir.Folder{inbox}, nil
	}
	if st, err := os.Stat(m.cfg.Path); err != nil || !st.IsDir() {
		return []maildir.Folder{inbox}, nil
	}
	list, err := maildir.Folders(m.cfg.Path)
	if err == nil && (len(list) == 0 || list[0].Name != "INBOX") {
		list = append([]maildir.Folder{inbox}, list...)
	}
	return list, err
}

// maxOpen bounds the folders that have their files open though nobody has
// selected them: a client may ask for the STATUS of thousands.
const maxOpen = 100

// rest lets folders close their files when many have them open.
func (m *Mailboxes) rest() error {
	if m.opened.Load() < maxOpen {
		return nil
	}
	m.mu.Lock()
	all := make([]*folder, 0, len(m.open))
	for _, f := range m.open {
		all = append(all, f)
	}
	m.mu.Unlock()
	var errs []error
	for _, f := range all {
		if f.selected.Load() == 0 {
			errs = append(errs, f.rest())
		}
	}
	return errors.Join(errs...)
}

// folder opens the mailbox of a name, or finds it open. errNoSuch: there is none.
func (m *Mailboxes) folder(name string) (*folder, error) {
	if strings.EqualFold(name, "INBOX") {
		name = "INBOX"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errClosed
	}
	if f := m.open[name]; f != nil {
		return f, nil
	}
	f := &folder{m: m, name: name, path: m.cfg.Path, indexDir: m.cfg.IndexDir}
	if name != "INBOX" {
		dir, ok := m.folderDir(name)
		if !ok {
			return nil, errNoSuch
		}
		if st, err := os.Stat(filepath.Join(dir, "cur")); err != nil || !st.IsDir() {
			return nil, errNoSuch
		}
		f.path = dir
		f.indexDir = filepath.Join(m.cfg.IndexDir, "folders", filepath.Base(dir)[1:])
	} else {
		f.synced = m.cfg.Synced
	}
	m.open[name] = f
	return f, nil
}
