package suite

import (
	"strconv"
	"time"

	"mailbench/index"
)

// readRows are FETCH and what has changed since a MODSEQ, of designs that
// answer them.
func (r *Runner) readRows(d index.Design) []Row {
	ax := index.AxesOf(d)
	var rows []Row
	if ax.Fetches {
		rows = append(rows, fetchRows(d, ax)...)
		rows = append(rows, r.tierRows(d, ax)...)
	}
	if ax.ModSeqs {
		for _, s := range sinces {
			rows = append(rows, Row{"Changes", params("design", d.Name(), "since", s.name, "mails", "warm", "index", indexWarm), false, changes(d, s.changes)})
		}
	}
	rows = append(rows, ageRows(d, ax)...)
	return rows
}

// headerKeys are the fields of Fetch's op=header: one that every list shows,
// and one that no ENVELOPE has.
var headerKeys = []string{"subject", "list-id"}

func fetchRows(d index.Design, ax index.Axes) []Row {
	var rows []Row
	add := func(def bool, q reading) {
		kv := []string{"design", d.Name(), "op", q.op, "key", q.key, "fields", q.fields, "pass", q.pass, "mails", "warm", "index", q.index}
		rows = append(rows, Row{"Fetch", params(kv...), def, fetch(d, q)})
	}
	for _, fields := range envelopeFirst(ax.Fields) {
		full := first(envelopeFirst(ax.Fields), fields)
		for _, pass := range []string{"first", "again"} {
			for _, op := range []string{"envelope", "window", "all", "zipf", "recent"} {
				if full || op == "envelope" && pass == "again" {
					add(full && op == "window" && pass == "again", reading{op: op, fields: fields, pass: pass, index: indexWarm})
				}
			}
			for _, key := range headerKeys {
				if full {
					add(false, reading{op: "header", key: key, fields: fields, pass: pass, index: indexWarm})
				}
			}
		}
		for _, ix := range []string{indexCold, indexOpen} {
			if full {
				add(false, reading{op: "envelope", fields: fields, pass: "again", index: ix})
				add(false, reading{op: "window", fields: fields, pass: "again", index: ix})
			}
		}
	}
	return rows
}

// tierRows put each kind of tier in front of an open index, for the reading of
// mail clients first and Zipf's second.
func (r *Runner) tierRows(d index.Design, ax index.Axes) []Row {
	kinds, err := r.pickTiers()
	if err != nil {
		return nil // check has told
	}
	var rows []Row
	for _, op := range []string{"recent", "zipf"} {
		for _, share := range tierShares {
			for _, kind := range kinds {
				if kind == "none" && share != tierShares[0] {
					continue // nothing has no size
				}
				q := reading{op: op, fields: envelopeFirst(ax.Fields)[0], pass: "again", index: indexOpen, share: share, tier: kind}
				kv := []string{"design", d.Name(), "op", q.op, "fields", q.fields, "pass", q.pass, "mails", "warm", "index", q.index,
					"cache", strconv.Itoa(share) + "pct", "tier", q.tier}
				rows = append(rows, Row{"Fetch", params(kv...), false, fetch(d, q)})
			}
		}
	}
	return rows
}

// envelopeFirst are the values of Options.Fields with the one in front with
// which envelopes are cached.
func envelopeFirst(fields []string) []string {
	var out []string
	for _, v := range orNone(fields) {
		if v == "envelope" {
			out = append([]string{v}, out...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// planFetch is about what a sample of FETCH takes in a mailbox of n.
func (row Row) planFetch(n int) time.Duration {
	count := map[string]int{"all": n, "window": windowCalls * windowSize, "recent": recentCalls * pageSize}[row.value("op")]
	if count == 0 {
		count = singleCalls
	}
	if row.value("tier") != "" {
		count *= 2 // the calls before are answered from memory
	}
	each := 5 * planMemory
	if row.value("pass") == "first" || row.value("design") == "scan" {
		each = planHeader
	}
	return time.Duration(count)*each + time.Duration(n)*planMemory
}

// planPast is about what making a mailbox with a past takes, shown with the
// first row that needs it.
func (row Row) planPast(n int) time.Duration {
	if row.value("since") == sinces[0].name || row.value("age") != "" && (row.Bench == "SelectAgain" || row.Bench == "Fetch") {
		return grownSyncs * (20*time.Millisecond + time.Duration(n)*planMemory)
	}
	return 0
}
