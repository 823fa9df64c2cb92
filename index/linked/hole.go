package linked

import "slices"

// page is what a disk writes or does not.
const page = 4096

// hole reports whether a whole page of b, which one call wrote at that offset
// of a file, is missing from it: after a crash a write that no sync has covered
// may have reached the disk in some of its pages, and the others are zeros. The
// page that b begins on is the caller's to judge: there is b's size. Bytes that
// are meant to be zeros up to the end of b are taken for a hole, too: who asks
// does without b then. O(1) unless there is one. See place.
func hole(b []byte, off uint64) bool {
	for at := page - off%page; at < uint64(len(b)); at += page {
		if zeros(b[at:min(at+page, uint64(len(b)))]) {
			return true
		}
	}
	return false
}

func zeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// place moves the record b[start:], which will be written with b at offset at of
// the file, on until none of its pages looks like a hole: a date ends in zeros,
// and these may be all of the record that lies on a page. Records are found by
// their offsets, so a gap before one is nobody's. One that has a page of zeros
// itself stays, and counts for nothing when it is read.
func place(b []byte, start int, at int64) ([]byte, int) {
	for range 4 {
		if !hole(b[start:], uint64(at)+uint64(start)) {
			break
		}
		b = slices.Insert(b, start, 0, 0, 0, 0)
		start += 4
	}
	return b, start
}
