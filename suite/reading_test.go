package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/tier"
)

// A reader is the column design with one fault in what FETCH and MODSEQs are
// about.
type reader struct {
	fake
}

func (d reader) Axes() index.Axes { return index.AxesOf(d.Design) }

func readers() []index.Design {
	var ds []index.Design
	add := func(name string, bend func(readBox) index.Mailbox) {
		ds = append(ds, reader{fake{column.Design, name, func(m fakeBox) index.Mailbox {
			return bend(readBox{m.Mailbox, m.Mailbox.(index.Fetcher), m.Mailbox.(index.Changer)})
		}}})
	}
	add("r-right", func(m readBox) index.Mailbox { return m })
	add("r-swapped", func(m readBox) index.Mailbox { return swappedBox{m} })
	add("r-empty", func(m readBox) index.Mailbox { return emptyBox{m} })
	add("r-absent", func(m readBox) index.Mailbox { return absentBox{m} })
	add("r-mute", func(m readBox) index.Mailbox { return struct{ index.Mailbox }{m.Mailbox} })
	add("r-kept", func(m readBox) index.Mailbox { return keptBox{m} })
	add("r-lasting", func(m readBox) index.Mailbox { return lastingBox{m} })
	add("r-old", func(m readBox) index.Mailbox { return oldBox{m} })
	add("r-flags", func(m readBox) index.Mailbox { return unseenBox{m} })
	return ds
}

type readBox struct {
	index.Mailbox
	index.Fetcher
	index.Changer
}

// swappedBox gives a message the values of the one before it in some calls.
type swappedBox struct{ readBox }

func (m swappedBox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return m.Fetcher.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		if uid == 9 {
			return m.Fetcher.Fetch([]uint32{8}, fields, func(_ uint32, values [][]byte) error { return fn(9, values) })
		}
		return fn(uid, values)
	})
}

// emptyBox does not tell an empty field from none.
type emptyBox struct{ readBox }

func (m emptyBox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return m.Fetcher.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		for i, v := range values {
			if v == nil {
				values[i] = []byte{}
			}
		}
		return fn(uid, values)
	})
}

// absentBox leaves a message out.
type absentBox struct{ readBox }

func (m absentBox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return m.Fetcher.Fetch(slices.DeleteFunc(slices.Clone(uids), func(u uint32) bool { return u%50 == 49 }), fields, fn)
}

// keptBox does not tell the first change.
type keptBox struct{ readBox }

func (m keptBox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uint32) bool) error {
	first := true
	return m.Changer.ChangesSince(modseq, func(msg index.Message) bool {
		if first {
			first = false
			return true
		}
		return changed(msg)
	}, vanished)
}

// lastingBox does not tell what vanished.
type lastingBox struct{ readBox }

func (m lastingBox) ChangesSince(modseq uint64, changed func(index.Message) bool, _ func(uint32) bool) error {
	return m.Changer.ChangesSince(modseq, changed, func(uint32) bool { return true })
}

// oldBox gives changes the MODSEQ that was asked for.
type oldBox struct{ readBox }

func (m oldBox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uint32) bool) error {
	return m.Changer.ChangesSince(modseq, func(msg index.Message) bool {
		msg.ModSeq = modseq
		return changed(msg)
	}, vanished)
}

// unseenBox forgets \Seen of one message in the middle.
type unseenBox struct{ readBox }

func (m unseenBox) Messages(fn func(index.Message) bool) error {
	found := false
	return m.Mailbox.Messages(func(msg index.Message) bool {
		if !found && msg.UID > 100 && msg.Flags&index.FlagSeen != 0 {
			found = true
			msg.Flags &^= index.FlagSeen
		}
		return fn(msg)
	})
}

// TestWrongReading_failsTheRow is TestWrongAnswer_failsTheRow for FETCH, with
// tiers in front too, for changes since a MODSEQ and for grown indexes.
func TestWrongReading_failsTheRow(t *testing.T) {
	if testing.Short() {
		t.Skip("a dozen runs")
	}
	t.Parallel()
	dir := diskDir(t)
	const (
		again = "Fetch/.*/op=%s/fields=envelope/pass=again/mails=warm/index=warm"
		grown = "age=grown"
	)
	for _, c := range []struct{ design, rows, want string }{
		{"r-swapped", fmt.Sprintf(again, "all"), "wrong answer"},
		{"r-swapped", fmt.Sprintf(again, "envelope"), "wrong answer"},
		{"r-swapped", "Fetch/.*/key=list-id/op=header/.*/pass=first", "wrong answer"},
		{"r-empty", fmt.Sprintf(again, "window"), "wrong answer"},
		{"r-absent", fmt.Sprintf(again, "recent"), "wrong answer"},
		{"r-absent", "Fetch/.*/op=recent/.*/.*/.*/index=open/.*/tier=lru", "wrong answer"},
		{"r-swapped", "Fetch/.*/op=zipf/.*/.*/.*/index=open/.*/tier=clairvoyant", "wrong answer"},
		{"r-flags", fmt.Sprintf(again, "window"), "wrong answer"},
		{"r-mute", fmt.Sprintf(again, "all"), "does not"},
		{"r-mute", "Changes/.*/since=1/", "does not tell changes"},
		{"r-kept", "Changes/.*/since=100/", "wrong answer"},
		{"r-lasting", "Changes/.*/since=10k/", "wrong answer"},
		{"r-old", "Changes/.*/since=1/", "MODSEQs from"},
		{"r-flags", "SelectAgain/.*/" + grown, "has flags"},
		{"tie", "SortDate/.*/pass=again/" + grown, "wrong answer"},
		{"lost", "ThreadAgain/.*/" + grown, "wrong answer"},
		{"status", "SelectAgain/.*/" + grown, "messages"},
	} {
		t.Run(c.design+" "+c.rows, func(t *testing.T) {
			got := benchmark(t, dir, c.rows, "-corpus=synthetic:200", "-designs="+c.design, "-rows=all", "-loop-image=false")
			if got.code == 0 || !strings.Contains(got.out, "--- FAIL: Benchmark") || !strings.Contains(got.out, c.want) {
				t.Errorf("exit code %d, output does not say FAIL and %q:\n%s%s", got.code, c.want, got.out, got.errs)
			}
			if times := lines(got.out, "Benchmark"); len(times) > 0 {
				t.Errorf("a time was printed: %s", times)
			}
			if left := leftovers(t, dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestReading_rows runs every row of FETCH and changes of a right design, and
// some of grown indexes and in a fresh process: none fails or is skipped, and
// hit ratios and percentiles are told and in order.
func TestReading_rows(t *testing.T) {
	if testing.Short() {
		t.Skip("about fifty rows")
	}
	t.Parallel()
	dir := diskDir(t)
	args := []string{"-corpus=synthetic:300", "-rows=all", "-loop-image=false", "-metrics=all"}
	var out strings.Builder
	for _, c := range []struct {
		rows  string
		alone bool // without a fresh process
		args  []string
	}{
		{"Fetch|Changes", true, append(args, "-designs=r-right")},
		{"(SelectAgain|ThreadAgain)/.*/age=grown", true, append(args, "-designs=r-right")},
		{"Fetch/.*/op=window/pass=again", false, append(args, "-designs=scan")},
		{"Changes/.*/since=100/", false, append(args, "-designs=r-right")},
	} {
		var env []string
		if c.alone {
			env = []string{freshEnv + "=1"}
		}
		got := benchmarkEnv(t, env, dir, c.rows, c.args...)
		if got.code != 0 || len(lines(got.out, "# skipped")) > 0 || !c.alone && !strings.Contains(got.out, "every answer right") {
			t.Fatalf("%s: exit code %d:\n%s%s", c.rows, got.code, got.out, got.errs)
		}
		out.WriteString(got.out)
	}
	seen := map[string]bool{}
	pct := map[string]float64{}
	scanner := benchfmt.NewReader(strings.NewReader(out.String()), "run")
	for scanner.Scan() {
		rec, ok := scanner.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := "Benchmark" + strings.TrimRight(strings.TrimRight(rec.Name.String(), "0123456789"), "-")
		seen[name] = true
		hits, tiered := rec.Value("hit-pct")
		if tiered != strings.Contains(name, "/tier=") || hits < 0 || hits > 100 {
			t.Errorf("%s: hit-pct %v, there %v", name, hits, tiered)
		}
		if tiered {
			pct[name] = hits
		}
		if bound, ok := rec.Value("hit-bound-pct"); ok != strings.Contains(name, "tier=clairvoyant") || ok && bound < hits {
			t.Errorf("%s: hit-bound-pct %v, there %v, hit-pct %v", name, bound, ok, hits)
		}
		p50, ok50 := rec.Value("p50-sec/fetch")
		p99, ok99 := rec.Value("p99-sec/fetch")
		if want := strings.HasPrefix(name, "BenchmarkFetch"); ok50 != want || ok99 != want || p50 > p99 || want && p50 <= 0 {
			t.Errorf("%s: percentiles %v, %v", name, p50, p99)
		}
	}
	r := New(Config{Names: "r-right", Designs: append(readers(), fakes()...), Rows: "all", CacheDir: dir})
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows() {
		if mine := row.Bench == "Fetch" || row.Bench == "Changes"; mine && !seen[row.Name()] {
			t.Errorf("%s was not measured", row.Name())
		}
	}
	for name, hits := range pct {
		kind := name[strings.LastIndexByte(name, '=')+1:]
		best := pct[strings.TrimSuffix(name, kind)+"clairvoyant"]
		if strings.Contains(name, "cache=10pct") && (kind == "none") != (hits == 0) || kind == "lru" && hits > best+5 {
			t.Errorf("%s: %.1f%% hits, clairvoyant %.1f%%", name, hits, best)
		}
	}
	if len(pct) != 2*(2*len(tier.Kinds)-1) {
		t.Errorf("%d rows with tiers", len(pct))
	}
}

// TestTier_picks holds that -tier picks kinds.
func TestTier_picks(t *testing.T) {
	r := runner(t, t.TempDir(), Config{Names: "column", Tiers: "lru, none"})
	n := 0
	for _, row := range r.Rows() {
		switch row.value("tier") {
		case "":
		case "lru", "none":
			n++
		default:
			t.Errorf("%s", row.Name())
		}
	}
	if n != 2*3 { // no tier has one size
		t.Errorf("%d rows with a tier, want 6", n)
	}
}

// TestCalls holds what a sample reads: as many messages as it should, all of
// them there, the same each time, and for a mail client mostly new ones.
func TestCalls(t *testing.T) {
	for _, n := range []int{1, 2, 30, 99, 1000, 20000} {
		var box []uint32
		for u := range n {
			box = append(box, uint32(3*u+1))
		}
		for _, c := range []struct {
			op, tier  string
			calls, at int // in front; messages of a call
		}{
			{"envelope", "", 1000, 1}, {"header", "", 1000, 1}, {"window", "", 20, min(n, 100)}, {"all", "", 1, n},
			{"zipf", "", 1000, 1}, {"zipf", "lru", 1000, 1}, {"recent", "", 200, 0}, {"recent", "lru", 200, 0},
		} {
			q := reading{op: c.op, key: "subject", tier: c.tier}
			before, calls := q.calls(box)
			if len(calls) != c.calls || len(before) != map[bool]int{true: c.calls * warmFactor}[c.tier != ""] {
				t.Fatalf("%s of %d: %d calls after %d", c.op, n, len(calls), len(before))
			}
			recent, all := 0, 0
			for _, call := range calls {
				if c.at > 0 && len(call.UIDs) != c.at || len(call.UIDs) == 0 || !slices.IsSorted(call.UIDs) {
					t.Fatalf("%s of %d: a call of %d", c.op, n, len(call.UIDs))
				}
				for _, uid := range call.UIDs {
					at, ok := slices.BinarySearch(box, uid)
					if !ok {
						t.Fatalf("%s of %d: uid %d is not there", c.op, n, uid)
					}
					all++
					if at >= n-200 {
						recent++
					}
				}
			}
			if share := float64(recent) / float64(all); n == 20000 && c.op == "recent" && (share < 0.7 || share > 0.95) {
				t.Errorf("recent: %.2f of the reads are among the 200 newest of %d", share, n)
			}
			_, twice := q.calls(box)
			if !slices.EqualFunc(calls, twice, func(a, b tier.Call) bool { return slices.Equal(a.UIDs, b.UIDs) }) {
				t.Errorf("%s of %d: another draw", c.op, n)
			}
		}
	}
}

func TestChangeRounds(t *testing.T) {
	for _, n := range []int{1, 3, 20, 300, 400, 20000} {
		rounds := changeRounds(n)
		after := map[int]bool{}
		sum := 0
		for _, k := range slices.Backward(rounds) {
			sum += k
			after[sum] = true
			if k < 1 || k > max(1, n/4) {
				t.Errorf("%d messages: a round of %d", n, k)
			}
		}
		if !after[1] || !after[100] || n >= 400 && !after[10_000] || len(rounds) > 101 {
			t.Errorf("%d messages: %d rounds of %d changes", n, len(rounds), sum)
		}
	}
}

// TestSince holds what a past tells of messages that changed more than once.
func TestSince(t *testing.T) {
	p := &past{seen: []round{
		{modseq: 1, flagged: []int{0, 1, 2, 3}},
		{modseq: 5, flagged: []int{4}, removed: []int{1, 2}},
		{modseq: 6, flagged: []int{0}},
		{modseq: 9, removed: []int{0}},
	}}
	for _, c := range []struct {
		ago    int
		modseq uint64
		want   string
	}{{1, 9, "[] [1]"}, {2, 6, "[] [1]"}, {3, 5, "[5] [1 2 3]"}, {5, 5, "[5] [1 2 3]"}, {6, 1, "[4 5] [1 2 3]"}, {100, 1, "[4 5] [1 2 3]"}} {
		modseq, changed, gone := p.since(c.ago)
		if got := fmt.Sprint(changed, gone); modseq != c.modseq || got != c.want {
			t.Errorf("%d ago: %d %s, want %d %s", c.ago, modseq, got, c.modseq, c.want)
		}
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct {
		uids []uint32
		want string
	}{{nil, ""}, {[]uint32{4}, " 4"}, {[]uint32{1, 2, 3, 7, 9, 10}, " 1:3,7,9:10"}} {
		if got := string(appendVanished(nil, c.uids)); got != "* VANISHED (EARLIER)"+c.want+"\r\n" {
			t.Errorf("%v: %q", c.uids, got)
		}
	}
	if got := string(appendFetched(nil, 7, "FS", [][]byte{[]byte("a b"), nil, {}})); got != "* FETCH (UID 7 FLAGS (FS) ENVELOPE ({3}\r\na b NIL {0}\r\n))\r\n" {
		t.Errorf("%q", got)
	}
	for file, want := range map[string]string{"1.a.b": "", "1.a:2,": "", "1.a:2,SRF": "FRS", "cur/1.a:2,Sab": "S", "x:2,TSS,uF": "ST", "x:1,S": ""} {
		if got := nameFlags(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	for msg, want := range map[string]string{"": "", "a: b": "a: b", "a: b\n\nc: d\n": "a: b\n", "a: b\r\n\r\nc: d\n": "a: b\r\n", "\nx: y": "", "a: b\n": "a: b\n"} {
		if got := string(headerLines([]byte(msg))); got != want {
			t.Errorf("%q: %q, want %q", msg, got, want)
		}
	}
}
