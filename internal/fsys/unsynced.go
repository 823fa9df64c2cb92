package fsys

import "io/fs"

// Unsynced makes under forget how to make things last: Sync, Datasync and
// SyncDir do nothing and do not reach under, so that a Counter or a recording
// below sees none. What was written survives the process, not the machine. It
// is how fsync=never is run: file formats call Sync as always.
func Unsynced(under FS) FS { return unsynced{under} }

type unsynced struct{ FS }

func (u unsynced) Open(name string) (File, error) { return unsync(u.FS.Open(name)) }

func (u unsynced) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return unsync(u.FS.OpenFile(name, flag, perm))
}

func (unsynced) SyncDir(string) error { return nil }

func unsync(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ File }

func (unsyncedFile) Sync() error     { return nil }
func (unsyncedFile) Datasync() error { return nil }
