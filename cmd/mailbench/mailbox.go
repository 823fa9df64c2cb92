package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/urfave/cli/v2"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/internal/fsys"
	"mailbench/internal/tempdir"
	"mailbench/mbox"
)

// mailboxFlags are the flags of every command that opens a mailbox.
func mailboxFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.StringFlag{Name: "design", Value: "column", Usage: "index design to use: " + strings.Join(designs.Names(), ", ")},
		&cli.StringFlag{Name: "index-dir", Usage: "`DIR`ectory of the index files (default: a temporary one, removed afterwards; for index and session, one kept below the cache directory)"},
		&cli.StringFlag{Name: "uidlist", Usage: "adopt the UIDs of this dovecot-uidlist `FILE` (default: the maildir's own; none: adopt nothing)"},
		&cli.StringFlag{Name: "dialect", Value: "mboxrd", Usage: "of an mbox: mboxrd, mboxo, mboxcl, mboxcl2"},
		&cli.StringFlag{Name: "compat", Value: "rfc", Usage: "whose reading to follow where they differ: rfc, dovecot"},
		&cli.StringFlag{Name: "fields", Value: "thread", Usage: "what to cache: thread, envelope"},
		&cli.StringFlag{Name: "answers", Value: "stored", Usage: "whether trees and orders are kept: stored, computed"},
	)
}

// A mailbox is an opened source and its index.
type mailbox struct {
	src    index.Source
	mb     index.Mailbox
	dir    string
	temp   *tempdir.Dir // of dir, when that goes with the mailbox; nil: dir stays
	unlock func()       // nil: dir is nobody else's
	named  bool         // dir is the user's -index-dir
	design string
	open   func() (index.Mailbox, error)
}

// onlyPath returns the command's one argument.
func onlyPath(c *cli.Context) (string, error) {
	for _, a := range c.Args().Slice()[min(1, c.NArg()):] {
		if strings.HasPrefix(a, "-") {
			return "", fmt.Errorf("%s: %s: flags stand before the PATH", commandName(c), a)
		}
	}
	if c.NArg() != 1 {
		return "", fmt.Errorf("%s: want one PATH, got %d arguments (see mailbench %s --help)", commandName(c), c.NArg(), commandName(c))
	}
	return c.Args().First(), nil
}

// commandName is what the user says after mailbench: "index info".
func commandName(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ")
}

// openSource opens the mail at path as the flags say.
func openSource(c *cli.Context, path string) (index.Source, error) {
	o := source.Options{}
	if name := c.String("dialect"); name != "" {
		d, err := mbox.ParseDialect(name)
		if err != nil {
			return nil, fmt.Errorf("-dialect: %w", err)
		}
		o.Dialect = d
	}
	var err error
	if o.TempDir, err = cacheDir("tmp"); err != nil {
		return nil, err
	}
	return source.Open(path, o)
}

// A place is where a command has its index.
type place uint8

const (
	forNow  place = iota // in -index-dir, else in a directory that goes again
	forGood              // in -index-dir, else below the cache directory
	asMade               // the same, but it must be there
	asItIs               // and nothing is made or changed
)

// there reports whether a command wants an index that exists.
func (p place) there() bool { return p == asMade || p == asItIs }

// openMailbox opens the mail at path and its index, not yet synced.
func openMailbox(c *cli.Context, path string, where place) (*mailbox, error) {
	o, err := indexOptions(c)
	if err != nil {
		return nil, err
	}
	d, ok := designs.Lookup(c.String("design"))
	if !ok {
		return nil, fmt.Errorf("-design: no design %q (there are %s)", c.String("design"), strings.Join(designs.Names(), ", "))
	}
	m := &mailbox{design: d.Name()}
	if m.src, err = openSource(c, path); err != nil {
		return nil, err
	}
	if err := m.pickDir(c.String("index-dir"), path, d.Name(), where); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if where.there() {
		ok, err := hasIndex(m.dir)
		if err == nil && !ok {
			err = fmt.Errorf("%s: no index of %s in %s (mailbench index build makes one)", commandName(c), path, m.dir)
		}
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	m.open = func() (index.Mailbox, error) {
		return d.Open(index.Config{Dir: m.dir, Source: m.src, Options: o})
	}
	if err := m.foreign(where); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	// One command at a time: what two of them found out about the mail would
	// meet in the same files.
	if m.temp == nil {
		if m.unlock, err = lockIndex(m.dir, where); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	if m.named {
		if err := m.claim(where); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	if err := m.reopen(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// reopen closes the index, if it is open, and opens it.
func (m *mailbox) reopen() error {
	if mb := m.mb; mb != nil {
		m.mb = nil
		if err := mb.Close(); err != nil {
			return err
		}
	}
	mb, err := m.open()
	if err == nil {
		m.mb = mb
	}
	return err
}

// foreign refuses a directory that the user names as that of an index which is
// to be changed, when its files are of something else. Nothing says so where
// there is a note of whose index it is, and where what is found is damaged.
func (m *mailbox) foreign(where place) error {
	if !m.named || where != asMade {
		return nil
	}
	if _, ok, err := readIdentity(m.dir); ok || err != nil {
		return nil // claim looks at it
	}
	mb, err := m.open()
	if err != nil {
		return err
	}
	defer mb.Close()
	if found(mb) != nil {
		return nil
	}
	probe := mailbox{mb: mb, dir: m.dir, design: m.design}
	return probe.hasFiles()
}

// hasFiles is an error if the index has no file but the one that every design
// has. Damage is looked for before: Stats may put a damaged file aside.
func (m *mailbox) hasFiles() error {
	if slices.ContainsFunc(m.mb.Stats(), func(s index.FileStat) bool { return s.Name != index.ValidityFile }) {
		return nil
	}
	return fmt.Errorf("no index of design %s in %s", m.design, m.dir)
}

// pickDir chooses where the index lies: as the user says, or for good below
// the cache directory, or in a directory that goes again.
func (m *mailbox) pickDir(flag, path, design string, where place) (err error) {
	switch {
	case flag != "":
		if source.Inside(path, flag) {
			return fmt.Errorf("-index-dir: %s lies inside the mail at %s, which is never written to", flag, path)
		}
		m.dir, m.named = flag, true
	case where != forNow:
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		base, err := cacheDir("index")
		if err != nil {
			return err
		}
		m.dir = filepath.Join(base, design, indexName(abs))
	default:
		base, err := cacheDir("tmp")
		if err != nil {
			return err
		}
		if m.temp, err = tempdir.Make(base, "index-"); err != nil {
			return err
		}
		// The directory itself is locked, which a design may do with its own.
		m.dir = filepath.Join(m.temp.Path, "index")
		return os.Mkdir(m.dir, 0o755)
	}
	if where.there() {
		return nil
	}
	return os.MkdirAll(m.dir, 0o755)
}

// lockFile is what commands lock in an index directory that stays. It is empty.
const lockFile = "mailbench.lock"

// lockIndex waits until no other command is at the index.
func lockIndex(dir string, where place) (unlock func(), err error) {
	name := filepath.Join(dir, lockFile)
	if where != asItIs {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o600)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	unlock, err = fsys.LockDir(name)
	if where == asItIs && errors.Is(err, fs.ErrNotExist) {
		return nil, nil // made by no command
	}
	return unlock, err
}

// indexName names the index of the mail at an absolute path: no two paths have
// the same name, and a long one has a name that file systems take.
func indexName(abs string) string {
	name := strings.NewReplacer("/", "%", "%", `\%`, `\`, `\\`).Replace(strings.Trim(abs, "/"))
	const longest = 200
	if len(name) > longest {
		name = fmt.Sprintf("%s%%%016x", name[:longest], xxhash.Sum64String(abs))
	}
	return name
}

// cacheDir makes a directory below the user's cache directory: never the
// temporary directory, which is often in memory.
func cacheDir(parts ...string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory: %w (set XDG_CACHE_HOME)", err)
	}
	dir := filepath.Join(append([]string{base, "mailbench"}, parts...)...)
	return dir, os.MkdirAll(dir, 0o755)
}

func indexOptions(c *cli.Context) (o index.Options, err error) {
	if o.Fields, err = oneOf(c, "fields", "thread", "envelope"); err != nil {
		return o, err
	}
	if o.Answers, err = oneOf(c, "answers", "stored", "computed"); err != nil {
		return o, err
	}
	compat, err := oneOf(c, "compat", "rfc", "dovecot")
	if compat == "dovecot" {
		o.Compat = index.CompatDovecot
	}
	if o.UIDList = c.String("uidlist"); o.UIDList != "" && o.UIDList != "none" {
		if uerr := usableUIDList(o.UIDList); uerr != nil {
			err = errors.Join(err, fmt.Errorf("-uidlist: %w", uerr))
		}
	}
	return o, err
}

// usableUIDList tells why no UIDs can be adopted from the file that the user
// named. (A bad one in a maildir is passed over: its UIDs are lost.)
func usableUIDList(name string) error {
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", name)
	}
	if st.Size() > index.MaxUIDList {
		return fmt.Errorf("%s: longer than %d MiB", name, index.MaxUIDList>>20)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if _, err := index.ParseUIDList(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func oneOf(c *cli.Context, name string, values ...string) (string, error) {
	got := c.String(name)
	for _, v := range values {
		if got == v {
			return v, nil
		}
	}
	return "", fmt.Errorf("-%s %s: want %s", name, got, strings.Join(values, " or "))
}

// Close closes index and mail, and removes a temporary index.
func (m *mailbox) Close() error {
	var errs []error
	if m.mb != nil {
		errs = append(errs, m.mb.Close())
	}
	errs = append(errs, m.src.Close())
	if m.temp != nil {
		errs = append(errs, m.temp.Remove())
	}
	if m.unlock != nil {
		m.unlock()
	}
	return errors.Join(errs...)
}

// unread tells of messages that are there and cannot be read, and what that
// means for the answer.
func unread(c *cli.Context, src index.Source, they string) error {
	u, ok := src.(interface{ Unreadable() ([]error, int) })
	if !ok {
		return nil
	}
	first, n := u.Unreadable()
	if n == 0 {
		return nil
	}
	for _, err := range first {
		fmt.Fprintln(c.App.ErrWriter, "mailbench: warning:", err)
	}
	return fmt.Errorf("%s: messages that cannot be read: %d; they %s", src.Path(), n, they)
}

// withMailbox opens, syncs, runs fn and closes.
func withMailbox(c *cli.Context, where place, fn func(*mailbox) error) error {
	path, err := onlyPath(c)
	if err != nil {
		return err
	}
	return onMailbox(c, path, where, fn)
}

// onMailbox opens, syncs, runs fn and closes. fn asks the index before it
// prints. An index that another process changes meanwhile is opened again, and
// so is, once, one that was found damaged: it has been put aside then and is
// built anew.
func onMailbox(c *cli.Context, path string, where place, fn func(*mailbox) error) error {
	const patience = 10
	damaged := false
	for try := 1; ; try++ {
		err := openedMailbox(c, path, where, fn)
		switch {
		case errors.Is(err, index.ErrStale) && try < patience:
			time.Sleep(time.Duration(try) * 10 * time.Millisecond)
		case errors.Is(err, index.ErrCorrupt) && !damaged:
			damaged = true
		default:
			return err
		}
	}
}

func openedMailbox(c *cli.Context, path string, where place, fn func(*mailbox) error) error {
	m, err := openMailbox(c, path, where)
	if err != nil {
		return err
	}
	if _, err = m.mb.Sync(); err == nil && m.named {
		err = m.sign()
	}
	if err == nil {
		err = fn(m)
	}
	// What can be read of a damaged file is answered, and then the damage told.
	if d, ok := m.src.(interface{ Damage() error }); ok && err == nil {
		err = d.Damage()
	}
	if err == nil {
		err = unread(c, m.src, "count as empty") // of size 0, in every answer
	}
	if cerr := m.Close(); err == nil {
		err = cerr
	}
	return err
}
