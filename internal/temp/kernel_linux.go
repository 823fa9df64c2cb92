package temp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// noAtime remembers whether O_NOATIME was refused (files of somebody else).
var noAtime atomic.Bool

func init() { noAtime.Store(true) }

// openQuiet opens for reading without touching the access time where the
// owner of the file allows that.
func openQuiet(path string) (*os.File, error) {
	if noAtime.Load() {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOATIME, 0)
		if err == nil || !errors.Is(err, unix.EPERM) {
			return f, err
		}
		noAtime.Store(false)
	}
	return os.Open(path)
}

func evict(f *os.File) error {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("temp: fadvise %s: %w", f.Name(), err)
	}
	return nil
}

// noReadAhead keeps the kernel from fetching more than is asked for.
func noReadAhead(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM)
}

func syncFS(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("temp: %w", err)
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("temp: syncfs %s: %w", path, err)
	}
	return nil
}

// noCachestat remembers that the kernel is older than 6.5 or forbids the call.
var noCachestat atomic.Bool

// Method names the system call that residency is asked with.
func Method() string {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return "none"
	}
	defer f.Close()
	if _, _, err := residentPages(f); err != nil {
		return "none"
	}
	if noCachestat.Load() {
		return "mincore"
	}
	return "cachestat"
}

func residentPages(f *os.File) (pages, resident int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	size := info.Size()
	if size == 0 {
		return 0, 0, nil
	}
	page := int64(os.Getpagesize())
	pages = (size + page - 1) / page
	if !noCachestat.Load() {
		var st unix.Cachestat_t
		err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Off: 0, Len: uint64(size)}, &st, 0)
		if err == nil {
			return pages, min(int64(st.Cache), pages), nil
		}
		if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
			return pages, 0, err
		}
		noCachestat.Store(true)
	}
	resident, err = mincore(f, size, pages)
	return pages, resident, err
}

// Missing says in one line why nothing below path can be shown cold or
// evicted, or returns "" when it can.
func Missing(path string) string {
	m, err := Mount(path)
	if err != nil {
		return err.Error()
	}
	if m.Memory() {
		return fmt.Sprintf("%s is on %s, where nothing gets cold", path, m.Type)
	}
	if Method() == "none" {
		return "the kernel does not tell what is in the page cache (cachestat and mincore refused)"
	}
	return ""
}

// CanDrop says in one line why the caches of the machine cannot be dropped,
// or returns "" when they can.
func CanDrop() string {
	f, err := os.OpenFile("/proc/sys/vm/drop_caches", os.O_WRONLY, 0)
	if err != nil {
		return "drop_caches: " + err.Error()
	}
	f.Close()
	return ""
}

// Drop writes everything out and drops the page cache, names and inodes of
// the whole machine. Only on the user's request.
func Drop() error {
	unix.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0); err != nil {
		return fmt.Errorf("temp: %w", err)
	}
	return nil
}

// A MountInfo says what a path lies on.
type MountInfo struct {
	Type    string // ext4, xfs, tmpfs ...
	Device  string
	Options string
}

// Memory reports a file system without a device below it.
func (m MountInfo) Memory() bool {
	switch m.Type {
	case "tmpfs", "ramfs", "devtmpfs", "hugetlbfs":
		return true
	}
	return false
}

// Mount finds the file system of path (or of its nearest existing parent) in
// /proc/self/mountinfo by device number.
func Mount(path string) (MountInfo, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return MountInfo{}, fmt.Errorf("temp: %w", err)
	}
	for {
		if _, err := os.Stat(abs); err == nil || abs == "/" {
			break
		}
		abs = filepath.Dir(abs)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return mountOf(abs)
}
