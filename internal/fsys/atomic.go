package fsys

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

const tempMark = ".tmp-"

var tempSeq atomic.Uint64

// WriteFileAtomic replaces name by what write produces, so that after a crash
// the old or the new file is there, whole: a temporary file in the same
// directory, write, fsync, rename, fsync of the directory. Writes are gathered
// into 64 KiB. After an error the old file is untouched, except when the last
// fsync of the directory failed: then either may be found after a crash.
func WriteFileAtomic(fs FS, name string, write func(w io.Writer) error) (err error) {
	temp := TempName(name)
	f, err := fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if f != nil {
			f.Close()
		}
		if err != nil {
			fs.Remove(temp)
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	closing := f
	f = nil
	if err = closing.Close(); err != nil {
		return err
	}
	if err = fs.Rename(temp, name); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(name)) // should it fail, the deferred Remove finds no temporary
}

// TempName makes a name beside name for what will be renamed to it: one that
// no other writer uses, in this process or another.
func TempName(name string) string {
	return fmt.Sprintf("%s%s%d-%d", name, tempMark, os.Getpid(), tempSeq.Add(1))
}

// IsTemp reports whether a file name is one that TempName made.
func IsTemp(name string) bool {
	_, tail, ok := strings.Cut(filepath.Base(name), tempMark)
	return ok && tail != "" && strings.Trim(tail, "0123456789-") == ""
}

// RemoveTemps removes what crashed writers left in dir: temporaries older than
// age (younger ones may belong to a writer at work). It returns how many went.
func RemoveTemps(fs FS, dir string, age time.Duration) (removed int, err error) {
	names, err := fs.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, base := range names {
		if !IsTemp(base) {
			continue
		}
		name := filepath.Join(dir, base)
		st, err := fs.Stat(name)
		if err != nil || time.Since(st.ModTime) < age {
			continue
		}
		if fs.Remove(name) == nil {
			removed++
		}
	}
	return removed, nil
}
