package peer

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// here skips a test whose server is not installed.
func here(t *testing.T, s System) {
	t.Helper()
	if err := s.Available(); err != nil {
		t.Skip(err)
	}
}

// speak does an operation of a system that is spoken to, as the measuring does,
// and returns the untagged lines of the timed step.
func speak(t *testing.T, inst Instance, op Op) (lines []string) {
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
	if len(task.Script) > 0 {
		c := imap.New(p)
		if _, err := c.Greeting(ctx); err != nil {
			t.Fatalf("%s: %v, log: %s", op, err, inst.LogTail())
		}
		for _, step := range task.Script {
			_, err := c.Do(ctx, step.Command, func(line []byte) {
				if step.Timed {
					lines = append(lines, string(line))
				}
			})
			if err != nil {
				t.Fatalf("%s: %v, log: %s", op, err, inst.LogTail())
			}
		}
		if err := c.Logout(ctx); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	if use, err := p.Wait(ctx); err != nil || use.Exit != 0 {
		t.Fatalf("%s: exit status %d, %v, log: %s", op, use.Exit, err, inst.LogTail())
	}
	return lines
}

// begins finds the line that begins with a word.
func begins(lines []string, word string) string {
	for _, l := range lines {
		if strings.HasPrefix(l, word+" ") {
			return l
		}
	}
	return ""
}

// TestDovecot does every operation, in each format that Dovecot keeps.
func TestDovecot(t *testing.T) {
	here(t, NewDovecot(DovecotOptions{}))
	const n = 60
	for _, o := range []DovecotOptions{{}, {Name: "dovecot-matched", CacheFields: DovecotMatchedFields}, {Name: "sdbox", Format: "sdbox"}, {Name: "mdbox", Format: "mdbox", Fsync: "never"}} {
		sys := NewDovecot(o)
		t.Run(sys.Name(), func(t *testing.T) {
			t.Parallel()
			run := indexerRun(t, n)
			inst, err := sys.Prepare(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			defer inst.Close()
			dbox := strings.HasSuffix(sys.Name(), "dbox")
			var threads, dates string
			for _, op := range Ops {
				if dbox && (op == OpSelectFirst || op == OpResync) {
					if inst.Task(op) != nil {
						t.Errorf("%s of a dbox", op)
					}
					continue
				}
				got := speak(t, inst, op)
				switch op {
				case OpSelectFirst, OpSelectAgain, OpResync:
					if !slices.Contains(got, "60 EXISTS") {
						t.Errorf("%s: %q", op, got)
					}
				case OpThreadFirst:
					threads = begins(got, "THREAD")
					if len(strings.FieldsFunc(threads, func(r rune) bool { return r < '0' || r > '9' })) < n {
						t.Errorf("%s: %s", op, threads)
					}
				case OpThreadAgain:
					if got := begins(got, "THREAD"); got != threads {
						t.Errorf("%s: %s, at first %s", op, got, threads)
					}
				case OpSortDateFirst:
					dates = begins(got, "SORT")
				case OpSortDateAgain:
					if got := begins(got, "SORT"); got != dates || len(strings.Fields(got)) != n+1 {
						t.Errorf("%s: %s, at first %s", op, got, dates)
					}
				}
			}
			d := inst.Describe()
			for _, want := range []string{"hdr.subject", "hdr.message-id"} {
				if !strings.Contains(strings.ToLower(d.Cached), want) {
					t.Errorf("cached: %q", d.Cached)
				}
			}
			if !strings.HasPrefix(d.Version, "2.") || !strings.Contains(d.Config, "$RUN/mail") || strings.Contains(d.Config, run.Dir) {
				t.Errorf("%s: %s", d.Version, d.Config)
			}
			files, err := inst.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, class := range []string{"index", "cache", "thread"} {
				if class == "index" {
					class = "log" // a small mailbox has no more than that
				}
				if !slices.ContainsFunc(files, func(f File) bool { return f.Class == class && f.Size > 0 }) {
					t.Errorf("no %s among %v", class, files)
				}
			}
			if err := inst.Fresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			files, err = inst.Files()
			if err != nil || !dbox && len(files) > 0 || slices.ContainsFunc(files, func(f File) bool { return f.Class == "cache" || f.Class == "thread" }) {
				t.Errorf("fresh: %v %v", files, err)
			}
			if got := begins(speak(t, inst, OpThreadFirst), "THREAD"); got != threads {
				t.Errorf("afresh: %s, before %s", got, threads)
			}
		})
	}
}

// TestDovecot_withIndex takes an index along that has seen an expunge, and looks
// whether its UIDs and its cache are used and the user's files left alone.
func TestDovecot_withIndex(t *testing.T) {
	t.Parallel()
	here(t, NewDovecot(DovecotOptions{}))
	run := indexerRun(t, 30)
	run.Dir = filepath.Join(run.Dir, "first")
	old, err := NewDovecot(DovecotOptions{}).Prepare(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	speak(t, old, OpSelectFirst)
	threads := begins(speak(t, old, OpThreadFirst), "THREAD")

	// A user has both kinds of files in one directory, the maildir's.
	aged := t.TempDir()
	for _, pattern := range []string{"index/.INBOX/dovecot.index*", "control/.INBOX/dovecot-uidlist"} {
		names, _ := filepath.Glob(filepath.Join(run.Dir, pattern))
		if len(names) == 0 {
			t.Fatalf("no %s", pattern)
		}
		for _, name := range names {
			if err := copyFile(name, filepath.Join(aged, filepath.Base(name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := filepath.Join(aged, "dovecot-uidlist")
	before, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	validity := strings.Fields(string(before))[1]

	run2 := *run
	run2.Dir = filepath.Join(filepath.Dir(run.Dir), "second")
	inst, err := NewDovecot(DovecotOptions{WithIndex: aged}).Prepare(t.Context(), &run2)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	if inst.Task(OpSelectFirst) != nil {
		t.Error("a first select with an index that is there")
	}
	for round := range 2 {
		got := speak(t, inst, OpSelectAgain)
		if !slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, "[UIDVALIDITY "+validity[1:]+"]") }) {
			t.Errorf("round %d: not the user's UIDVALIDITY %s: %q", round, validity, got)
		}
		if !strings.Contains(inst.Describe().Cached, "hdr.") {
			t.Errorf("round %d: not the user's cache: %q", round, inst.Describe().Cached)
		}
		if got := begins(speak(t, inst, OpThreadAgain), "THREAD"); got != threads {
			t.Errorf("round %d: %s, want %s", round, got, threads)
		}
		if err := inst.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.ReadFile(list)
	if err != nil || string(after) != string(before) {
		t.Errorf("the user's own files were written to: %v", err)
	}
}
