package peer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/corpus"
	"mailbench/maildir"
	"mailbench/peer/proc"
)

// TestCyrus holds that Cyrus answers over a corpus with all its faults what is
// known of it, byte for byte, however it was asked before.
func TestCyrus(t *testing.T) {
	spec := corpus.Spec{Messages: 300}
	truth, err := corpus.NewTruth(spec)
	if err != nil {
		t.Fatal(err)
	}
	inst, run := prepared(t, NewCyrus(CyrusOptions{}), spec)
	d := inst.Describe()
	if d.Version == "" || strings.Contains(d.Version, " ") || d.Cached == "" || len(d.Notes) == 0 {
		t.Errorf("description %+v", d)
	}
	if strings.Contains(d.Config, run.Dir) || !strings.Contains(d.Config, "partition-default: $RUN/spool\n") {
		t.Errorf("configuration\n%s", d.Config)
	}
	for _, op := range []Op{OpResync, OpCompact} {
		if inst.Task(op) != nil {
			t.Errorf("cyrus has %s", op)
		}
	}
	for round := range 2 {
		said(t, inst, OpNoop)
		if _, err := os.Stat(filepath.Join(inst.(*cyrusInstance).spool, "cyrus.index")); err == nil {
			t.Error("NOOP makes the index, which the first select is for")
		}
		if round == 0 {
			said(t, inst, OpSelectFirst)
		} // else the index that threading wants is made for it
		for _, op := range []Op{OpThreadFirst, OpThreadAgain, OpSortDateFirst, OpSortDateAgain, OpSortSubjectFirst, OpSortSubjectAgain} {
			if !told(t, inst, op, truth) {
				t.Errorf("round %d: %s is another answer than the corpus knows", round, op)
			}
		}
		if got := said(t, inst, OpSelectAgain); !slices.Contains(got, "300 EXISTS") {
			t.Errorf("select: %q", got)
		}
		sizes := map[string]int64{}
		files, err := inst.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			sizes[f.Class] += f.Size
			if st, err := os.Stat(filepath.Join(run.Dir, f.Path)); err != nil || st.Size() != f.Size {
				t.Errorf("%+v: %v", f, err)
			}
		}
		if sizes["index"] < 300*96 || sizes["cache"] < 300*200 || sizes["list"] == 0 {
			t.Errorf("sizes %v", sizes)
		}
		if err := inst.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		files, err = inst.Files()
		if err != nil || slices.ContainsFunc(files, func(f File) bool { return f.Class == "index" || f.Class == "cache" }) {
			t.Errorf("after Fresh %+v, %v", files, err)
		}
	}
	sameFiles(t, inst, run)
}

// sameFiles holds that UIDNames are the files of the corpus in the order of
// UIDs that ours give them.
func sameFiles(t *testing.T, inst Instance, run *Run) {
	t.Helper()
	names, err := inst.(UIDNamer).UIDNames()
	if err != nil {
		t.Fatal(err)
	}
	var scan maildir.Scan
	if err := scan.Read(run.Corpus, maildir.Options{}); err != nil {
		t.Fatal(err)
	}
	maildir.SortBase(scan.Entries)
	if len(names) != len(scan.Entries) {
		t.Errorf("%d names, %d files", len(names), len(scan.Entries))
	}
	for i, e := range scan.Entries {
		if names[uint32(i+1)] != e.Base {
			t.Fatalf("UID %d is %q, not %q", i+1, names[uint32(i+1)], e.Base)
		}
	}
}

// TestCyrus_differences holds what its notes say of it: the messages are in the
// order in which a server that keeps to the RFC sorts them.
func TestCyrus_differences(t *testing.T) {
	mail := t.TempDir()
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(mail, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, header := range []string{
		"Subject: Angstroz\n", "Subject: =?utf-8?Q?=C3=85ngstroa?=\n", "", "Subject: Beta\nSubject: aaa\n", "Subject: Gamma\n",
	} {
		if header != "" {
			header += "From: a@example.org\nDate: Fri, 1 Jan 2010 10:14:04 +0800\n\nx\n"
		}
		if err := os.WriteFile(filepath.Join(mail, "cur", fmt.Sprintf("%d.M1P1.box:2,", 1262304000+i)), []byte(header), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inst, _ := preparedOver(t, NewCyrus(CyrusOptions{}), mail)
	if notes := strings.Join(inst.Describe().Notes, "\n"); !strings.Contains(notes, "1 empty message") || !strings.Contains(notes, "last of several Subject") {
		t.Errorf("notes\n%s", notes)
	}
	// It is for those who keep what a program prints, and says nothing of each message.
	if out, err := programOutput(t.Context(), inst.Task(OpSelectFirst).Command, inst.LogTail); err != nil || out != "" {
		t.Errorf("reconstruct prints %q, %v", out, err)
	}
	if got, want := line(t, said(t, inst, OpSortSubjectFirst), "SORT"), "SORT 4 1 5 2"; got != want {
		t.Errorf("%s, noted was what makes %s", got, want)
	}
}

func TestCyrus_empty(t *testing.T) {
	inst, _ := prepared(t, NewCyrus(CyrusOptions{}), corpus.Spec{})
	said(t, inst, OpSelectFirst)
	if got := said(t, inst, OpSelectAgain); !slices.Contains(got, "0 EXISTS") {
		t.Errorf("select: %q", got)
	}
}

func TestCyrus_absent(t *testing.T) {
	var missing *Missing
	bin := t.TempDir()
	check := func() {
		t.Helper()
		err := NewCyrus(CyrusOptions{Bin: bin}).Available()
		if m, ok := err.(*Missing); !ok || !strings.Contains(m.Error(), bin) || m.Install == "" {
			t.Errorf("%v, want %T", err, missing)
		}
	}
	check()
	if err := os.WriteFile(filepath.Join(bin, "reconstruct"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	check() // and no imapd
	if err := os.WriteFile(filepath.Join(bin, "imapd"), []byte("#!/bin/sh\necho no >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := NewCyrus(CyrusOptions{Bin: bin}).Available(); err != nil {
		t.Errorf("with both programs: %v", err)
	}
}

// TestCyrus_stranger holds that another imapd in its place is an error with what
// it said.
func TestCyrus_stranger(t *testing.T) {
	user, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := proc.MakeDir("", user)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	bin := filepath.Join(dir.Path, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"imapd", "reconstruct"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho unknown option -X >&2\nexit 64\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := &Run{Dir: filepath.Join(dir.Path, "run"), User: user, Log: new(bytes.Buffer)}
	_, err = NewCyrus(CyrusOptions{Bin: bin}).Prepare(context.Background(), run)
	if err == nil || !strings.Contains(err.Error(), "unknown option -X") {
		t.Errorf("error %v", err)
	}
}

func TestCyrusVersion(t *testing.T) {
	for in, want := range map[string]string{
		"[CAPABILITY IMAP4rev1 AUTH=PLAIN] vm Cyrus IMAP 3.6.1-Debian-3.6.1-4+deb12u5 server ready": "3.6.1-Debian-3.6.1-4+deb12u5",
		"mail Cyrus IMAP 3.10.1": "3.10.1",
		"ready":                  "ready",
	} {
		if got := cyrusVersion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAppendCRLF(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "a\n": "a\r\n", "a\r\nb\n\nc": "a\r\nb\r\n\r\nc", "\n": "\r\n", "a\rb\r\r\n": "a\rb\r\r\n",
	} {
		got := appendCRLF([]byte("x"), []byte(in))
		if string(got) != "x"+want {
			t.Errorf("%q: %q, want x%q", in, got, want)
		}
		if n := maildir.CRLFSize([]byte(in)); n != int64(len(want)) {
			t.Errorf("%q: CRLFSize says %d bytes, it is %d", in, n, len(want))
		}
	}
}
