package suite

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// A watch looks into one sample: the clocks of its phases, the calls to the
// files of the index, and what the design counts itself.
type watch struct {
	phases  index.Phases
	files   *fsys.Counter
	sources []index.Recorder
	opened  []index.Mailbox
}

// watching is the watch over the sample that is being taken; nil: none is, and
// nothing of this is in what is timed.
var watching atomic.Pointer[watch]

// openWatched opens a design, under watch if there is one.
func openWatched(d index.Design, cfg index.Config) (index.Mailbox, error) {
	w := watching.Load()
	if w == nil {
		return d.Open(cfg)
	}
	cfg.FS, cfg.Phases = clockedFS{w.files, &w.phases}, &w.phases
	if src, ok := cfg.Source.(index.Recorder); ok {
		src.Record(&w.phases)
		w.sources = append(w.sources, src)
	}
	mb, err := d.Open(cfg)
	if err == nil {
		w.opened = append(w.opened, mb)
	}
	return mb, err
}

// formatting is the span in which an answer is written out.
func formatting() index.Span {
	if w := watching.Load(); w != nil {
		return w.phases.Begin(index.PhaseFormat)
	}
	return index.Span{}
}

// lookInside takes one more sample of a row, under watch, with -metrics all.
// Its time counts for nothing.
func (r *Runner) lookInside(j *job, res *result, rnd *rand.Rand) error {
	if r.cfg.Metrics != "all" || j.design == "" || j.own {
		return nil
	}
	if err := step(j.reset); err != nil {
		return err
	}
	var heat result
	if err := j.heat(&heat, rnd); err != nil {
		return nil // the samples have been taken; this one is no matter of temperature
	}
	w := &watch{files: fsys.Counting(fsys.OS)}
	var before map[string]int64
	if j.handle != nil {
		w.opened = append(w.opened, j.handle())
		before = countsOf(w.opened[0])
	}
	watching.Store(w)
	err := j.run()
	watching.Store(nil)
	for _, src := range w.sources {
		src.Record(nil)
	}
	if err == nil {
		res.inside = w.metrics(before, j.handle == nil)
		err = step(j.check)
	}
	if aerr := step(j.after); err == nil {
		err = aerr
	}
	if err != nil {
		return fmt.Errorf("%s, watched: %w", j.op, err)
	}
	return nil
}

// metrics are what the watch saw; files tells whether it saw the index files.
func (w *watch) metrics(before map[string]int64, files bool) []metric {
	var out []metric
	add := func(n int64, unit string) {
		if n != 0 {
			out = append(out, metric{unit, float64(n)})
		}
	}
	for p := range index.NumPhases {
		add(w.phases.Total(p).Nanoseconds(), p.String()+"-ns/op")
	}
	mails, bytes := w.phases.Mails()
	if files {
		c := w.files.Counts()
		for _, m := range []metric{
			{"opens/op", float64(c.Opens)}, {"reads/op", float64(c.Reads)}, {"writes/op", float64(c.Writes)},
			{"syncs/op", float64(c.Syncs + c.SyncDirs)}, {"maps/op", float64(c.Maps)}, {"renames/op", float64(c.Renames)},
			{"read-B/op", float64(c.BytesRead)}, {"mapped-B/op", float64(c.BytesMapped)}, {"written-B/op", float64(c.BytesWritten)},
		} {
			add(int64(m.value), m.unit)
		}
	}
	sum := map[string]int64{"mails-opened": mails, "mail": bytes}
	for _, mb := range w.opened {
		for name, n := range countsOf(mb) {
			if name != "mails-opened" || mails == 0 { // else the mail itself has told
				sum[name] += n - before[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		unit := name + "/op"
		if name == "mail" {
			unit = "mail-B/op"
		}
		add(sum[name], unit)
	}
	return out
}

// countsOf asks a mailbox that may be closed already: then there may be
// nothing left that could tell.
func countsOf(mb index.Mailbox) (counts map[string]int64) {
	c, ok := mb.(index.Counter)
	if !ok {
		return nil
	}
	defer func() {
		if recover() != nil {
			counts = nil
		}
	}()
	return c.Counts()
}

// A clockedFS tells how long an index waits for its files.
type clockedFS struct {
	fsys.FS
	p *index.Phases
}

func (c clockedFS) file(f fsys.File, err error) (fsys.File, error) {
	if err != nil {
		return nil, err
	}
	return clockedFile{f, c.p}, nil
}

func (c clockedFS) Open(name string) (fsys.File, error) {
	defer c.p.Begin(index.PhaseLoad).End()
	return c.file(c.FS.Open(name))
}

func (c clockedFS) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	defer c.p.Begin(index.PhaseLoad).End()
	return c.file(c.FS.OpenFile(name, flag, perm))
}

func (c clockedFS) Rename(oldname, newname string) error {
	defer c.p.Begin(index.PhaseWrite).End()
	return c.FS.Rename(oldname, newname)
}

func (c clockedFS) Remove(name string) error {
	defer c.p.Begin(index.PhaseWrite).End()
	return c.FS.Remove(name)
}

func (c clockedFS) SyncDir(dir string) error {
	defer c.p.Begin(index.PhaseWrite).End()
	return c.FS.SyncDir(dir)
}

type clockedFile struct {
	fsys.File
	p *index.Phases
}

func (f clockedFile) ReadAt(b []byte, off int64) (int, error) {
	defer f.p.Begin(index.PhaseLoad).End()
	return f.File.ReadAt(b, off)
}

func (f clockedFile) Map() (*fsys.Mapping, error) {
	defer f.p.Begin(index.PhaseLoad).End()
	return f.File.Map()
}

func (f clockedFile) WriteAt(b []byte, off int64) (int, error) {
	defer f.p.Begin(index.PhaseWrite).End()
	return f.File.WriteAt(b, off)
}

func (f clockedFile) Write(b []byte) (int, error) {
	defer f.p.Begin(index.PhaseWrite).End()
	return f.File.Write(b)
}

func (f clockedFile) Sync() error {
	defer f.p.Begin(index.PhaseWrite).End()
	return f.File.Sync()
}

func (f clockedFile) Datasync() error {
	defer f.p.Begin(index.PhaseWrite).End()
	return f.File.Datasync()
}

func (f clockedFile) Truncate(size int64) error {
	defer f.p.Begin(index.PhaseWrite).End()
	return f.File.Truncate(size)
}
