package suite

import (
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/indextest"
)

// TestDamageWrong holds which outcomes fail a row.
func TestDamageWrong(t *testing.T) {
	detects, trusts := column.Design, trusting{column.Design}
	for _, c := range []struct {
		d    index.Design
		got  indextest.Damage
		want string
	}{
		{detects, indextest.Damage{}, "no file"},
		{detects, indextest.Damage{Tried: 10, Right: 4, Errors: 6}, ""},
		{detects, indextest.Damage{Tried: 10, Wrong: 1, First: "x.index, bit 3"}, "1 of 10 damaged indexes gave wrong answers without a word: x.index, bit 3"},
		{detects, indextest.Damage{Tried: 10, Panics: 1}, "1 of 10"},
		{trusts, indextest.Damage{Tried: 10, Wrong: 1, Panics: 2}, ""},
	} {
		err := damageWrong(c.d, c.got)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.got, err, c.want)
		}
	}
}

type trusting struct{ index.Design }

func (trusting) Integrity() index.Integrity { return index.TrustsDisk }

// TestDamage_rows holds what a row tells, and that a design that is wrong at
// once gets none.
func TestDamage_rows(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	got := benchmarkEnv(t, []string{freshEnv + "=1"}, dir, "Damage/.*/op=cut", "-corpus=synthetic:20", "-designs=right", "-rows=all")
	rows := lines(got.out, "BenchmarkDamage/design=right/op=cut")
	if got.code != 0 || len(rows) != 1 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	for _, unit := range []string{"silent-wrong-pct", "error-pct", "right-pct", "tried"} {
		if !strings.Contains(rows[0], " "+unit) {
			t.Errorf("no %s: %s", unit, rows[0])
		}
	}
	got = benchmarkEnv(t, []string{freshEnv + "=1"}, dir, "Damage/.*/op=cut", "-corpus=synthetic:20", "-designs=lost", "-rows=all")
	if got.code == 0 || len(lines(got.out, "Benchmark")) > 0 || !strings.Contains(got.out, "--- FAIL: BenchmarkDamage") {
		t.Errorf("a design that loses a message: exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
}
