//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/peer"
)

// peersReport runs peers without servers' users in it and returns what it
// measured.
func peersReport(t *testing.T, wantCode int, args ...string) peer.Report {
	t.Helper()
	t.Setenv(asCommand, "1")
	got := mailbench(t, append([]string{"peers", "-format", "json", "-count", "1", "-timeout", "30s"}, args...)...)
	if got.code != wantCode || got.errs != "" {
		t.Fatalf("%q: exit code %d, want %d, standard error %q, %s", args, got.code, wantCode, got.errs, got.out)
	}
	var r peer.Report
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != peer.Schema {
		t.Errorf("schema %q", r.Schema)
	}
	return r
}

// nothingLeft holds that the run directory has gone.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "cache/mailbench/scratch/*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestPeers_ours measures our designs alone: every operation has a sample, and
// all give the same answers.
func TestPeers_ours(t *testing.T) {
	dir := home(t)
	r := peersReport(t, 0, "-systems", "", "-design", "column,linked", "synthetic:200,seed=3")
	if len(r.Columns) != 2 || r.Messages != 200 {
		t.Fatalf("%d columns, %d messages", len(r.Columns), r.Messages)
	}
	for _, c := range r.Columns {
		if c.Failed != "" || len(c.Sizes) == 0 {
			t.Errorf("%s: failed %q, sizes %v", c.Name, c.Failed, c.Sizes)
		}
		for _, op := range peer.Ops {
			cell := c.Cells[op]
			if cell == nil || len(cell.Samples) != 1 || cell.Samples[0].Wall <= 0 || cell.Samples[0].Process.Wall <= 0 {
				t.Errorf("%s %s: %+v", c.Name, op, cell)
			}
		}
	}
	for _, op := range []peer.Op{peer.OpThreadFirst, peer.OpThreadAgain, peer.OpSortDateAgain, peer.OpSortSubjectFirst} {
		if other, same, ok := r.Against(r.Columns[1], op); !ok || !same || other != "column" {
			t.Errorf("linked %s: against %q, same %v, asked %v", op, other, same, ok)
		}
	}
	nothingLeft(t, dir)
}

// TestPeers_dovecot holds our answers against the real Dovecot's.
func TestPeers_dovecot(t *testing.T) {
	needDovecot(t)
	home(t)
	r := peersReport(t, 0, "-systems", "dovecot,dovecot-matched", "-design", "column", "-ops", "thread-again,sort-subject-first", "synthetic:200,seed=3")
	if len(r.Columns) != 3 || r.Columns[0].Description.Version == "" || r.Columns[0].Description.Cached == "" {
		t.Fatalf("%+v", r.Columns)
	}
	for _, c := range r.Columns[1:] {
		for _, op := range []peer.Op{peer.OpThreadFirst, peer.OpThreadAgain, peer.OpSortSubjectFirst} {
			if other, same, ok := r.Against(c, op); !ok || !same || other != "dovecot" {
				t.Errorf("%s %s: against %q, same %v, asked %v", c.Name, op, other, same, ok)
			}
		}
		if c.Cells[peer.OpSortDateFirst] != nil {
			t.Errorf("%s: sorted by date unasked", c.Name)
		}
	}
}

// TestPeers_planted holds that a program on a pipe whose answers are wrong is
// seen, one that hangs is told, and a mailbox file is imported.
func TestPeers_planted(t *testing.T) {
	dir := home(t)
	if _, err := os.Stat("/bin/sed"); err != nil {
		t.Skip(err)
	}
	mbox := boxes(t, dir)[1].path
	session := os.Args[0] + " session -index-dir $MAILBENCH_INDEX_DIR -compat dovecot {}"
	r := peersReport(t, 0, "-systems", "", "-design", "column", "-ops", "thread-first",
		"-system", "mine="+session,
		"-system", `swapped=`+session+` | sed -u -E '/^\* THREAD /{s/\b1\b/@/; s/\b2\b/1/; s/@/2/}'`,
		"-system", `dies=echo not today, >&2; exit 3`, mbox)
	if len(r.Columns) != 4 {
		t.Fatalf("%d columns", len(r.Columns))
	}
	for name, want := range map[string]bool{"mine": true, "swapped": false} {
		for _, c := range r.Columns {
			if c.Name != name {
				continue
			}
			if other, same, ok := r.Against(c, peer.OpThreadFirst); !ok || same != want || other != "column" {
				t.Errorf("%s: against %q, same %v, asked %v, failed %q", name, other, same, ok, c.Failed)
			}
		}
	}
	if c := r.Columns[3]; !strings.Contains(c.Failed, "not today,") {
		t.Errorf("dies: %q", c.Failed)
	}
	nothingLeft(t, dir)
}

// TestPeers_absent holds that systems that are not installed are named, and
// that nothing being there is no failure.
func TestPeers_absent(t *testing.T) {
	home(t)
	r := peersReport(t, 0, "-systems", "dovecot,courier", "-dovecot", "/nowhere/imap", "-courier", "/nowhere/imapd", "-design", "", "synthetic:3")
	if len(r.Columns) != 0 || len(r.Missing) != 2 || !strings.Contains(r.Missing[0], "install") {
		t.Errorf("%d columns, missing %q", len(r.Columns), r.Missing)
	}
}

// TestPeers_refuses holds that flags that cannot be meant are one clear error.
func TestPeers_refuses(t *testing.T) {
	home(t)
	for want, args := range map[string][]string{
		`no system "exim"`:    {"-systems", "exim", "synthetic:3"},
		`no design "nothing"`: {"-design", "nothing", "synthetic:3"},
		`no operation "push"`: {"-ops", "push", "synthetic:3"},
		"-count 0":            {"-count", "0", "synthetic:3"},
		"-drop-caches":        {"-drop-caches", "synthetic:3"},
		"-format html":        {"-format", "html", "synthetic:3"},
		"NAME=COMMAND":        {"-system", "true", "synthetic:3"},
		"two of that name":    {"-system", "column=true", "synthetic:3"},
		"nothing is left":     {"-systems", "", "-design", "", "synthetic:3"},
		"/nowhere":            {"/nowhere"},
	} {
		if got := mailbench(t, append([]string{"peers"}, args...)...); got.code != 2 || !strings.Contains(got.errs, want) || strings.Count(got.errs, "\n") != 1 || got.out != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// TestPeers_output holds that a place that cannot be written to is refused
// before anything is measured, and what is there stays until then.
func TestPeers_output(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "no", "x.json"), dir} {
		if err := writable(name); err == nil {
			t.Errorf("%s can be written", name)
		}
	}
	there, fresh := filepath.Join(dir, "there"), filepath.Join(dir, "fresh")
	if err := os.WriteFile(there, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{there, fresh, ""} {
		if err := writable(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(there); string(b) != "of before" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(fresh); !os.IsNotExist(err) {
		t.Error("an empty file is left")
	}
}
