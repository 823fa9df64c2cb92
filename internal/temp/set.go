package temp

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
)

// A Set is the files whose temperature is controlled together: the messages
// of a mailbox, or the files of an index.
type Set struct {
	root  string
	files []string // full paths
	bytes int64
	image *Image // whose files they are; nil: of the machine's own file systems
}

// Files makes a Set of every regular file below root (root itself when it is
// a file), or below those of its directories sub that exist. It opens nothing.
// Cost: one readdir per directory and one lstat per file, which leaves names
// and inodes in the kernel's caches.
func Files(root string, sub ...string) (*Set, error) {
	s := &Set{root: root}
	if len(sub) == 0 {
		return s, s.walk(root, nil)
	}
	return s, s.walkAll(sub, nil)
}

// FilesIf is Files for those regular files alone that lie in a directory of sub
// itself, not below, and whose names are as keep says.
func FilesIf(keep func(name string) bool, root string, sub ...string) (*Set, error) {
	s := &Set{root: root}
	return s, s.walkAll(sub, keep)
}

func (s *Set) walkAll(sub []string, keep func(name string) bool) error {
	for _, dir := range sub {
		if err := s.walk(filepath.Join(s.root, dir), keep); ignoreGone(err) != nil {
			return err
		}
	}
	return nil
}

func (s *Set) walk(root string, keep func(name string) bool) error {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if keep != nil && d.IsDir() && path != root {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || keep != nil && !keep(d.Name()) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		s.files = append(s.files, path)
		s.bytes += info.Size()
		return nil
	})
	if err != nil {
		return fmt.Errorf("temp: listing %s: %w", root, err)
	}
	return nil
}

// Len returns the number of files.
func (s *Set) Len() int { return len(s.files) }

// Bytes returns the sum of the file sizes when the Set was made.
func (s *Set) Bytes() int64 { return s.bytes }

// Root returns the path the Set was made of.
func (s *Set) Root() string { return s.root }

// Canary draws a file of the Set at random; "" when the Set is empty.
func (s *Set) Canary(r *rand.Rand) string {
	if len(s.files) == 0 {
		return ""
	}
	return s.files[r.IntN(len(s.files))]
}

// Warm reads every file once, through a few descriptors at a time, so that
// its data, name and inode are cached. Cost: all bytes of the Set.
func (s *Set) Warm() error {
	return each(s.files, func(path string, buf []byte) error {
		f, err := openQuiet(path)
		if err != nil {
			return ignoreGone(err)
		}
		defer f.Close()
		for {
			n, err := f.Read(buf)
			if n == 0 || err != nil {
				return nil
			}
		}
	})
}

// Evict drops the data pages of every file and keeps names and inodes: one
// syncfs, because a dirty page is never dropped, then fadvise(DONTNEED) per
// file. Maps of the files must be gone before.
func (s *Set) Evict() error {
	if err := syncFS(s.root); err != nil {
		return err
	}
	return each(s.files, func(path string, _ []byte) error {
		f, err := openQuiet(path)
		if err != nil {
			return ignoreGone(err)
		}
		defer f.Close()
		return evict(f)
	})
}

// Residency is how much of a sample of files is in the page cache.
type Residency struct {
	Files           int
	Pages, Resident int64
}

// Share returns the resident share of the pages, 1 for no pages at all.
func (r Residency) Share() float64 {
	if r.Pages == 0 {
		return 1
	}
	return float64(r.Resident) / float64(r.Pages)
}

// over reports that more than limit of the pages are resident; never of no
// pages at all.
func (r Residency) over(limit float64) bool { return r.Pages > 0 && r.Share() > limit }

// Residency asks the kernel about up to max files, drawn at random without
// replacement (all of them when max is 0 or more than there are). Opening a
// file to ask reads its inode, so this cannot prove cold.
func (s *Set) Residency(max int, r *rand.Rand) (Residency, error) {
	idx := sample(len(s.files), max, r)
	var res Residency
	for _, i := range idx {
		f, err := openQuiet(s.files[i])
		if err != nil {
			if ignoreGone(err) == nil {
				continue
			}
			return res, err
		}
		pages, resident, err := residentPages(f)
		f.Close()
		if err != nil {
			return res, fmt.Errorf("temp: residency of %s: %w", s.files[i], err)
		}
		res.Files++
		res.Pages += pages
		res.Resident += resident
	}
	return res, nil
}

// sample draws k of 0..n-1 without replacement (Floyd's algorithm).
func sample(n, k int, r *rand.Rand) []int {
	if k <= 0 || k >= n {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	seen := make(map[int]bool, k)
	out := make([]int, 0, k)
	for j := n - k; j < n; j++ {
		i := r.IntN(j + 1)
		if seen[i] {
			i = j
		}
		seen[i] = true
		out = append(out, i)
	}
	return out
}

// ignoreGone forgives a file that vanished: a mailbox lives.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
