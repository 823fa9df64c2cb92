package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

// Values of the index= axis.
const (
	indexNone = "none" // no index files: the first time
	indexCold = "cold" // index files exist, their data is evicted
	indexWarm = "warm" // index files are in the page cache, opened afresh in each sample
	indexOpen = "open" // the handle and its in-process cache live on
)

// A job is a row made ready: what a sample prepares, times and checks.
type job struct {
	design   string
	op       string // pprof label
	messages int    // of the mailbox
	works    int    // messages that the operation goes through, where that is not once each of the mailbox
	mails    temp.State
	files    *temp.Set // the mail whose temperature is controlled; nil: none is touched
	index    string
	dir      string // index directory; "" when the row has none
	stage    *stage // what dir is a copy of, when that is all a new process needs; else nil
	readsAll bool   // the operation reads every mail: nothing else proves cold

	reset  func() error               // before the temperature is made; nil: nothing to do
	run    func() error               // timed
	handle func() index.Mailbox       // what run asks, when that is open before it; nil: run opens it
	check  func() error               // after it: the answer is right
	after  func() error               // after check: release what run opened
	floor  func() (floor.Work, error) // the unavoidable part, at the same temperature; nil: none
	ops    int                        // what a run does that often: ns/op is of one; 0: once
	own    bool                       // it looks inside itself
	mbPerS int64                      // bytes a run goes through, for MB/s; 0: not a matter of bytes
	close  func() error

	indexSubs []string               // directories below dir that the sample reads; none: all of dir
	metrics   func(*result) []metric // the row's own; nil: none
}

// step runs f if there is one.
func step(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

// makeIndex brings the index files into the state the row names.
func (j *job) makeIndex(r *rand.Rand) error {
	if j.dir == "" {
		return nil
	}
	st := temp.Warm
	switch j.index {
	case indexCold:
		st = temp.NoData
	case indexWarm:
	default:
		return nil
	}
	set, err := temp.Files(j.dir, j.indexSubs...)
	if err != nil {
		return err
	}
	_, err = set.Make(st, r)
	return err
}

// unfit says why the row cannot be measured here, or "".
func (j *job) unfit(memory int64, mayDrop bool) string {
	if j.files != nil {
		if why := j.files.Unfit(j.mails, memory, mayDrop); why != "" {
			return why
		}
	}
	if j.dir != "" && j.index == indexCold {
		return temp.Missing(j.dir)
	}
	return ""
}

// A stage is an index made once and copied before each sample, so that no
// sample sees what the one before it wrote.
type stage struct{ base, dir, work string }

// newStage makes an empty pair of directories below the index directory.
func (r *Runner) newStage(name string) (*stage, error) {
	base, err := os.MkdirTemp(r.index, name+"-")
	if err != nil {
		return nil, err
	}
	s := &stage{base: base, dir: filepath.Join(base, "stage"), work: filepath.Join(base, "work")}
	if err := errors.Join(os.Mkdir(s.dir, 0o755), os.Mkdir(s.work, 0o755)); err != nil {
		return nil, err
	}
	if r.inherited != "" {
		s.dir = r.inherited
	}
	return s, nil
}

// reset makes work a synced copy of stage.
func (s *stage) reset() error {
	if err := clearDir(s.work); err != nil {
		return err
	}
	return copyTree(s.dir, s.work)
}

func (s *stage) close() error { return os.RemoveAll(s.base) }

func clearDir(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range names {
		if err := os.RemoveAll(filepath.Join(dir, d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies what is in the directory from to the directory to, synced.
func copyTree(from, to string) error {
	names, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, d := range names {
		a, b := filepath.Join(from, d.Name()), filepath.Join(to, d.Name())
		if d.IsDir() {
			err = errors.Join(os.Mkdir(b, 0o755), copyTree(a, b))
		} else {
			err = copyFile(a, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}

// dirBytes is the size of all files below dir: the suite's own walk, never
// what a design says of itself.
func dirBytes(dir string) (int64, error) {
	set, err := temp.Files(dir)
	if err != nil {
		return 0, err
	}
	return set.Bytes(), nil
}

// wantDigest compares an answer with the truth.
func wantDigest(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s: wrong answer: digest %s, want %s: refusing to print a time", what, got, want)
	}
	return nil
}

// openDesign opens design d on src with its index in dir. An existing
// dovecot-uidlist is left alone: the truth numbers messages by their names.
func openDesign(d index.Design, src index.Source, dir string, o index.Options) (index.Mailbox, error) {
	return openWatched(d, openConfig(src, dir, o))
}

func openConfig(src index.Source, dir string, o index.Options) index.Config {
	o.UIDList = "none"
	o.UIDValidity = 1
	return index.Config{Dir: dir, Source: src, Options: o}
}
