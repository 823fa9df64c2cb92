package corpus

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// ErrNoSpace is wrapped by errors about a full disk, found before or while
// writing.
var ErrNoSpace = errors.New("corpus: not enough disk space")

// DiskBytes estimates, on the high side, what a corpus takes on a disk with
// 4 KiB blocks. format is "maildir" or "mbox".
func (s Spec) DiskBytes(format string) int64 {
	n := int64(s.Count())
	each := int64(1024)
	switch {
	case s.Shape == ManyRefs:
		each = 3 << 10
	case s.Shape != List:
	case s.Body == BodyShort:
		each = 7500
	case s.Body == BodyReal:
		each = 10500
	default:
		each = 5500
	}
	if format == "maildir" {
		each += 2100 + 100 // half a block, and the name
	}
	return n*each + 4<<20
}

// checkSpace compares what spec needs with what is free under dir.
func checkSpace(dir string, spec Spec, format string) error {
	free, inodes, err := freeSpace(dir)
	if err != nil {
		return nil // not knowing is no reason to refuse
	}
	if need := spec.DiskBytes(format); free >= 0 && need > free {
		return fmt.Errorf("%w: %s as %s needs about %s under %s, and %s are free", ErrNoSpace, spec, format, size(need), dir, size(free))
	}
	if need := int64(spec.Count()) + 10; format == "maildir" && inodes >= 0 && need > inodes {
		return fmt.Errorf("%w: %s as maildir needs %d inodes under %s, and %d are free", ErrNoSpace, spec, need, dir, inodes)
	}
	return nil
}

func size(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%d MB", (n+999_999)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// explain makes a full disk's error say where and when.
func explain(err error, path string, done int, spec Spec) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %s was full after %d of %d messages: %w", ErrNoSpace, filepath.Clean(path), done, spec.Count(), err)
	}
	return fmt.Errorf("corpus: writing %s: %w", filepath.Clean(path), err)
}
