package index

// Axes are the options that make a difference to a design: what the
// benchmarks sweep. A design without a choice has the zero Axes.
type Axes struct {
	Fields   []string // values of Options.Fields it tells apart: "thread", "envelope"
	Answers  []string // values of Options.Answers it tells apart: "stored", "computed"
	Compacts bool     // Compact rewrites something
	Open     bool     // an open handle keeps more than a file descriptor
	Fetches  bool     // its Mailbox is a Fetcher
	ModSeqs  bool     // its Mailbox is a Changer, and Message.ModSeq is kept
	OwnIO    bool     // an engine opens the files itself: Config.FS sees none of its calls
	Extra    []Extra  // its own options
}

// Extra is an option of a design's own, in Options.Extra.
type Extra struct {
	Name   string   // lower case, as in Options.Extra
	Values []string // what is worth trying, the default first
	Help   string   // what it does, in one line

	// Trigger: it says when the design compacts by itself. BenchmarkCompact
	// shows what each value costs in bytes written and in space.
	Trigger bool

	// Unsynced is the value with which a design with OwnIO never waits for the
	// disk, as fsys.Unsynced makes the others: what fsync=never sets. "" = none.
	Unsynced string
}

// Value is the option's value in o, its default when o has none.
func (x Extra) Value(o Options) string {
	if v, ok := o.Extra[x.Name]; ok {
		return v
	}
	return x.Values[0]
}

// A SyncReader is a Design whose Sync may read the headers of new mail, so
// that a first SELECT reads all of them, and a first THREAD perhaps none.
type SyncReader interface{ ReadsAtSync(Options) bool }

// ReadsAtSync reports whether a Sync of d under o reads the headers of new mail.
func ReadsAtSync(d Design, o Options) bool {
	r, ok := d.(SyncReader)
	return ok && r.ReadsAtSync(o)
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
