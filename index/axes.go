package index

// Axes are the options that make a difference to a design: what the
// benchmarks sweep. A design without a choice has the zero Axes.
type Axes struct {
	Fields   []string // values of Options.Fields it tells apart: "thread", "envelope"
	Answers  []string // values of Options.Answers it tells apart: "stored", "computed"
	Compacts bool     // Compact rewrites something
	Open     bool     // an open handle keeps more than a file descriptor
}

// HasAxes is implemented by a Design with options or a compaction of its own.
type HasAxes interface{ Axes() Axes }

// AxesOf returns d's axes; the zero Axes when it declares none.
func AxesOf(d Design) Axes {
	if h, ok := d.(HasAxes); ok {
		return h.Axes()
	}
	return Axes{}
}
