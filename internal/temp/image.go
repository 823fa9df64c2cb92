package temp

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// A Pauser holds files of an Image open. Pause closes them, Resume opens them
// again; both do nothing once the Pauser is closed for good.
type Pauser interface {
	Pause() error
	Resume() error
}

// Attach makes each later Cool pause p.
func (im *Image) Attach(p Pauser) { im.pausers = append(im.pausers, p) }

// Cool empties every cache of the image's files: data, names and inodes. It
// mounts the file system anew, which needs all of its files closed: those of
// attached Pausers are.
func (im *Image) Cool() error {
	paused := 0
	var err error
	for _, p := range im.pausers {
		if err = p.Pause(); err != nil {
			break
		}
		paused++
	}
	if err == nil {
		err = im.remount()
	}
	for _, p := range im.pausers[:paused] {
		err = errors.Join(err, p.Resume())
	}
	if err == nil {
		im.Cooled++
	}
	return err
}

// Files is Files of a directory in the image: its Cold is made by Cool, so it
// needs no permission to drop the caches of the machine.
func (im *Image) Files(dir string, sub ...string) (*Set, error) {
	s, err := Files(dir, sub...)
	if err == nil {
		s.image = im
	}
	return s, err
}

// ImageBytes is how large an image must be for n files of so many bytes
// together: whole blocks, inodes, names, and what the file system keeps for
// itself. Most of that stays a hole.
func ImageBytes(n int, bytes int64) int64 {
	const block, inode, name = 4096, 256, 200
	need := bytes + int64(n)*(block+inode+name)
	return need + need/8 + 64<<20
}

// Weigh counts the files below root and their bytes.
func Weigh(root string) (n int, bytes int64, err error) {
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		n++
		bytes += info.Size()
		return nil
	})
	return n, bytes, err
}
