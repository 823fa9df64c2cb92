// Package floor does the unavoidable part of each operation the best known
// way, so that a measured row can be shown beside what the kernel and memory
// allow on this machine in this run. A floor answers nothing: it only does
// the work, and says how much work that was, in bytes and calls.
//
// A row that is faster than 0.95 of its floor means that the floor is wrong.
package floor

// Work is what a floor did.
type Work struct {
	Bytes int64 // bytes moved: directory entries, file data, keys, text
	Calls int64 // system calls, or elements for floors that stay in memory
}

func (w *Work) add(o Work) {
	w.Bytes += o.Bytes
	w.Calls += o.Calls
}
