package fsys

import "fmt"

// An Op names a call of FS or File.
type Op uint8

const (
	OpOpen     Op = iota + 1 // FS.Open, FS.OpenFile
	OpRename                 // FS.Rename
	OpRemove                 // FS.Remove
	OpMkdir                  // FS.MkdirAll
	OpStat                   // FS.Stat, File.Size
	OpReadDir                // FS.ReadDir
	OpSyncDir                // FS.SyncDir
	OpRead                   // File.ReadAt
	OpWrite                  // File.Write, File.WriteAt
	OpSync                   // File.Sync, File.Datasync
	OpTruncate               // File.Truncate, and opening with O_TRUNC in a recording
	OpMap                    // File.Map
	OpClose                  // File.Close
	OpChtimes                // File.Chtimes
)

var opNames = [...]string{"none", "open", "rename", "remove", "mkdir", "stat", "readdir", "syncdir",
	"read", "write", "sync", "truncate", "map", "close", "chtimes"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Changes reports whether the call changes the file system or makes a change
// last: the points at which a crash test stops.
func (o Op) Changes() bool {
	switch o {
	case OpRename, OpRemove, OpMkdir, OpSyncDir, OpWrite, OpSync, OpTruncate, OpChtimes:
		return true
	}
	return false
}
