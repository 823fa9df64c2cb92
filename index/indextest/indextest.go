// Package indextest is the conformance kit of index designs: one call from a
// design's test file.
//
//	func TestConformance(t *testing.T) { indextest.Run(t, column.Design) }
//
// It plays random histories on scratch maildirs against a plain model and the
// naive oracle, damages every file of small indexes, and stops at every call
// that changes a file. Seeds are printed; Options.Seed replays one.
package indextest

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
)

// Options of a run.
type Options struct {
	Index      index.Options // given to the design
	Seed       uint64        // 0: a fresh one
	Exhaustive bool          // flip every byte, crash at every call (also by MAILBENCH_EXHAUSTIVE=1); else a sample
}

// Run holds a design to everything that a design promises.
func Run(t *testing.T, d index.Design) {
	t.Helper()
	RunOptions(t, d, Options{})
}

// RunOptions is Run with options.
func RunOptions(t *testing.T, d index.Design, o Options) {
	t.Helper()
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	if os.Getenv("MAILBENCH_EXHAUSTIVE") != "" {
		o.Exhaustive = true
	}
	t.Logf("design %s, seed %d", d.Name(), o.Seed)
	k := &kit{d: d, o: o}
	for _, c := range []struct {
		name string
		run  func(t *testing.T, k *kit)
	}{
		{"History", history}, {"Rebuilt", rebuilt}, {"Reopened", reopened}, {"SameSecond", sameSecond},
		{"Swapped", swapped}, {"TwoReaders", twoReaders}, {"Flipped", flipped}, {"Torn", torn}, {"Crashed", crashed}, {"NoSpace", noSpace},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, k) })
	}
}

type kit struct {
	d index.Design
	o Options
}

// needsFS ends a part that has to see the calls a design makes.
func (k *kit) needsFS(t *testing.T) {
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
	err := o.Mailbox.Close()
	o.src.Close()
	return err
}

// open opens the index of m in dir.
func (k *kit) open(m *mailbox, dir string, fsy fsys.FS) (*opened, error) {
	src, err := source.Open(m.path, source.Options{})
	if err != nil {
		return nil, err
	}
	box, err := k.d.Open(index.Config{Dir: dir, FS: fsy, Source: src, Options: k.o.Index})
	if err != nil {
		src.Close()
		return nil, err
	}
	return &opened{box, src}, nil
}

func (k *kit) mustOpen(t *testing.T, m *mailbox, dir string) *opened {
	t.Helper()
	box, err := k.open(m, dir, quick)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func mustSync(t *testing.T, box index.Mailbox) index.Changes {
	t.Helper()
	c, err := box.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// build makes an index of m in dir and asks it everything once.
func (k *kit) build(t *testing.T, m *mailbox, dir string) {
	t.Helper()
	box := k.mustOpen(t, m, dir)
	defer box.Close()
	mustSync(t, box)
	m.mustAnswer(t, box, false, "first build")
}

func (m *mailbox) mustAnswer(t *testing.T, box index.Mailbox, few bool, when string) {
	t.Helper()
	wrong, err := m.answersWrong(box, few)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if wrong != "" {
		t.Fatalf("%s: %s", when, wrong)
	}
}

func mustCheck(t *testing.T, box index.Mailbox, when string) {
	t.Helper()
	for err := range box.Check() {
		t.Fatalf("%s: check: %v", when, err)
	}
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

func readDir(t *testing.T, dir string) files {
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
func (f files) write(t *testing.T, root string) string {
	t.Helper()
	dir, err := os.MkdirTemp(root, "x")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
