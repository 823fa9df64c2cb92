package temp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincoreVec is mincore(2), which x/sys does not wrap on Linux.
func mincoreVec(m, vec []byte) error {
	_, _, e := unix.Syscall(unix.SYS_MINCORE,
		uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), uintptr(unsafe.Pointer(&vec[0])))
	if e != 0 {
		return e
	}
	return nil
}
