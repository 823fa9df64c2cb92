package suite

import "mailbench/index"

// ioValues are a design's ways to read its files, none where it has one.
func ioValues(d index.Design) []string {
	for _, x := range index.AxesOf(d).Extra {
		if x.Name == "io" {
			return x.Values
		}
	}
	return nil
}

// ioRows ask a design that can map its files, or read them, the same both ways:
// with the files in the page cache, where a map saves the copy, and without,
// where it costs a fault for each page.
func ioRows(d index.Design) []Row {
	var rows []Row
	for _, io := range ioValues(d) {
		v := with(d, "io", io)
		for _, ix := range []string{indexWarm, indexCold} {
			add := func(bench string, q query, kv ...string) {
				q.delta, q.search, q.index = "none", "all", ix
				kv = append(kv, "design", d.Name(), "delta", q.delta, "search", q.search, "mails", "warm", "index", ix, "io", io)
				rows = append(rows, Row{bench, params(kv...), false, answerAgain(v, q)})
			}
			add("ThreadAgain", query{alg: "references"})
			add("SortDate", query{keys: "date", pass: "again"}, "pass", "again")
		}
	}
	return rows
}
