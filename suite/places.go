package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/internal/temp"
	"mailbench/internal/tempdir"
)

// makePlaces makes a directory for this run alone in the place of the index
// files and in that of the mail that is written. A place that cannot be
// written to, that is in memory, or that lies inside the user's mail is an
// error.
func (r *Runner) makePlaces() error {
	type place struct {
		flag, dir string
		mine      *string
	}
	places := []place{{"-index-dir", r.cfg.IndexDir, &r.index}, {"-scratch", r.cfg.Scratch, &r.scratch}}
	for _, g := range r.grounds[1:] {
		places = append(places, place{"-scratch", g.base, &g.dir})
	}
	defer func() { r.grounds[0].dir = r.scratch }()
	for _, p := range places {
		if err := r.fitPlace(p.flag, p.dir); err != nil {
			return err
		}
		err := os.MkdirAll(p.dir, 0o755)
		if err == nil {
			var d *tempdir.Dir // what a killed run left there goes first
			if d, err = tempdir.Make(p.dir, "run-"); err == nil {
				r.places, *p.mine = append(r.places, d), d.Path
			}
		}
		if err != nil {
			return fmt.Errorf("%s: cannot write there: %w", p.flag, err)
		}
	}
	return nil
}

// A standing is a directory of the run, and what rows call it.
type standing struct{ what, label, path string }

// standing lists the directories of the run. Those in which rows that write do
// it have the value of the axis that tells them apart, and where there are
// several a number in the order of -scratch and a name.
func (r *Runner) standing(f *fixture) []standing {
	out := []standing{{"mail", "", f.path}, {"index", "", r.cfg.IndexDir}}
	if r.otherDir {
		out[1].label = fmt.Sprintf("indexdir=other, %s, ", filepath.Base(r.cfg.IndexDir))
	}
	for i, g := range r.grounds {
		label := "fs=" + g.fs + ", "
		if len(r.grounds) > 1 {
			label = fmt.Sprintf("%sdirectory %d, %s, ", label, i+1, filepath.Base(g.base))
		}
		out = append(out, standing{"scratch", label, g.base})
	}
	return out
}

// fitPlace refuses a place in memory, or inside the user's mail.
func (r *Runner) fitPlace(flag, dir string) error {
	if err := r.outsideMail(flag, dir); err != nil {
		return err
	}
	if r.cfg.AllowTmpfs {
		return nil
	}
	if err := temp.OnDevice(dir); err != nil {
		return fmt.Errorf("%s: %w: name another directory, or say -allow-tmpfs", flag, err)
	}
	return nil
}

// outsideMail refuses a directory inside a user's mailbox, which is read only.
func (r *Runner) outsideMail(flag, dir string) error {
	if corpus.IsSpec(r.cfg.Corpus) {
		return nil
	}
	mail, err := fromPWD(r.cfg.Corpus)
	if err != nil {
		return err
	}
	if source.Inside(mail, dir) {
		return fmt.Errorf("%s: %s lies inside the mail at %s, which is never written to", flag, dir, mail)
	}
	return nil
}

// cleanup removes what the run wrote besides its caches.
func (r *Runner) cleanup() {
	if err := errors.Join(r.closeImage(), r.removePlaces()); err != nil {
		r.doubts = append(r.doubts, note{"cleanup", strings.ReplaceAll(err.Error(), "\n", "; ")})
	}
	r.index, r.scratch, r.clone, r.pasts, r.grown, r.many = "", "", nil, nil, nil, nil
}

func (r *Runner) removePlaces() (err error) {
	for _, d := range r.places {
		err = errors.Join(err, d.Remove())
	}
	r.places = nil
	return err
}

// removeBusyPlaces is removePlaces while rows go on.
func (r *Runner) removeBusyPlaces() {
	for _, d := range r.places {
		_ = d.RemoveBusy() // the next run removes what is left
	}
}
