package box

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// childEnv holds the order for the process that is to be killed.
const childEnv = "MAILBENCH_BOX_KILLED"

type order struct {
	Store, Design, Root string
	Fsync               Fsync
	Serial              int
	Seed                uint64
	Sync                bool // really wait for the disk
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var o order
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = o.obey()
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func format(name string) store.Format {
	for _, f := range append(everyFormat(), &memory{spool: true, lazy: true}) {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

func (o order) config() Config {
	d, _ := everyDesign.Lookup(o.Design)
	c := Config{Store: format(o.Store), Design: d, Dir: filepath.Join(o.Root, "mail"), IndexDir: filepath.Join(o.Root, "index"),
		FS: quick, Fsync: o.Fsync, Cache: true, Options: unsynced(d, index.Options{}), StoreExtra: map[string]string{"rotate": "65536"}}
	if o.Sync {
		c.FS, c.Options = fsys.OS, index.Options{}
	}
	return c
}

// obey is the process that is to be killed: clients that work without end and
// tell on standard output what they begin and what was acknowledged.
func (o order) obey() error {
	b, err := Open(o.config())
	if err != nil {
		return err
	}
	parent := os.Getppid()
	time.AfterFunc(time.Minute, func() { os.Exit(4) })
	errs := make(chan error)
	for i := range 6 {
		go func() {
			errs <- work(b, teller{b, parent}, o.Seed+uint64(i), o.Serial+10_000*i, 10_000)
		}()
	}
	return <-errs
}

// teller writes a line for each deed, in one call each, so that lines are whole
// unless the process was killed in the middle.
type teller struct {
	b      *Box
	parent int
}

type said struct {
	Done     bool
	Validity uint32
	Kind     byte
	Mail     int
	UID      uint32
	Flags    index.Flags
	Keywords uint32
}

func (w teller) begin(d *deed) { w.say(d, false) }
func (w teller) done(d *deed)  { w.say(d, true) }

func (w teller) say(d *deed, done bool) {
	line, err := json.Marshal(said{done, w.b.Status().UIDValidity, d.kind, d.mail, d.uid, d.flags, d.keywords})
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	if err != nil || os.Getppid() != w.parent {
		os.Exit(5)
	}
}

// hear makes deeds of what the child said before it died. n counts the lines.
func (h *history) hear(t *testing.T, out []byte) (n int) {
	open := map[int]*deed{} // a client has one deed on its way, its messages are its own
	for line := range bytes.Lines(out) {
		var s said
		if line[len(line)-1] != '\n' {
			break
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("the process to be killed said %q", line)
		}
		if h.validity == 0 {
			h.validity = s.Validity
		}
		if n++; !s.Done {
			open[s.Mail] = &deed{kind: s.Kind, mail: s.Mail, uid: s.UID, flags: s.Flags, keywords: s.Keywords, from: n}
			continue
		}
		d := open[s.Mail]
		d.uid, d.to = s.UID, n
		h.deeds = append(h.deeds, *d)
		delete(open, s.Mail)
	}
	for _, d := range open {
		d.to = n + 2
		h.deeds = append(h.deeds, *d)
	}
	return n + 1
}

// settle makes what is there now what must be there from now on.
func (h *history) settle(b *Box) error {
	h.deeds = nil
	h.validity = b.Status().UIDValidity
	h.top = b.Status().UIDNext - 1
	return b.Query(func(m index.Mailbox) error {
		var bad error
		err := m.Messages(func(msg index.Message) bool {
			var body []byte
			if body, bad = b.Read(msg.UID, nil); bad != nil {
				return false
			}
			h.deeds = append(h.deeds, deed{kind: 'A', mail: serialOf(body), uid: msg.UID, flags: msg.Flags, keywords: msg.Keywords})
			return true
		})
		if err == nil {
			err = bad
		}
		return err
	})
}

// run starts the child, kills it and returns what it had said.
func (o order) run(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	var all []byte
	if r.IntN(4) > 0 { // else at any moment, also while it opens
		patience := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		first, err := lines.ReadBytes('\n')
		patience.Stop()
		if err != nil {
			cmd.Wait()
			t.Fatalf("the process to be killed: %v\n%s", err, complaint.String())
		}
		all = first
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		rest, _ := io.ReadAll(lines)
		all = append(all, rest...)
	})
	time.Sleep(time.Duration(r.IntN(40_000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	cmd.Wait() // it was killed: no news
	if complaint.Len() > 0 {
		t.Fatalf("the process to be killed: %s", complaint.String())
	}
	return all
}

// TestKilled_losesNothing: kill -9 in the middle of appends, flag changes and
// expunges, for every store and design, again and again at the same mailbox.
func TestKilled_losesNothing(t *testing.T) {
	for i, f := range everyFormat() {
		for j, d := range everyDesign {
			if !long() && j > 1 && i > 0 {
				continue // every store with the default designs, every design with the first store
			}
			t.Run(f.Name()+"+"+d.Name(), func(t *testing.T) {
				t.Parallel()
				rounds := 3
				switch {
				case long():
					rounds = 20
				case testing.Short():
					rounds = 1
				}
				r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
				h := &history{}
				o := order{Store: f.Name(), Design: d.Name(), Root: t.TempDir()}
				acked := 0
				for round := range rounds {
					o.Fsync, o.Serial, o.Seed, o.Sync = policies[round%3], 100_000*(round+1), r.Uint64(), long() && round%4 == 0
					n := h.hear(t, o.run(t, r))
					b, err := Open(o.config())
					if err != nil {
						t.Fatalf("round %d: %v", round, err)
					}
					for _, l := range h.expect(n) {
						if l.acked {
							acked++
						}
					}
					if lost, wrong := h.survey(b, n); lost > 0 || len(wrong) > 0 {
						t.Fatalf("round %d, fsync=%v: %d acknowledged messages lost; %v", round, o.Fsync, lost, wrong)
					}
					if err := h.settle(b); err != nil {
						t.Fatal(err)
					}
					if uid, err := b.Append(store.Message{Body: letter(o.Serial + 99_999)}); err != nil || uid <= h.top {
						t.Fatalf("round %d: an append afterwards: uid %d after %d, %v", round, uid, h.top, err)
					}
					if err := h.settle(b); err != nil {
						t.Fatal(err)
					}
					check(t, b)
					if err := b.Close(); err != nil {
						t.Fatal(err)
					}
				}
				t.Logf("%d messages acknowledged", acked)
			})
		}
	}
}

// TestKilled_seesLosses: the same test sees what a store that acknowledges too
// early loses.
func TestKilled_seesLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for round := range 20 {
		h := &history{}
		o := order{Store: "lazy", Design: everyDesign[0].Name(), Root: t.TempDir(), Fsync: policies[round%3], Seed: r.Uint64()}
		n := h.hear(t, o.run(t, r))
		b, err := Open(o.config())
		if err != nil {
			t.Fatal(err)
		}
		lost, _ := h.survey(b, n)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if lost > 0 {
			return
		}
	}
	t.Error("a store that writes late lost nothing that this test saw")
}
