package clone

import (
	"fmt"

	"golang.org/x/sys/unix"

	"mailbench/maildir"
)

// checkSpace compares what the clone needs with what is free there. Sizes are
// those that names tell (",S="); of names without, some are asked for and the
// others taken to be like them.
func (c *cloner) checkSpace() error {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(c.dst[inCur], &st) }); err != nil {
		return nil // not knowing is no reason to refuse
	}
	block := int64(st.Bsize)
	free := int64(st.Bavail) * block
	if unix.Geteuid() == 0 {
		free = int64(st.Bfree) * block
	}
	need, files := c.need(block)
	if need > free {
		return fmt.Errorf("%s needs about %s, and %s are free there", c.to, megabytes(need), megabytes(free))
	}
	if c.how != Hardlink && st.Files > 0 && files > int64(st.Ffree) {
		return fmt.Errorf("%s needs %d inodes, and %d are free there", c.to, files, st.Ffree)
	}
	return nil
}

// need estimates the bytes on a disk with such blocks, and counts files.
func (c *cloner) need(block int64) (bytes, files int64) {
	block = max(block, 1)
	const sample = 500
	for _, f := range c.src {
		var untold []string
		for _, e := range f.entries {
			bytes += int64(2*len(e.name)) + 32 // in its directory, half full
			files++
			switch size := maildir.Parse(e.name, maildir.Options{}).Size; {
			case c.how != Copy:
			case size >= 0:
				bytes += (size + block - 1) / block * block
			default:
				untold = append(untold, e.name)
			}
		}
		step := max(1, len(untold)/sample)
		var sum, asked int64
		for i := 0; i < len(untold); i += step {
			var st unix.Stat_t
			if again(func() error { return unix.Fstatat(f.fd, untold[i], &st, 0) }) == nil {
				sum += (st.Size + block - 1) / block * block
				asked++
			}
		}
		if asked > 0 {
			bytes += sum / asked * int64(len(untold))
		}
	}
	return bytes, files
}

func megabytes(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
