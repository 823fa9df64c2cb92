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
// index is in it, and of which design. Two mailboxes in one directory would
// take it over from each other with every command, and renumber their mail each
// time; two designs have files of the same names.
const identityFile = "mailbench.source"

// An identity is what a mailbox is known by: its path, or, when that has
// changed, the file or directory that it is.
type identity struct {
	path     string
	dev, ino uint64
	design   string // of the index; "": not told, as before there were such lines
}

func identityOf(src index.Source, design string) (identity, error) {
	path, err := filepath.Abs(src.Path())
	if err != nil {
		return identity{}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := fsys.OS.Stat(path)
	return identity{path, info.Dev, info.Ino, design}, err
}

func (a identity) same(b identity) bool {
	return a.path == b.path || a.ino != 0 && a.ino == b.ino && a.dev == b.dev
}

func (a identity) String() string {
	text := fmt.Sprintf("path %q\nfile %d %d\n", a.path, a.dev, a.ino)
	if a.design != "" {
		text += fmt.Sprintf("design %q\n", a.design)
	}
	return text
}

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
	fmt.Sscanf(string(b), "path %q\nfile %d %d\ndesign %q", &a.path, &a.dev, &a.ino, &a.design)
	if a.text() != string(b) { // the proof, which an old one without a design passes though Sscanf fails
		return identity{}, false, &index.CorruptError{File: name, What: "identity of the mailbox"}
	}
	return a, true, nil
}

// claim refuses an index directory that belongs to another mailbox or design.
func (m *mailbox) claim(where place) error {
	mine, err := identityOf(m.src, m.design)
	if err != nil {
		return err
	}
	other, ok, err := readIdentity(m.dir)
	if errors.Is(err, index.ErrCorrupt) {
		return nil // says nothing; sign writes it anew
	}
	switch {
	case err != nil || !ok:
		return err
	case mine.same(other) && (other.design == "" || other.design == m.design):
		return nil
	case mine.same(other) && where.there():
		return fmt.Errorf("no index of design %s in %s: what it holds is one of design %s", m.design, m.dir, other.design)
	case mine.same(other):
		return fmt.Errorf("-index-dir: %s holds an index of design %s, not of %s: name another directory", m.dir, other.design, m.design)
	}
	return fmt.Errorf("-index-dir: %s holds the index of %s, not of %s (if they are the same mailbox, remove %s)",
		m.dir, other.path, mine.path, filepath.Join(m.dir, identityFile))
}

// sign writes whose index is in the directory, unless that is there.
func (m *mailbox) sign() error {
	mine, err := identityOf(m.src, m.design)
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
