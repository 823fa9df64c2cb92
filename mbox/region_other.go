//go:build !unix

package mbox

// A region is memory that grows.
type region struct{ data []byte }

// append reports false when b does not fit below limit.
func (r *region) append(b []byte, limit int) bool {
	if len(r.data)+len(b) > limit {
		return false
	}
	r.data = append(r.data, b...)
	return true
}

func (r *region) close() error {
	r.data = nil
	return nil
}
