package suite

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

func TestFileBytes(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{"mailbench.index": 7, "000012.sst": 3, "000123.sst": 4, "a b/c-1": 5, "empty": 0} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fileBytes(dir)
	want := map[string]int64{"mailbench.index": 7, "N.sst": 7, "a_b_c-N": 5, "empty": 0}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestReportFiles holds that with -metrics all index-B/msg is split by file,
// that the parts add up, and that benchstat's reader takes their units.
func TestReportFiles(t *testing.T) {
	t.Parallel()
	const row = "ThreadFirst/.*/fields=thread/mails=warm"
	got := benchmark(t, diskDir(t), row, "-corpus=synthetic:300", "-designs=column", "-metrics=all")
	if got.code != 0 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	reader := benchfmt.NewReader(bytes.NewReader([]byte(got.out)), "run")
	rows := 0
	for reader.Scan() {
		rec, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		rows++
		var sum, whole float64
		for _, v := range rec.Values {
			switch name, ok := strings.CutSuffix(v.Unit, filePart); {
			case v.Unit == "index-B/msg":
				whole = v.Value
			case ok && strings.HasPrefix(name, "mailbench."):
				sum += v.Value
			}
		}
		if whole == 0 || sum < 0.99*whole || sum > 1.01*whole {
			t.Errorf("the files add up to %v B/msg of %v: %s", sum, whole, got.out)
		}
		for _, v := range rec.Values {
			if v.Unit == "mailbench.cache-B/msg" && v.Value <= 0 {
				t.Errorf("a cache of %v", v)
			}
		}
	}
	if rows != 1 || reader.Units().GetBetter("mailbench.cache-B/msg") != -1 {
		t.Errorf("%d rows:\n%s", rows, got.out)
	}
	if got := benchmark(t, diskDir(t), row, "-corpus=synthetic:300", "-designs=column"); strings.Contains(got.out, "mailbench.cache"+filePart) {
		t.Errorf("without -metrics all:\n%s", got.out)
	}
}
