package mbox

import (
	"runtime"
	"runtime/debug"
)

// Guard calls fn, which reads Data. If another process cuts a mapped file in
// the meantime, the system answers the read with a signal (SIGBUS) that would
// end the process: Guard makes ErrChanged out of it. Other panics pass. It
// costs some ten nanoseconds and does not allocate.
func (f *File) Guard(fn func()) (err error) {
	if !f.mapped {
		fn()
		return nil
	}
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			// A fault, or an index that held until the bytes below it were
			// written over by another program.
			err = ErrChanged
		default:
			panic(r)
		}
	}()
	fn()
	return nil
}
