package peer

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mailbench/peer/proc"
)

var update = flag.Bool("update", false, "write the golden files")

// fixedReport has one of everything: spread, notes, a system that hung, an
// answer of ours that is wrong, one of a server that differs, one that changes.
func fixedReport() *Report {
	sample := func(us int, digest uint64) Sample {
		d := time.Duration(us) * time.Microsecond
		return Sample{
			Process: proc.Usage{Wall: d + 6*time.Millisecond, User: d / 2, Sys: d / 4, Peak: 7 << 20, PeakAnon: 2 << 20, PeakFile: 5 << 20, Written: int64(us)},
			Wall:    d, CPU: d * 9 / 10, Reply: 1000, Digest: digest,
		}
	}
	cell := func(asks string, digest uint64, us ...int) *Cell {
		c := &Cell{Asks: asks}
		for _, n := range us {
			c.Samples = append(c.Samples, sample(n, digest))
		}
		return c
	}
	const thread, date = "thread-references", "sort-date"
	changing := cell(date, 8, 400, 500, 450)
	changing.Samples[1].Digest = 9
	index := cell("", 0, 700_000, 650_000, 900_000)
	index.Note, index.Whole = "includes the full-text index", true
	cold := &Cell{Skipped: "3 of 9 pages are resident", Missed: "not nodata"}
	doubtful := cell("", 0, 200, 200, 200)
	doubtful.Samples[2].Doubt = "read 8192 bytes from the device"
	return &Report{
		Schema: Schema, Command: []string{"mailbench", "peers", "list"}, Begun: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Corpus: "list", Messages: 1000, Mails: "warm", Rounds: 3, Machine: "linux/amd64, 2 processors", Place: "ext4 on /dev/sda1 (rw)",
		Columns: []*Column{
			{Name: "dovecot", Description: Description{Version: "2.3.19.1", Cached: "date, subject", Config: "ssl = no\n"}, Cells: map[Op]*Cell{
				OpNoop: cell("", 0, 60, 50, 70), OpSelectFirst: doubtful, OpThreadFirst: cell(thread, 1, 12000, 11000, 14000), OpThreadAgain: cell(thread, 1, 600, 580, 700),
				OpSortDateFirst: cell(date, 5, 3000, 2900, 3300),
			}, Sizes: map[string]int64{"cache": 400_000, "index": 12_000}},
			{Name: "courier", Description: Description{Version: "5.0.13", Notes: []string{"it threads otherwise"}}, Cells: map[Op]*Cell{
				OpNoop: cell("", 0, 6, 6, 6), OpThreadFirst: cell(thread, 2, 120000, 110000, 150000), OpThreadAgain: cell(thread, 2, 120000, 110000, 150000), OpSortDateFirst: cold,
			}},
			{Name: "mu", Cells: map[Op]*Cell{OpSelectFirst: index}},
			{Name: "column", Ours: true, Cells: map[Op]*Cell{
				OpNoop: cell("", 0, 60, 60, 60), OpThreadFirst: cell(thread, 1, 6000, 5000, 7000), OpThreadAgain: cell(thread, 3, 60, 60, 60), OpSortDateFirst: changing,
			}, Sizes: map[string]int64{"cache": 20_000}},
			{Name: "hang", Cells: map[Op]*Cell{OpNoop: {Skipped: "NOOP: deadline exceeded (its log: stuck)", Missed: "timed out"}}, Failed: "noop: NOOP: deadline exceeded (its log: stuck)"},
		},
		Missing: []string{"cyrus not found: apt-get install cyrus-imapd"},
	}
}

func TestReport_golden(t *testing.T) {
	r := fixedReport()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"peers.txt": func(b *bytes.Buffer) error { return r.WriteText(b) },
		"peers.md":  func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s (go test -update writes it anew):\n%s", name, got.String())
		}
	}
}

// TestReport_width holds that tables of many columns are continued below, and
// that no column is lost.
func TestReport_width(t *testing.T) {
	r := fixedReport()
	for len(r.Columns) < 13 {
		more := *r.Columns[len(r.Columns)-5]
		more.Name += "-and-another"
		r.Columns = append(r.Columns, &more)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > textWidth && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "  to the last byte") {
			t.Errorf("%d wide: %s", n, line)
		}
	}
	for _, c := range r.Columns {
		if n := strings.Count(b.String(), " "+c.Name); n < 5 {
			t.Errorf("%s is in %d tables", c.Name, n)
		}
	}
}

func TestReport_JSON(t *testing.T) {
	r := fixedReport()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, r) {
		t.Errorf("comes back as %+v", back)
	}
}

func TestReport_answers(t *testing.T) {
	r := fixedReport()
	if got := strings.Join(r.Wrong(), ";"); got != "column: thread-again: not the answer of dovecot" {
		t.Errorf("wrong: %s", got)
	}
	if got := strings.Join(r.Unsteady(), ";"); got != "column: sort-date-first" {
		t.Errorf("unsteady: %s", got)
	}
	r.Columns = r.Columns[1:] // Courier, which differs, is no measure of ours
	if got := r.Wrong(); len(got) > 0 {
		t.Errorf("against Courier: %q", got)
	}
}
