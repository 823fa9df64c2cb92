package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// identityFile says in a directory that the user named with -index-dir whose
// index is in it. Two mailboxes in one directory would take it over from each
// other with every command, and renumber their mail each time.
const identityFile = "mailbench.source"

// An identity is what a mailbox is known by: its path, or, when that has
// changed, the file or directory that it is.
type identity struct {
	path     string
	dev, ino uint64
}

func identityOf(src index.Source) (identity, error) {
	path, err := filepath.Abs(src.Path())
	if err != nil {
		return identity{}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := fsys.OS.Stat(path)
	return identity{path, info.Dev, info.Ino}, err
}

func (a identity) same(b identity) bool {
	return a.path == b.path || a.ino != 0 && a.ino == b.ino && a.dev == b.dev
}

func (a identity) String() string { return fmt.Sprintf("path %q\nfile %d %d\n", a.path, a.dev, a.ino) }

// text is what the file holds: the identity and a checksum of it.
func (a identity) text() string {
	return fmt.Sprintf("%ssum %016x\n", a, xxhash.Sum64String(a.String()))
}

// readIdentity reads dir's; ok is false when there is none. A damaged one is a
// *index.CorruptError.
func readIdentity(dir string) (a identity, ok bool, err error) {
	name := filepath.Join(dir, identityFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	if _, err := fmt.Sscanf(string(b), "path %q\nfile %d %d", &a.path, &a.dev, &a.ino); err != nil || a.text() != string(b) {
		return identity{}, false, &index.CorruptError{File: name, What: "identity of the mailbox"}
	}
	return a, true, nil
}

// claim refuses an index directory that belongs to another mailbox.
func (m *mailbox) claim() error {
	mine, err := identityOf(m.src)
	if err != nil {
		return err
	}
	other, ok, err := readIdentity(m.dir)
	if errors.Is(err, index.ErrCorrupt) {
		return nil // says nothing; sign writes it anew
	}
	if err != nil || !ok || mine.same(other) {
		return err
	}
	return fmt.Errorf("-index-dir: %s holds the index of %s, not of %s (if they are the same mailbox, remove %s)",
		m.dir, other.path, mine.path, filepath.Join(m.dir, identityFile))
}

// sign writes whose index is in the directory, unless that is there.
func (m *mailbox) sign() error {
	mine, err := identityOf(m.src)
	if err != nil {
		return err
	}
	if was, ok, err := readIdentity(m.dir); err != nil && !errors.Is(err, index.ErrCorrupt) || ok && was == mine {
		return err
	}
	return fsys.WriteFileAtomic(fsys.OS, filepath.Join(m.dir, identityFile), func(w io.Writer) error {
		_, err := io.WriteString(w, mine.text())
		return err
	})
}

// hasIndex reports whether dir has files of an index.
func hasIndex(dir string) (bool, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), identityFile) && f.Name() != lockFile {
			return true, nil
		}
	}
	return false, err
}
