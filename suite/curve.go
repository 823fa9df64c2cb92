package suite

import (
	"fmt"
	"slices"
	"strings"
)

// A curve is what an append took in mailboxes of growing size, for rows that
// differ in nothing else.
type curve struct {
	row    string // without grown=
	points []curvePoint
}

type curvePoint struct {
	grown grownSize
	ns    float64 // of an append
}

// notePoint takes a row's median into its curve, in place of an earlier one.
func (w *workshop) notePoint(s setting, ns float64) {
	at := s.grown
	s.grown = grownSize{}
	row := "BenchmarkAppend/" + joinParams(s.params())
	i := slices.IndexFunc(w.curves, func(c curve) bool { return c.row == row })
	if i < 0 {
		i = len(w.curves)
		w.curves = append(w.curves, curve{row: row})
	}
	c := &w.curves[i]
	c.points = slices.DeleteFunc(c.points, func(p curvePoint) bool { return p.grown == at })
	c.points = append(c.points, curvePoint{at, ns})
	slices.SortFunc(c.points, func(a, b curvePoint) int { return a.grown.messages - b.grown.messages })
}

// curveNotes tells, for each curve of at least two points, the appends a second
// in each mailbox, and what is left of the smallest one's in the largest.
func (w *workshop) curveNotes() []note {
	var out []note
	for _, c := range w.curves {
		if len(c.points) < 2 {
			continue
		}
		var b strings.Builder
		for _, p := range c.points {
			fmt.Fprintf(&b, "%.0f at %s, ", 1e9/p.ns, p.grown.name)
		}
		first, last := c.points[0], c.points[len(c.points)-1]
		fmt.Fprintf(&b, "%.0f%% of the first", 100*first.ns/last.ns)
		out = append(out, note{c.row, b.String()})
	}
	return out
}
