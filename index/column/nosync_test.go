package column

import (
	"io/fs"

	"mailbench/internal/fsys"
)

// noSync is the operating system without waiting for the device: tests that
// write thousands of files do not test the device.
type noSync struct{ fsys.FS }

type noSyncFile struct{ fsys.File }

func (noSyncFile) Sync() error     { return nil }
func (noSyncFile) Datasync() error { return nil }

var fast fsys.FS = noSync{fsys.OS}

func (n noSync) SyncDir(string) error { return nil }

func (n noSync) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	f, err := n.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

func (n noSync) Open(name string) (fsys.File, error) {
	f, err := n.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}
