package suite

import (
	"strings"
	"testing"
)

// TestWrongAnswer_failsTheRow holds that a design that answers wrongly gets no
// time printed, whatever it answers wrongly, and that a right one does.
func TestWrongAnswer_failsTheRow(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	for _, c := range []struct{ design, rows, want string }{
		{"tie", "SortSubject/.*/pass=again", "wrong answer"},
		{"tie", "ThreadAgain/.*/delta=none/search=all/.*/index=warm", "wrong answer"},
		{"tie", "ThreadAgain/.*/delta=deliver", "wrong answer"},
		{"lost", "ThreadFirst/.*/mails=warm", "wrong answer"},
		{"lost", "SortSubject/.*/pass=first", "wrong answer"},
		{"status", "SelectFirst/.*/mails=warm", "201 messages"},
		{"status", "SelectAgain/.*/.*/index=warm", "201"},
		{"status", "Resync/.*/delta=none", "201 messages"},
		{"changes", "Resync/.*/delta=deliver", "found {Added:19"},
		{"flags", "Resync/.*/delta=flags", "with flags"},
		{"keys", "SelectFirst/.*/mails=warm", "UID 9 is"},
		{"lost", "Grow/.*/op=thread-again/.*/.*/msgs=1k", "wrong answer"},
		{"status", "Grow/.*/op=select-first/.*/.*/msgs=1k", "1001 messages"},
		{"tie", "Grow/.*/op=sort-subject/.*/.*/msgs=1k", "wrong answer"},
		{"fetch", "Grow/.*/op=fetch/.*/.*/msgs=1k", "FETCH all: wrong answer"},
		{"status", "Many/.*/op=status/shape=200boxes/.*/index=warm", "want {UIDValidity:1"},
		{"changes", "Many/.*/op=change/shape=200boxes/.*/index=warm", "and one message was delivered"},
		{"keys", "Many/.*/op=change/shape=200boxes/.*/index=warm", "UID 9 is"},
		{"lost", "Compact/.*/op=sweep/shape=random/option=defaults", "THREAD after the last round: wrong answer"},
		{"status", "Compact/.*/op=sweep/shape=oldest/option=defaults", "round 1: "},
		{"error", "ThreadFirst/.*/mails=warm", "first line"},
	} {
		t.Run(c.design+" "+c.rows, func(t *testing.T) {
			got := benchmark(t, dir, c.rows, "-corpus=synthetic:200", "-designs="+c.design, "-rows=all")
			if got.code == 0 {
				t.Errorf("exit code 0")
			}
			if times := lines(got.out, "Benchmark"); len(times) > 0 {
				t.Errorf("a time was printed: %s", times)
			}
			if !strings.Contains(got.out, "--- FAIL: Benchmark") || !strings.Contains(got.out, c.want) {
				t.Errorf("output does not say FAIL and %q:\n%s%s", c.want, got.out, got.errs)
			}
			if strings.Contains(got.out+got.errs, "goroutine ") {
				t.Errorf("a stack: %s%s", got.out, got.errs)
			}
			if left := leftovers(t, dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestRightAnswer_passes(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	got := benchmark(t, dir, "Resync|ThreadAgain|SortSubject", "-corpus=synthetic:200", "-designs=right")
	if got.code != 0 || len(lines(got.out, "BenchmarkThreadAgain")) != 5 {
		t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	if fresh := lines(got.out, "# fresh process on synthetic:1000,seed="); len(fresh) != 1 || !strings.Contains(fresh[0], "every answer right") {
		t.Errorf("fresh process: %q", fresh)
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestRemembered_isCaught holds that answers kept outside the index files do
// not pass: neither in variables, which a process of its own does not have,
// nor in files, which are wrong on mail whose seed is drawn at run time.
func TestRemembered_isCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of CPU")
	}
	t.Parallel()
	const row = "ThreadAgain/.*/delta=none/search=all/.*/index=warm"
	for _, c := range []struct {
		design string
		rows   int // printed before it is caught
		want   string
	}{
		{"variable", 0, "answers are remembered outside"},
		{"file", 1, "# fresh process on synthetic:1000,seed="},
	} {
		t.Run(c.design, func(t *testing.T) {
			got := benchmark(t, diskDir(t), row, "-corpus=synthetic:200", "-designs="+c.design)
			if got.code == 0 || !strings.Contains(got.out, c.want) || strings.Contains(got.out, "every answer right") {
				t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.errs)
			}
			if n := len(lines(got.out, "Benchmark")); n != c.rows {
				t.Errorf("%d rows, want %d:\n%s", n, c.rows, got.out)
			}
		})
	}
}
