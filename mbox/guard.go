package mbox

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"
)

// ErrUnreadable reports a page of a mapped file that the system could not
// deliver although the file has not changed: a device or a network that fails.
var ErrUnreadable = errors.New("mbox: the device could not deliver the file")

// Guard calls fn, which reads Data. If another process cuts a mapped file in
// the meantime, the system answers the read with a signal (SIGBUS) that would
// end the process, and if it writes another text over it, an index into the
// bytes may hold no more: Guard makes ErrChanged out of both, but only if the
// file is seen to have changed since Open, or was so young then that its time
// would not tell. A page of an unchanged file that cannot be read is
// ErrUnreadable. Every other panic passes: it is an error of the program. It
// costs some ten nanoseconds, one Stat after a panic, and does not allocate.
func (f *File) Guard(fn func()) (err error) {
	if !f.mapped {
		fn()
		return nil
	}
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		oops, ok := r.(runtime.Error)
		if !ok {
			panic(r)
		}
		inside, fault := f.faulted(oops)
		switch {
		case fault && !inside: // not the file's memory
			panic(r)
		case f.changed():
			err = ErrChanged
		case fault:
			err = ErrUnreadable
		default:
			panic(r)
		}
	}()
	fn()
	return nil
}

// faulted tells whether err is about an address that could not be read, and
// whether that lies in the mapped file.
func (f *File) faulted(err runtime.Error) (inside, fault bool) {
	at, ok := err.(interface{ Addr() uintptr })
	if !ok {
		return false, false
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
	return at.Addr() >= begin && at.Addr()-begin < uintptr(len(f.data)), true
}

// tooYoung is the age below which the next change of a file may leave its
// modification time as it is: the clock of a file system ticks.
const tooYoung = 50 * time.Millisecond

// changed looks at the file again.
func (f *File) changed() bool {
	now, err := f.o.FS.Stat(f.path)
	was := f.info
	return err != nil || f.young || now.Size != was.Size || !now.ModTime.Equal(was.ModTime) || now.Ino != was.Ino || now.Dev != was.Dev
}
