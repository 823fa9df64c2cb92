package indextest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/index"
)

// childEnv holds what the process that is to be killed has to know.
const childEnv = "MAILBENCH_KILLED"

type childOrder struct {
	Design     string
	Index      index.Options
	Kind, Path string // the mail
	Dir        string
}

// killed: a process that syncs, compacts and opens again without end is killed
// at no moment in particular. What it had said is on disk is there afterwards,
// and answers are right. It is what can be asked of a design whose engine opens
// the files; Crashed asks more of the others.
func killed(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(1000))
	dir := filepath.Join(t.TempDir(), "index")
	for range 10 {
		m.mutate()
	}
	name, _, _ := strings.Cut(t.Name(), "/Killed")
	order, err := json.Marshal(childOrder{k.d.Name(), k.o.Index, m.kind, m.path, dir})
	if err != nil {
		t.Fatal(err)
	}
	seen := newUIDsSeen()
	for round := range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(name, "/", "$/^")+"$")
		cmd.Env = append(os.Environ(), childEnv+"="+string(order))
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		patience := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) // its first Sync never ends
		said, err := lines.ReadString('\n')
		patience.Stop()
		if err != nil {
			cmd.Wait()
			t.Fatalf("the process to be killed: %q %v\n%s", said, err, complaint.String())
		}
		for range 3 + m.r.IntN(5) {
			m.mutate()
			time.Sleep(time.Duration(m.r.IntN(4000)) * time.Microsecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines)
		cmd.Wait() // it was killed: no news
		for line := range strings.Lines(said + string(rest)) {
			var v, uid uint32
			var key string
			if n, _ := fmt.Sscanf(line, "%d %d %q\n", &v, &uid, &key); n == 3 && strings.HasSuffix(line, "\n") {
				if wrong := seen.note(v, uid, key); wrong != "" {
					t.Fatalf("round %d: the process that was killed: %s", round, wrong)
				}
			} else if strings.HasSuffix(line, "\n") {
				t.Fatalf("round %d: the process to be killed: %s", round, line)
			}
		}
		box := k.mustOpen(t, m, dir)
		c := mustSync(t, box)
		if c.Rebuilt {
			t.Fatalf("round %d: rebuilt after kill -9: what had been written is lost", round)
		}
		m.inOrder(t, box)
		m.mustAnswer(t, box, false, fmt.Sprintf("round %d: after kill -9", round))
		if wrong := seen.wrong(box); wrong != "" {
			t.Fatalf("round %d: after kill -9: %s", round, wrong)
		}
		mustClose(t, box)
	}
}

// inOrder puts the model into the order of the UIDs. A process that lists one
// folder while mail comes into both sees the later mail first, and is right.
func (m *mailbox) inOrder(t T, box index.Mailbox) {
	t.Helper()
	place := map[string]uint32{}
	if err := box.Messages(func(msg index.Message) bool { place[strings.Clone(msg.Key)] = msg.UID; return true }); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(m.msgs, func(a, b *mail) int { return cmp.Compare(place[a.key], place[b.key]) })
}

// obey is the body of the process that is to be killed: it prints the UIDs
// that a Sync has returned. It reports whether this process is one.
func obey(t *testing.T, d index.Design) bool {
	text := os.Getenv(childEnv)
	if text == "" {
		return false
	}
	t.Helper()
	var o childOrder
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if o.Design != d.Name() {
		return true
	}
	k := &kit{d: d, o: Options{Index: o.Index}}
	m := &mailbox{kind: o.Kind, path: o.Path}
	said := map[index.Message]bool{}
	for parent := os.Getppid(); os.Getppid() == parent; {
		box, err := k.open(m, o.Dir, nil)
		for j := 0; j < 5 && err == nil; j++ {
			if _, err = box.Sync(); err != nil {
				break
			}
			v := box.Status().UIDValidity
			err = box.Messages(func(msg index.Message) bool {
				at := index.Message{UID: msg.UID, Key: strings.Clone(msg.Key)}
				if !said[at] {
					said[at] = true
					fmt.Printf("%d %d %q\n", v, msg.UID, msg.Key)
				}
				return true
			})
			if _, threadErr := box.Thread(0, index.Search{}); err == nil {
				err = threadErr
			}
			if err == nil && j == 3 {
				err = box.Compact()
			}
		}
		if box != nil {
			if closeErr := box.Close(); err == nil {
				err = closeErr
			}
		}
		if err != nil {
			fmt.Printf("%v\n", err)
			os.Exit(1)
		}
	}
	return true
}
