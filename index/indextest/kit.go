package indextest

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
)

type kit struct {
	d index.Design
	o Options
}

// needsFS ends a part that has to see the calls a design makes.
func (k *kit) needsFS(t T) {
	t.Helper()
	if index.AxesOf(k.d).OwnIO {
		t.Skip("its engine opens files itself: Config.FS sees no call to stop at")
	}
}

func (k *kit) rand(n uint64) *rand.Rand { return rand.New(rand.NewPCG(k.o.Seed, n)) }

// opened is a design's mailbox with the source it stands on.
type opened struct {
	index.Mailbox
	src index.Source
}

func (o *opened) Close() error {
	return errors.Join(o.Mailbox.Close(), o.src.Close())
}

// inner is the design's own mailbox, which may have more methods.
func inner(box index.Mailbox) index.Mailbox {
	if o, ok := box.(*opened); ok {
		return o.Mailbox
	}
	return box
}

// open opens the index of m in dir.
func (k *kit) open(m *mailbox, dir string, fsy fsys.FS) (*opened, error) {
	return k.openWith(m, dir, fsy, k.o.Index)
}

func (k *kit) openWith(m *mailbox, dir string, fsy fsys.FS, o index.Options) (*opened, error) {
	src, err := m.source()
	if err != nil {
		return nil, err
	}
	box, err := k.d.Open(index.Config{Dir: dir, FS: fsy, Source: src, Options: o})
	if err != nil {
		src.Close()
		return nil, err
	}
	return &opened{box, src}, nil
}

func (m *mailbox) source() (index.Source, error) {
	switch {
	case m.plain:
		return m.shelf.Plain(), nil
	case m.shelf != nil:
		return m.shelf, nil
	}
	return source.Open(m.path, source.Options{Kind: m.kind})
}

func (k *kit) mustOpen(t T, m *mailbox, dir string) *opened {
	t.Helper()
	box, err := k.open(m, dir, quick)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func mustSync(t T, box index.Mailbox) index.Changes {
	t.Helper()
	c, err := box.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustClose(t T, box index.Mailbox) {
	t.Helper()
	if err := box.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// build makes an index of m in dir, or brings it up to date, and asks it everything once.
func (k *kit) build(t T, m *mailbox, dir string) {
	t.Helper()
	box := k.mustOpen(t, m, dir)
	defer box.Close()
	mustSync(t, box)
	m.mustAnswer(t, box, false, "opened, synced")
}

func (m *mailbox) mustAnswer(t T, box index.Mailbox, few bool, when string) {
	t.Helper()
	wrong, err := m.answersWrong(box, few)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if wrong != "" {
		t.Fatalf("%s: %s", when, wrong)
	}
}

func mustCheck(t T, box index.Mailbox, when string) {
	t.Helper()
	for err := range box.Check() {
		t.Fatalf("%s: check: %v", when, err)
	}
}

// mustSurvive opens a damaged index: after a Sync, answers are right, perhaps
// after an error and another attempt.
func (k *kit) mustSurvive(t T, m *mailbox, dir, when string) {
	t.Helper()
	var last error
	for range 3 {
		box, err := k.open(m, dir, quick)
		if err != nil {
			last = err
			continue
		}
		_, err = box.Sync()
		wrong := ""
		if err == nil {
			wrong, err = m.answersWrong(box, true)
		}
		box.Close()
		if wrong != "" {
			t.Fatalf("%s: %s", when, wrong)
		}
		if err == nil {
			return
		}
		last = err
	}
	t.Fatalf("%s: never usable again: %v", when, last)
}

// quick is the operating system's files without waiting for the disk.
var quick fsys.FS = noSync{fsys.OS}

type noSync struct{ fsys.FS }

type noSyncFile struct{ fsys.File }

func (noSyncFile) Sync() error     { return nil }
func (noSyncFile) Datasync() error { return nil }

func (noSync) SyncDir(string) error { return nil }

func (n noSync) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	f, err := n.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

// files is a directory in memory, with what is below it: path -> bytes.
type files map[string]string

func readDir(t T, dir string) files {
	t.Helper()
	out := files{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// write puts the files into a new directory below root.
func (f files) write(t T, root string) string {
	t.Helper()
	dir, err := os.MkdirTemp(root, "x")
	if err != nil {
		t.Fatal(err)
	}
	f.into(t, dir)
	return dir
}

func (f files) into(t T, dir string) {
	t.Helper()
	for name, b := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
