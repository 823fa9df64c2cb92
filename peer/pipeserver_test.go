package peer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// prepared makes sys ready over a corpus, or skips the test where it is absent.
func prepared(t *testing.T, sys System, spec corpus.Spec) (Instance, *Run) {
	t.Helper()
	if err := sys.Available(); err != nil {
		t.Skip(err)
	}
	var mail string
	if spec.Messages != 0 {
		mail = filepath.Join(t.TempDir(), "mail")
		if _, err := corpus.WriteMaildir(t.Context(), mail, spec, nil); err != nil {
			t.Fatal(err)
		}
	}
	return preparedOver(t, sys, mail)
}

// preparedOver makes sys ready over the maildir mail.
func preparedOver(t *testing.T, sys System, mail string) (Instance, *Run) {
	t.Helper()
	if err := sys.Available(); err != nil {
		t.Skip(err)
	}
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
	run := &Run{Dir: dir.Path, Corpus: mail, User: user, Timeout: time.Minute, Log: io.Discard}
	inst, err := sys.Prepare(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := inst.Close(); err != nil {
			t.Error(err)
		}
	})
	return inst, run
}

// said does an operation and returns the untagged lines of its timed command.
func said(t *testing.T, inst Instance, op Op) []string {
	t.Helper()
	task := inst.Task(op)
	if task == nil {
		t.Fatalf("no %s", op)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if task.Before != nil {
		if err := task.Before(ctx); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	p, err := proc.Start(ctx, task.Command)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	var out []string
	if len(task.Script) > 0 {
		timed := 0
		client := imap.New(p)
		if _, err := client.Greeting(ctx); err != nil {
			t.Fatalf("%s: %v: %s", op, err, inst.LogTail())
		}
		for _, step := range task.Script {
			var on func([]byte)
			if step.Timed {
				timed++
				on = func(line []byte) { out = append(out, string(bytes.Clone(line))) }
			}
			if _, err := client.Do(ctx, step.Command, on); err != nil {
				t.Fatalf("%s: %s: %v: %s", op, step.Command, err, inst.LogTail())
			}
		}
		if timed != 1 {
			t.Errorf("%s has %d timed steps", op, timed)
		}
		if err := client.Logout(ctx); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	use, err := p.Wait(ctx)
	if err != nil || use.Exit != 0 {
		t.Fatalf("%s: exit status %d, %v: %s", op, use.Exit, err, inst.LogTail())
	}
	return out
}

// line is the only line of an answer that begins with word.
func line(t *testing.T, lines []string, word string) string {
	t.Helper()
	found := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return !strings.HasPrefix(s, word) })
	if len(found) != 1 {
		t.Fatalf("%d lines %s in %.200q", len(found), word, lines)
	}
	return found[0]
}

// told compares what a server answers to op with the corpus's own truth.
func told(t *testing.T, inst Instance, op Op, truth *corpus.Truth) bool {
	t.Helper()
	question := map[string]string{
		"thread-references": "thread references", "sort-date": "sort date", "sort-subject": "sort subject",
	}[inst.Task(op).Answer]
	want, err := truth.Answer(question, nil)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	word, _, _ := strings.Cut(question, " ")
	got := line(t, said(t, inst, op), strings.ToUpper(word)+" ")
	return "* "+got == string(want)
}

// TestPeers_killed holds that nothing of a server that is being driven outlives
// us, when we are killed without a chance to clean up: neither its session nor
// what it or we have started beside it, nor its directory.
func TestPeers_killed(t *testing.T) {
	const env = "MAILBENCH_TEST_DRIVE"
	systems := map[string]System{"courier": NewCourier(CourierOptions{}), "cyrus": NewCyrus(CyrusOptions{})}
	if sys := systems[os.Getenv(env)]; sys != nil {
		inst, run := prepared(t, sys, corpus.Spec{Messages: 20})
		said(t, inst, OpSelectFirst)
		p, err := proc.Start(t.Context(), inst.Task(OpSelectAgain).Command)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := imap.New(p).Greeting(t.Context()); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("driving in %s\n", run.Dir)
		select {} // until killed
	}
	for name, sys := range systems {
		t.Run(name, func(t *testing.T) {
			if err := sys.Available(); err != nil {
				t.Skip(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "-test.run=^TestPeers_killed$", "-test.timeout=50s")
			cmd.Env = append(os.Environ(), env+"="+name, "TMPDIR="+t.TempDir())
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var dir, said string
			for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); said += lines.Text() + "\n" {
				dir, _ = strings.CutPrefix(lines.Text(), "driving in ")
				if dir == lines.Text() {
					dir = ""
				}
			}
			if dir == "" || len(processesIn(dir)) == 0 {
				t.Errorf("drives nothing in %q: %s", dir, said)
			}
			cmd.Process.Kill()
			cmd.Wait()
			for range 100 {
				if _, err := os.Stat(dir); err != nil && len(processesIn(dir)) == 0 {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			_, err = os.Stat(dir)
			t.Errorf("left: processes %q, directory %v", processesIn(dir), err)
		})
	}
}

// processesIn are the command lines of the processes whose working directory is
// below dir, or was until it was removed.
func processesIn(dir string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			found = append(found, string(args))
		}
	}
	return found
}
