//go:build unix

package mbox

import "golang.org/x/sys/unix"

// A region is memory outside the heap that grows without being copied: room is
// reserved at once, pages come when they are written. (A heap slice would need
// up to three times the size while it grows, and count for the collector.)
type region struct {
	data []byte
	room []byte
}

// append reports false when b does not fit below limit.
func (r *region) append(b []byte, limit int) bool {
	if len(r.data)+len(b) > limit {
		return false
	}
	if r.room == nil {
		room, err := unix.Mmap(-1, 0, limit, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return false // to disk then
		}
		r.room, r.data = room, room[:0]
	}
	r.data = append(r.data, b...)
	return true
}

func (r *region) close() error {
	room := r.room
	r.data, r.room = nil, nil
	if room == nil {
		return nil
	}
	return unix.Munmap(room)
}
