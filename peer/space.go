package peer

import (
	"fmt"

	"mailbench/internal/temp"
	"mailbench/peer/clone"
)

// room is an error when the clones and indexes of the systems that are here will
// not fit in the directory of the run. It is an estimate, on the careful side:
// where blocks can be shared, or names linked, a clone costs its inodes, else its
// mail; an index a fifth of the mail, a full-text index as much as the mail;
// Cyrus always has a copy.
func room(o *Options) error {
	var here []System
	for _, s := range o.Systems {
		if s.Available() == nil {
			here = append(here, s)
		}
	}
	mail, err := temp.Files(o.Corpus, "cur", "new")
	if err != nil {
		return err
	}
	free, err := temp.Free(o.Dir.Path)
	if err != nil {
		return err
	}
	need := spaceNeeded(here, int64(mail.Len()), mail.Bytes(), sharesBlocks(o.Corpus, o.Dir.Path, o.Clone))
	if need > free {
		return fmt.Errorf("%s: %d systems need about %.1f GB there, %.1f GB are free: name fewer systems, -clone hardlink, or another -scratch",
			o.Dir.Path, len(here), float64(need)/1e9, float64(free)/1e9)
	}
	return nil
}

// spaceNeeded is what n messages of so many bytes take with these systems.
func spaceNeeded(systems []System, n, bytes int64, shared bool) (need int64) {
	const block = 4096
	full := bytes + n*block/2 + n*256 // half a block is lost at the end of each file
	for _, s := range systems {
		need += bytes / 5
		switch s.Name() {
		case "notmuch", "mu":
			need += bytes
		case "cyrus":
			need += full
			continue
		}
		if shared {
			need += n * 512
		} else {
			need += full
		}
	}
	return need
}

// sharesBlocks reports whether a clone of corpus in dir takes no space for its
// mail.
func sharesBlocks(corpus, dir string, mode CloneMode) bool {
	switch mode {
	case clone.Copy:
		return false
	case clone.Hardlink, clone.Reflink: // which fail where they cannot be
		return true
	}
	from, ferr := temp.Mount(corpus)
	to, terr := temp.Mount(dir)
	if ferr != nil || terr != nil || from.Device != to.Device {
		return false
	}
	return to.Type == "btrfs" || to.Type == "xfs" || to.Type == "bcachefs"
}
