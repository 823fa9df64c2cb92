package thread

// emit is step (6) of REFERENCES below the roots, and the output: nodes in
// preorder, siblings sorted when their parent is passed.
func (sc *Scratch) emit(in *Input, dst *Forest) {
	n := int32(in.N)
	for _, r := range sc.roots {
		for x := r; x >= 0; x = sc.after(x) {
			row := int32(-1)
			if x < n {
				sc.sortChildren(in, x)
				row = x
				if sc.rows != nil {
					row = sc.rows[x]
				}
			}
			dst.Row = append(dst.Row, row)
			dst.Kids = append(dst.Kids, sc.deg[x])
		}
	}
}

// after returns the node after x in the preorder of x's tree, or -1. Over a
// whole tree each link is climbed once.
func (sc *Scratch) after(x int32) int32 {
	if f := sc.first[x]; f >= 0 {
		return f
	}
	for {
		p := sc.up[x]
		if p < 0 {
			return -1
		}
		if m := sc.next[x]; m >= 0 {
			return m
		}
		x = p
	}
}
