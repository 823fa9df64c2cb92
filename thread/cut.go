package thread

// linkCut keeps a forest under link, cut and root in O(log n) amortised each:
// Sleator and Tarjan's link-cut trees with splay trees, without evert, because
// roots never change but by link and cut. Paths of the forest are splay trees
// ordered by depth; up points to the splay parent, or, from the root of a splay
// tree, to the forest parent of its shallowest node. It starts from plain parent
// links: every node a path of its own is a valid state.
type linkCut struct {
	on          bool
	up          []int32
	left, right []int32
	steps       int64 // rotations and hops, for tests
}

// start takes over the forest that parent describes.
func (t *linkCut) start(parent []int32) {
	t.up = append(t.up[:0], parent...)
	t.left = filled(t.left, len(parent), -1)
	t.right = filled(t.right, len(parent), -1)
	t.on = true
}

// top says whether x is the root of its splay tree.
func (t *linkCut) top(x int32) bool {
	p := t.up[x]
	return p < 0 || (t.left[p] != x && t.right[p] != x)
}

func (t *linkCut) rotate(x int32) {
	t.steps++
	p := t.up[x]
	g := t.up[p]
	if !t.top(p) {
		if t.left[g] == p {
			t.left[g] = x
		} else {
			t.right[g] = x
		}
	}
	var b int32
	if t.left[p] == x {
		b = t.right[x]
		t.left[p] = b
		t.right[x] = p
	} else {
		b = t.left[x]
		t.right[p] = b
		t.left[x] = p
	}
	if b >= 0 {
		t.up[b] = p
	}
	t.up[p] = x
	t.up[x] = g
}

func (t *linkCut) splay(x int32) {
	for !t.top(x) {
		p := t.up[x]
		if !t.top(p) {
			g := t.up[p]
			if (t.left[g] == p) == (t.left[p] == x) {
				t.rotate(p)
			} else {
				t.rotate(x)
			}
		}
		t.rotate(x)
	}
}

// access makes the path from the root to x one splay tree with x on top and
// nothing deeper than x in it.
func (t *linkCut) access(x int32) {
	deeper := int32(-1)
	for y := x; y >= 0; y = t.up[y] {
		t.steps++
		t.splay(y)
		t.right[y] = deeper
		deeper = y
	}
	t.splay(x)
}

// root returns the root of x's tree.
func (t *linkCut) root(x int32) int32 {
	t.access(x)
	for t.left[x] >= 0 {
		t.steps++
		x = t.left[x]
	}
	t.splay(x) // pays for the walk
	return x
}

// link makes p the parent of c, a root.
func (t *linkCut) link(c, p int32) {
	t.access(c)
	t.up[c] = p
}

// cut makes c a root.
func (t *linkCut) cut(c int32) {
	t.access(c)
	l := t.left[c]
	if l >= 0 {
		t.up[l] = -1
		t.left[c] = -1
	}
}
