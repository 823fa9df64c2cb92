package fsys

import "golang.org/x/sys/unix"

// Space is how many bytes this user may still write to the file system of dir;
// ok false: that is not told. Quotas are not looked at.
func Space(dir string) (bytes uint64, ok bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
