package sqlidx

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// A write that the engine calls a disk I/O error is told as a full disk, with
// the file's name, when the disk is full; other errors are not.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		code int
		left uint64
		want string // the file; "": no full disk
	}{
		{codeFull, 1 << 30, "d/x"}, // a quota, or freed meanwhile: the engine knows
		{4874, 0, "d/x-shm"},
		{4874, 40 << 10, "d/x-shm"},
		{4874, 1 << 30, ""},
		{codeWrite, 4096, "d/x"},
		{codeFsync, 0, "d/x"},
		{codeWrite, 1 << 30, ""},
		{codeShortRead, 0, ""},
		{codeIO | 1<<8, 0, ""}, // a read
		{codeCorrupt, 0, ""},
	} {
		err := full("d/x", c.code, "disk I/O error", func(string) (uint64, bool) { return c.left, true })
		var p *fs.PathError
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%d, %d bytes left: %v", c.code, c.left, err)
			}
		case !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &p) || p.Path != c.want:
			t.Errorf("%d, %d bytes left: %v", c.code, c.left, err)
		}
	}
	if err := full("d/x", codeWrite, "", func(string) (uint64, bool) { return 0, false }); err != nil {
		t.Error("nobody says that the disk is full:", err)
	}
}
