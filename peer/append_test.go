package peer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mailbench/peer/proc"
)

// ordinary is whom servers run as in tests.
func ordinary(t *testing.T) *proc.User {
	t.Helper()
	u, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestMeasureAppend_dovecot appends to the real Dovecot in every format with
// every promise.
func TestMeasureAppend_dovecot(t *testing.T) {
	t.Parallel()
	if err := NewDovecot(DovecotOptions{}).Available(); err != nil {
		t.Skip(err)
	}
	o := AppendOptions{Clients: []int{1, 3}, Messages: 4, Designs: []string{}, Fsync: []string{"optimized", "always", "never"},
		Count: 2, Seed: 7, User: ordinary(t)}
	for _, unselected := range []bool{false, true} {
		o.Unselected = unselected
		if unselected {
			o.Formats, o.Fsync, o.Clients, o.Count = []string{"mdbox"}, []string{"never"}, []int{3}, 1
		}
		r, err := MeasureAppend(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		rows := 1
		if !unselected {
			rows = 3 * 3 * 2
		}
		if len(r.Rows) != rows || len(r.Skipped) > 1 { // imaptest
			t.Fatalf("%d rows, skipped %q", len(r.Rows), r.Skipped)
		}
		for _, row := range r.Rows {
			if len(row.Samples) != o.Count {
				t.Errorf("%+v: %d samples", row, len(row.Samples))
			}
			for _, s := range row.Samples {
				// 4 messages of 3 KiB for each client were written.
				if s.Wall <= 0 || s.CPU <= 0 || s.P50 <= 0 || s.P99 < s.P50 || s.Wall < s.P50 || s.Written < int64(row.Clients*4*appendedBytes) {
					t.Errorf("%s %s %d: %+v", row.System, row.Fsync, row.Clients, s)
				}
			}
		}
		if d := r.Systems["dovecot-mdbox"]; d.Version == "" || !strings.Contains(d.Config, "mdbox:") {
			t.Errorf("described as %+v", d)
		}
	}
}

// TestMeasureAppend_timeout holds that a server that is not done in time is
// ended, and named.
func TestMeasureAppend_timeout(t *testing.T) {
	t.Parallel()
	if err := NewDovecot(DovecotOptions{}).Available(); err != nil {
		t.Skip(err)
	}
	_, err := MeasureAppend(t.Context(), AppendOptions{
		Clients: []int{2}, Messages: 2000, Formats: []string{"mdbox"}, Fsync: []string{"never"}, Designs: []string{},
		Timeout: 150 * time.Millisecond, User: ordinary(t),
	})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "dovecot-mdbox, fsync never, 2 clients") {
		t.Errorf("%v", err)
	}
}

// TestReadBack holds that a message that is gone, or is another, is noticed.
func TestReadBack(t *testing.T) {
	t.Parallel()
	sys := NewDovecot(DovecotOptions{})
	if err := sys.Available(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := indexerRun(t, 1)
	run.Corpus = ""
	inst, err := sys.Prepare(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	box := &pipeBox{inst}
	s, err := connect(ctx, box, 2)
	if err != nil {
		t.Fatal(err)
	}
	messages := newAppended(1, 6)
	if _, err := appendAll(ctx, s, messages, false); err != nil {
		t.Fatal(err)
	}
	if err := s.end(ctx); err != nil {
		t.Fatal(err)
	}
	read := func(messages [][]byte) error {
		s, err := connect(ctx, box, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer s.kill()
		return readBack(ctx, s.conns[0], messages)
	}
	if err := read(messages); err != nil {
		t.Error(err)
	}
	if err := read(messages[:5]); !errors.Is(err, ErrLost) {
		t.Errorf("one more than there should be: %v", err)
	}
	other := append(bytes.Clone(messages[5]), ".\r\n"...)
	if err := read(append(messages[:5:5], other)); !errors.Is(err, ErrLost) {
		t.Errorf("another message: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(run.Dir, "mail", "*", "*"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		if strings.Contains(f, "/cur/") || strings.Contains(f, "/new/") {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if err := read(messages); !errors.Is(err, ErrLost) {
		t.Errorf("a message less: %v", err)
	}
}

func TestNewAppended(t *testing.T) {
	list := newAppended(3, 400)
	seen := map[string]bool{}
	for i, m := range list {
		if len(m) != appendedBytes {
			t.Fatalf("message %d has %d bytes", i, len(m))
		}
		if seen[string(m)] {
			t.Fatalf("message %d was there before", i)
		}
		seen[string(m)] = true
		if bytes.Count(m, []byte("\n")) != bytes.Count(m, []byte("\r\n")) || bytes.Count(m, []byte("\r")) != bytes.Count(m, []byte("\r\n")) || !bytes.HasSuffix(m, []byte("\r\n")) {
			t.Fatalf("message %d has lines that do not end in CRLF", i)
		}
		if bytes.IndexByte(m, 0) >= 0 || !bytes.Contains(m, []byte("\r\nMessage-ID: ")) && !bytes.Contains(m, []byte("\r\nMessage-Id: ")) {
			t.Fatalf("message %d is no mail:\n%s", i, m)
		}
	}
	if again := newAppended(3, 400); !bytes.Equal(again[399], list[399]) {
		t.Error("another time there are others")
	}
	if other := newAppended(4, 1); bytes.Equal(other[0], list[0]) {
		t.Error("another seed has the same")
	}
}

func TestFetchedBody(t *testing.T) {
	for _, c := range []struct {
		line, want string
		ok, bad    bool
	}{
		{"1 FETCH (UID 1 BODY[] {3}\r\nabc)", "abc", true, false},
		{"1 FETCH (BODY[] {0}\r\n UID 1)", "", true, false},
		{"1 FETCH (UID 1 BODY[] {5}\r\na)\r\n FLAGS ())", "a)\r\n ", true, false},
		{"3 EXISTS", "", false, false},
		{"1 FETCH (FLAGS (\\Seen))", "", false, false},
		{"1 FETCH (BODY[] {9}\r\nabc)", "", false, true},
		{"1 FETCH (BODY[] {-1}\r\nabc)", "", false, true},
		{"1 FETCH (BODY[] {3", "", false, true},
		{"1 FETCH (BODY[] {}\r\n)", "", false, true},
	} {
		got, ok, err := fetchedBody([]byte(c.line))
		if string(got) != c.want || ok != c.ok || (err != nil) != c.bad {
			t.Errorf("%q: %q %v %v", c.line, got, ok, err)
		}
	}
}

func FuzzFetchedBody(f *testing.F) {
	f.Add([]byte("1 FETCH (UID 1 BODY[] {3}\r\nabc)"))
	f.Add([]byte("1 FETCH (BODY[] {99999999999999999999}\r\nabc)"))
	f.Fuzz(func(t *testing.T, line []byte) {
		msg, ok, err := fetchedBody(line)
		if err != nil && ok {
			t.Error("an error, and ok")
		}
		if !ok {
			return
		}
		// What stands before it says how long it is.
		at := cap(line) - cap(msg)
		head := line[:at]
		open := bytes.LastIndexByte(head, '{')
		if n, err := strconv.Atoi(strings.TrimSuffix(string(head[open+1:]), "}\r\n")); err != nil || n != len(msg) {
			t.Errorf("%q after %q", msg, head)
		}
	})
}

// TestMeasureAppend_refuses holds that what cannot be is one clear error.
func TestMeasureAppend_refuses(t *testing.T) {
	for want, o := range map[string]AppendOptions{
		"0 clients":       {Clients: []int{0}},
		"2000 clients":    {Clients: []int{2000}},
		"messages at mos": {Clients: []int{1000}, Messages: 1000},
		`fsync "group"`:   {Fsync: []string{"group"}},
		`format "mbox"`:   {Formats: []string{"mbox"}},
		"-1 messages":     {Messages: -1},
		"-3 rounds":       {Count: -3},
	} {
		if _, err := MeasureAppend(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestAppendReport(t *testing.T) {
	r := &AppendReport{Messages: 100, Bytes: 3072, Rounds: 3, Skipped: []string{"x: not found"}, Rows: []*AppendRow{
		{System: "dovecot-mdbox", Fsync: "never", Clients: 2, Samples: []AppendSample{{Messages: 200, Wall: time.Second}, {Messages: 200, Wall: 2 * time.Second}, {Messages: 200, Wall: 4 * time.Second, CPU: time.Second, Written: 1000}}},
		{System: "column-mdbox", Against: "dovecot-mdbox", Fsync: "never", Clients: 2, Samples: []AppendSample{
			{Messages: 200, Wall: time.Second / 4, CPU: 20 * time.Millisecond, Written: 400_000, P50: time.Millisecond, P99: 3 * time.Millisecond}}},
		{System: "column-mdbox", Against: "dovecot-mdbox", Fsync: "optimized", Clients: 2},
	}}
	r.describe("dovecot-mdbox", Description{Version: "9.9"})
	if x := r.Ratio(r.Rows[1]); x != 8 { // 800/s against 100/s
		t.Errorf("ratio %v", x)
	}
	if x := r.Ratio(r.Rows[0]); x != 0 {
		t.Errorf("Dovecot's ratio %v", x)
	}
	if x := r.Ratio(r.Rows[2]); x != 0 {
		t.Errorf("ratio %v of no sample", x)
	}
	var text, page, data strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteMarkdown(&page), r.WriteJSON(&data)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# dovecot-mdbox 9.9\n", "# skipped x: not found\n", "50..200"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if want := "| column-mdbox | never | 2 | 800 | 800..800 | 8.00x | 100 | 2000 | 1.00 | 3.00 |\n"; !strings.Contains(page.String(), want) {
		t.Errorf("no %q in\n%s", want, page.String())
	}
	if want := `"wall_ns": 250000000`; !strings.Contains(data.String(), want) {
		t.Errorf("no %q in\n%s", want, data.String())
	}
}
