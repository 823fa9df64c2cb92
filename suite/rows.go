package suite

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mailbench/index"
	"mailbench/internal/temp"
)

// A Row is one line of the result: a benchmark and a value for each axis.
type Row struct {
	Bench   string // "SelectFirst"
	Params  []Param
	Default bool // in the default run
	prepare func(*Runner, *fixture) (*job, error)
}

// Name is the row's name as go test prints it, without the GOMAXPROCS suffix.
func (r Row) Name() string {
	if len(r.Params) == 0 {
		return "Benchmark" + r.Bench
	}
	return "Benchmark" + r.Bench + "/" + joinParams(r.Params)
}

// value is the row's on that axis, "" where it has none.
func (r Row) value(key string) string {
	for _, p := range r.Params {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// clones reports whether the row needs a mailbox that it may change.
func (r Row) clones() bool {
	return r.Bench == "Resync" || r.Bench == "Compact" || r.Bench == "Changes" || r.value("age") != "" ||
		r.value("delta") != "" && r.value("delta") != "none"
}

// unfitFor says why the row cannot be measured on mail of that kind, or "".
func (r Row) unfitFor(kind string) string {
	mails := r.value("mails")
	switch {
	case kind == "maildir":
		return ""
	case r.clones():
		return "a change of the mailbox needs a maildir, and the corpus is of kind " + kind
	case r.value("search") == "undeleted":
		return "the truth about deleted mail is read from a maildir's names, and the corpus is of kind " + kind
	case r.Bench == "Fetch" && r.value("op") == "window":
		return "the truth about flags is read from a maildir's names, and the corpus is of kind " + kind
	case r.Bench == "Floor" && mails != "":
		return "this floor is a maildir's, and the corpus is of kind " + kind
	case mails == temp.NoData.String() || mails == temp.Cold.String():
		return "a mailbox in one file is mapped or decompressed while it is open: its data stays in memory"
	}
	return ""
}

// Rows lists every row of the runner's designs, default ones and others, in
// the order in which they run.
func (r *Runner) Rows() []Row {
	var rows []Row
	for _, d := range r.cfg.Designs {
		rows = append(rows, mailboxRows(d, r.mails2003())...)
		rows = append(rows, r.readRows(d)...)
		rows = append(rows, ioRows(d)...)
	}
	for _, d := range r.cfg.Designs {
		rows = append(rows, manyRows(d)...)
		rows = append(rows, optionRows(d)...)
	}
	rows = append(rows, growRows(r.cfg.Designs)...)
	rows = append(rows, r.workRows()...)
	rows = append(rows, memoryRows()...)
	rows = append(rows, damageRows(r.cfg.Designs)...)
	rows = append(rows, floorRows(r.mails2003())...)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(slices.Index(benchmarks, a.Bench), slices.Index(benchmarks, b.Bench))
	})
	return rows
}

// benchmarks in the order in which they run.
var benchmarks = strings.Fields("SelectFirst SelectAgain Resync ThreadFirst ThreadAgain SortDate SortSubject Compact " +
	"Fetch Changes Append Deliver Mix Many Options Grow Sort Thread HeaderScan Damage Floor")

// mails2003 is the mail's state in the condition of the 2003 post, mails cold
// and index warm, as near as it can be had: without permission to drop the
// machine's caches or a private file system the data alone is evicted.
func (r *Runner) mails2003() temp.State {
	if r.cfg.DropCaches || r.cfg.LoopImage == "on" {
		return temp.Cold
	}
	return temp.NoData
}

func mailStates() []temp.State { return []temp.State{temp.Warm, temp.NoData, temp.Cold} }

func mailboxRows(d index.Design, pair temp.State) []Row {
	ax := index.AxesOf(d)
	var rows []Row
	add := func(bench string, def bool, prepare func(*Runner, *fixture) (*job, error), kv ...string) {
		rows = append(rows, Row{bench, params(append(kv, "design", d.Name())...), def, prepare})
	}
	for _, m := range mailStates() {
		add("SelectFirst", m == temp.Warm || m == pair, selectFirst(d, m), "mails", m.String(), "index", indexNone)
	}
	for _, ix := range []string{indexWarm, indexCold, indexOpen} {
		add("SelectAgain", true, selectAgain(d, ix), "mails", "warm", "index", ix)
	}
	for _, delta := range []string{"none", "flags", "rename", "delete", "deliver"} {
		add("Resync", delta == "none" || delta == "deliver", resync(d, delta), "delta", delta, "mails", "warm", "index", indexWarm)
	}
	for _, fields := range orNone(ax.Fields) {
		for _, m := range mailStates() {
			if m != temp.Warm && index.ReadsAtSync(d, index.Options{}) {
				continue // its first SELECT has read the mail
			}
			add("ThreadFirst", (m == temp.Warm || m == pair) && first(ax.Fields, fields), threadFirst(d, fields, m),
				"fields", fields, "mails", m.String(), "index", indexWarm)
		}
	}
	rows = append(rows, queryRows(d, ax)...)
	if ax.Compacts {
		for _, dead := range []int{0, 10, 30, 60} {
			add("Compact", dead == 30, compact(d, dead, "random"), "dead", strconv.Itoa(dead)+"pct", "mails", "warm", "index", indexWarm)
		}
		rows = append(rows, sweepRows(d, ax)...)
		for _, shape := range deadShapes[1:] {
			add("Compact", false, compact(d, 30, shape), "shape", shape, "dead", "30pct", "mails", "warm", "index", indexWarm)
		}
	}
	return rows
}

// queryRows are THREAD again and the two SORTs of the 2003 post.
func queryRows(d index.Design, ax index.Axes) []Row {
	var rows []Row
	add := func(bench string, def bool, q query, kv ...string) {
		kv = append(kv, "design", d.Name(), "delta", q.delta, "search", q.search, "answers", q.answers, "mails", "warm", "index", q.index)
		rows = append(rows, Row{bench, params(kv...), def, answerAgain(d, q)})
	}
	stored := ""
	if len(ax.Answers) > 0 {
		stored = ax.Answers[0]
	}
	for _, answers := range orNone(ax.Answers) {
		for _, ix := range []string{indexWarm, indexCold, indexOpen} {
			def := answers == stored || ix == indexWarm
			add("ThreadAgain", def, query{alg: "references", delta: "none", search: "all", answers: answers, index: ix})
		}
		for _, delta := range []string{"deliver", "expunge"} {
			add("ThreadAgain", delta == "deliver" && answers == stored,
				query{alg: "references", delta: delta, search: "all", answers: answers, index: indexWarm})
		}
		for _, search := range []string{"undeleted", "recent"} {
			add("ThreadAgain", search == "undeleted" && answers == stored,
				query{alg: "references", delta: "none", search: search, answers: answers, index: indexWarm})
		}
		for _, s := range []struct{ bench, keys string }{{"SortDate", "date"}, {"SortSubject", "subject"}} {
			for _, pass := range []string{"first", "again"} {
				add(s.bench, answers == stored, query{keys: s.keys, pass: pass, delta: "none", search: "all", answers: answers, index: indexWarm}, "pass", pass)
			}
			for _, delta := range []string{"deliver", "expunge"} {
				add(s.bench, false, query{keys: s.keys, pass: "again", delta: delta, search: "all", answers: answers, index: indexWarm}, "pass", "again")
			}
			for _, search := range []string{"undeleted", "recent"} {
				add(s.bench, false, query{keys: s.keys, pass: "again", delta: "none", search: search, answers: answers, index: indexWarm}, "pass", "again")
			}
		}
		for _, keys := range sortKeys {
			for _, pass := range []string{"first", "again"} {
				add("Sort", false, query{keys: keys.sort, pass: pass, delta: "none", search: "all", answers: answers, index: indexWarm},
					"key", keys.name, "pass", pass)
			}
		}
	}
	return rows
}

// sortKeys are the values of BenchmarkSort's key= axis.
var sortKeys = []struct{ name, sort string }{
	{"arrival", "arrival"}, {"cc", "cc"}, {"date", "date"}, {"from", "from"}, {"size", "size"}, {"subject", "subject"}, {"to", "to"},
	{"reverse_date", "reverse date"}, {"subject_reverse_date", "subject reverse date"},
}

// orNone makes an axis without values one row without the axis.
func orNone(values []string) []string {
	if len(values) == 0 {
		return []string{""}
	}
	return values
}

func first(values []string, v string) bool { return len(values) == 0 || values[0] == v }
