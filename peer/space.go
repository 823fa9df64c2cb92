package peer

import (
	"fmt"

	"mailbench/internal/temp"
	"mailbench/peer/clone"
)

// Room is an error when the clones and indexes of the systems will not fit in
// dir. It is an estimate, on the careful side: where blocks can be shared, or
// names linked, a clone costs its inodes, else its mail; every index a fifth of
// the mail, a full-text index as much as the mail; Cyrus always has a copy.
func Room(systems []System, corpus, dir string, mode CloneMode) error {
	mail, err := temp.Files(corpus, "cur", "new")
	if err != nil {
		return err
	}
	free, err := temp.Free(dir)
	if err != nil {
		return err
	}
	need := spaceNeeded(systems, int64(mail.Len()), mail.Bytes(), sharesBlocks(corpus, dir, mode))
	if need > free {
		return fmt.Errorf("%s: %d systems need about %.1f GB there, %.1f GB are free: name fewer systems, -clone hardlink, or another -scratch",
			dir, len(systems), float64(need)/1e9, float64(free)/1e9)
	}
	return nil
}

// spaceNeeded is what n messages of so many bytes take.
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
