package suite

import (
	"slices"
	"strings"
	"testing"
)

// TestPlot holds that a history turns the mailbox over twice, brings each
// message once and in order, and takes away what is there.
func TestPlot(t *testing.T) {
	for _, n := range []int{3, 20, 601, 2000, 20_000} {
		for _, shape := range []string{"random", "oldest"} {
			p := newPlot(n, shape)
			there := map[int]bool{}
			for i := range p.start {
				there[i] = true
			}
			next, gone := p.start, 0
			for _, rd := range p.rounds {
				for _, i := range rd.expunge {
					if !there[i] {
						t.Fatalf("%d %s: message %d goes and is not there", n, shape, i)
					}
					if shape == "oldest" && i != gone {
						t.Fatalf("%d %s: message %d goes before %d", n, shape, i, gone)
					}
					delete(there, i)
					gone++
				}
				for _, i := range rd.deliver {
					if i != next {
						t.Fatalf("%d %s: message %d comes, want %d", n, shape, i, next)
					}
					there[i] = true
					next++
				}
				if len(there) != p.live {
					t.Fatalf("%d %s: %d messages, want %d", n, shape, len(there), p.live)
				}
			}
			if len(p.rounds) > sweepRounds || p.delivered() != gone || gone > 2*p.start+2 || n >= 2000 && gone < 2*p.start*9/10 {
				t.Errorf("%d %s: %d rounds of a mailbox of %d, %d messages come, %d go", n, shape, len(p.rounds), p.live, p.delivered(), gone)
			}
			if len(p.left) != p.live || !slices.IsSorted(p.left) {
				t.Errorf("%d %s: %d messages at the end, want %d", n, shape, len(p.left), p.live)
			}
		}
	}
}

// TestSweep_rows holds that each value of an option that triggers has rows,
// with what they cost, and that one that makes a design wrong fails.
func TestSweep_rows(t *testing.T) {
	t.Parallel()
	got := benchmark(t, diskDir(t), "Compact/.*/op=sweep/shape=oldest", "-corpus=synthetic:90", "-designs=optioned,column", "-rows=all")
	for _, name := range []string{"column/op=sweep/shape=oldest/option=defaults", "optioned/op=sweep/shape=oldest/option=defaults", "optioned/op=sweep/shape=oldest/option=mode:1_2"} {
		rows := lines(got.out, "BenchmarkCompact/design="+name+"/mails=warm/index=warm")
		if len(rows) != 1 {
			t.Errorf("%d rows of %s:\n%s", len(rows), name, got.out)
			continue
		}
		for _, unit := range []string{"written-B/delivered", "mean-disk-B/msg", "peak-disk-B/msg", "rewrites"} {
			if !strings.Contains(rows[0], " "+unit) {
				t.Errorf("no %s: %s", unit, rows[0])
			}
		}
	}
	if got.code == 0 || !strings.Contains(got.out, "--- FAIL: BenchmarkCompact/design=optioned/op=sweep/shape=oldest/option=mode:wrong") {
		t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
}

// TestDeadOnes holds how many messages each pattern takes, and which.
func TestDeadOnes(t *testing.T) {
	threads := [][]uint32{{1, 4, 5}, {2}, {3}, {6, 7}, {8, 9, 10}}
	for _, shape := range deadShapes {
		rows := deadOnes(shape, 10, 60, threads)
		sorted := slices.Compact(slices.Sorted(slices.Values(rows)))
		if len(sorted) != len(rows) || len(rows) > 6 || shape != "threads" && len(rows) != 6 || sorted[0] < 0 || sorted[len(sorted)-1] > 9 {
			t.Errorf("%s: %v", shape, rows)
		}
		if shape == "oldest" && sorted[5] != 5 {
			t.Errorf("oldest: %v", rows)
		}
		for _, uids := range threads {
			in := 0
			for _, u := range uids {
				if slices.Contains(rows, int(u)-1) {
					in++
				}
			}
			if shape == "threads" && in != 0 && in != len(uids) {
				t.Errorf("threads: %d of thread %v in %v", in, uids, rows)
			}
		}
	}
}
