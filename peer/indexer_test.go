package peer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/peer/proc"
)

// indexerRun makes a run over a corpus of n messages without faults.
func indexerRun(t *testing.T, n int) *Run {
	t.Helper()
	user, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := proc.MakeDir("", user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Remove(); err != nil {
			t.Error(err)
		}
	})
	mail := filepath.Join(t.TempDir(), "mail")
	if _, err := corpus.WriteMaildir(t.Context(), mail, corpus.Spec{Messages: n, Clean: true}, nil); err != nil {
		t.Fatal(err)
	}
	return &Run{Dir: dir.Path, Corpus: mail, User: user, Timeout: time.Minute, Log: io.Discard}
}

// lines does an operation of a program that is not spoken to and returns what
// it prints.
func lines(t *testing.T, inst Instance, op Op) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	task := inst.Task(op)
	if task == nil {
		t.Fatalf("no %s", op)
	}
	if task.Before != nil {
		if err := task.Before(ctx); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	p, err := proc.Start(ctx, task.Command)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	out, err := io.ReadAll(p)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	use, err := p.Wait(ctx)
	if err != nil || use.Exit != 0 {
		t.Fatalf("%s: exit status %d, %v, log: %s", op, use.Exit, err, inst.LogTail())
	}
	text := strings.TrimSuffix(string(out), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// TestIndexers does every operation of notmuch and mu and looks at what it
// prints: all messages, or all threads.
func TestIndexers(t *testing.T) {
	const n = 120
	for _, s := range []struct {
		sys System
		has []Op // that print a line a message
		no  []Op
	}{
		{NewNotmuch(NotmuchOptions{}), []Op{OpSortDateFirst, OpSortDateAgain}, []Op{OpSortSubjectFirst, OpSortSubjectAgain}},
		{NewMu(MuOptions{}), []Op{OpThreadAgain, OpSortDateFirst, OpSortDateAgain, OpSortSubjectFirst, OpSortSubjectAgain}, []Op{OpCompact}},
	} {
		t.Run(s.sys.Name(), func(t *testing.T) {
			t.Parallel()
			if err := s.sys.Available(); err != nil {
				t.Skip(err)
			}
			run := indexerRun(t, n)
			inst, err := s.sys.Prepare(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			defer inst.Close()
			if d := inst.Describe(); d.Version == "" || strings.ContainsAny(d.Version, " \n") || len(d.Notes) == 0 {
				t.Errorf("described as %+v", d)
			}
			for _, op := range Ops {
				if slices.Contains(s.no, op) {
					if inst.Task(op) != nil {
						t.Errorf("has %s", op)
					}
					continue
				}
				got := lines(t, inst, op)
				if slices.Contains(s.has, op) && len(got) != n {
					t.Errorf("%s prints %d lines, not %d", op, len(got), n)
				}
				if op == OpThreadAgain && (len(got) == 0 || len(got) > n) {
					t.Errorf("%s prints %d lines for %d messages", op, len(got), n)
				}
			}

			files, err := inst.Files()
			if err != nil {
				t.Fatal(err)
			}
			size := int64(0)
			for _, f := range files {
				if st, err := os.Stat(filepath.Join(run.Dir, f.Path)); err != nil || st.Size() != f.Size {
					t.Errorf("file %+v: %v", f, err)
				}
				if f.Class == "database" {
					size += f.Size
				}
			}
			if size < 1000*n {
				t.Errorf("a full-text index of %d bytes for %d messages", size, n)
			}

			// A message that comes is found by the next resync, and by nothing before.
			mails, err := filepath.Glob(filepath.Join(run.Dir, "home/Mail/INBOX/cur/*"))
			if err != nil || len(mails) != n {
				t.Fatalf("%d messages in the clone: %v", len(mails), err)
			}
			late := filepath.Join(filepath.Dir(mails[0]), "1999999999.M1P1.late:2,S")
			if err := os.WriteFile(late, []byte("Message-ID: <late@example.net>\nDate: Fri, 1 Jan 2016 00:00:00 +0000\nFrom: a@example.net\nSubject: late\n\nlate\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := len(lines(t, inst, OpSortDateAgain)); got != n {
				t.Errorf("%d messages before the resync, not %d", got, n)
			}
			lines(t, inst, OpResync)
			if got := len(lines(t, inst, OpSortDateAgain)); got != n+1 {
				t.Errorf("%d messages after the resync, not %d", got, n+1)
			}

			if err := inst.Fresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			lines(t, inst, OpSelectFirst)
			if got := len(lines(t, inst, OpSortDateAgain)); got != n+1 {
				t.Errorf("%d messages after a fresh index, not %d", got, n+1)
			}
		})
	}
}

// TestIndexers_order holds that the sorts sort.
func TestIndexers_order(t *testing.T) {
	mail := filepath.Join(t.TempDir(), "mail")
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(mail, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, header := range map[string]string{
		"1": "Message-ID: <one@example.net>\nDate: Wed, 3 Feb 2010 00:00:00 +0000\nSubject: banana\n",
		"2": "Message-ID: <two@example.net>\nDate: Mon, 1 Feb 2010 00:00:00 +0000\nSubject: cherry\n",
		"3": "Message-ID: <three@example.net>\nDate: Tue, 2 Feb 2010 00:00:00 +0000\nSubject: apple\n",
	} {
		if err := os.WriteFile(filepath.Join(mail, "cur", "126500000"+name+".M1P1.x:2,"), []byte(header+"From: a@example.net\n\ntext\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const byDate, bySubject = "two three one", "three one two"
	for _, s := range []struct {
		sys  System
		want map[Op]string
	}{
		{NewNotmuch(NotmuchOptions{}), map[Op]string{OpSortDateAgain: byDate}},
		{NewMu(MuOptions{}), map[Op]string{OpSortDateAgain: byDate, OpSortSubjectAgain: bySubject}},
	} {
		t.Run(s.sys.Name(), func(t *testing.T) {
			t.Parallel()
			if err := s.sys.Available(); err != nil {
				t.Skip(err)
			}
			run := indexerRun(t, 1)
			run.Corpus = mail
			inst, err := s.sys.Prepare(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			lines(t, inst, OpSelectFirst)
			for op, want := range s.want {
				var got []string
				for _, line := range lines(t, inst, op) {
					got = append(got, strings.TrimPrefix(strings.TrimSuffix(line, "@example.net"), "id:"))
				}
				if strings.Join(got, " ") != want {
					t.Errorf("%s: %v, not %s", op, got, want)
				}
			}
		})
	}
}

// TestIndexers_missing holds that a program that is not there is a Missing.
func TestIndexers_missing(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nothing")
	for _, sys := range []System{NewNotmuch(NotmuchOptions{Program: nowhere}), NewMu(MuOptions{Program: nowhere})} {
		err := sys.Available()
		var missing *Missing
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install") {
			t.Errorf("%s: %v", sys.Name(), err)
		}
		if _, err := sys.Prepare(t.Context(), &Run{}); !errors.As(err, &missing) {
			t.Errorf("%s prepared: %v", sys.Name(), err)
		}
	}
}
