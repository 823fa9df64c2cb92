package suite

import (
	"context"
	"fmt"
	"path/filepath"

	"mailbench/corpus"
	"mailbench/internal/temp"
)

// usesImage reports whether cold rows run on a copy of the mail in a private
// file system that is mounted anew before each sample: when asked for, and
// with every row unless the caches of the machine may be dropped.
func (r *Runner) usesImage() bool {
	switch r.cfg.LoopImage {
	case "on":
		return true
	case "off":
		return false
	}
	return r.cfg.Rows == "all" && !r.cfg.DropCaches
}

// imaged is f with its mail copied into the run's image, which is made when it
// is first asked for. An image that cannot be made skips the row.
func (r *Runner) imaged(f *fixture) (*fixture, error) {
	if r.cool == nil && r.coolErr == nil {
		if r.cool, r.coolErr = r.makeImage(f); r.coolErr != nil {
			r.coolErr = skip("no loop image, and cold without one needs -drop-caches: %v", r.coolErr)
		}
	}
	return r.cool, r.coolErr
}

func (r *Runner) makeImage(f *fixture) (*fixture, error) {
	if why := temp.CanImage(r.scratch); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	n, bytes, err := temp.Weigh(f.path)
	if err != nil {
		return nil, err
	}
	size := temp.ImageBytes(n, bytes)
	if free, err := temp.Free(r.scratch); err == nil && free < size {
		return nil, fmt.Errorf("the image takes up to %d MB, and %d MB are free in %s", size>>20, free>>20, r.cfg.Scratch)
	}
	im, err := temp.NewImage(r.scratch, size, n)
	if err != nil {
		return nil, err
	}
	r.image = im
	g := *f
	g.image, g.path = im, filepath.Join(im.Root(), "mail")
	if err := corpus.Clone(context.Background(), f.path, g.path, corpus.CloneCopy); err != nil {
		return nil, err
	}
	if err := f.single(g.path); err != nil {
		return nil, err
	}
	if err := im.Cool(); err != nil { // what was copied reaches the device here
		return nil, err
	}
	g.files, err = im.Files(g.path, "cur", "new")
	return &g, err
}

// closeImage ends the image; its device goes when the last of its files is
// closed.
func (r *Runner) closeImage() error {
	im := r.image
	r.image, r.cool = nil, nil
	if im == nil {
		return nil
	}
	r.imageTold = fmt.Sprintf("cold mail lay in a private ext4 on %s (%s), mounted anew %d times", im.Device, directly(im.Direct), im.Cooled)
	return im.Close()
}

func directly(direct bool) string {
	if direct {
		return "direct IO"
	}
	return "through the page cache of its file, which was evicted each time"
}
