package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// Answers are what our code answers about the mail that a system serves, in one
// reading of the RFCs.
type Answers interface {
	// Thread is the untagged line "THREAD (1 2)(3)", with UIDs; alg is as in IMAP:
	// "REFERENCES".
	Thread(alg string) ([]byte, error)
	// Sort gives the UIDs in the order of keys, as in IMAP: "REVERSE DATE SUBJECT".
	Sort(keys string) ([]uint32, error)
	// Explain gives what the answers are made of, an object of JSON per message.
	Explain(uids []uint32) ([][]byte, error)
	// Messages calls fn for every message, by UID: its key (the base name of a
	// maildir's file), its size with CRLF line ends and its INTERNALDATE.
	Messages(fn func(uid uint32, key string, size, date int64) bool) error
}

// VerifyOptions say what is compared with what.
type VerifyOptions struct {
	System System // the oracle, or a stranger's program
	Run    *Run   // over the mail that RFC and Compat answer about
	// RFC is what must be right. Compat are our answers in the reading of Dovecot:
	// what differs from RFC and is Compat to the last bit is a known difference.
	RFC, Compat Answers
	// Readings gives the messages of which the two read a part differently. It is
	// called once, when an answer differs.
	Readings func() (map[Part][]uint32, error)
}

// A Part is something of a message that answers are made of.
type Part string

// The parts.
const (
	PartSubject Part = "subject" // the base subject, casemapped
	PartDate    Part = "date"    // the sent date
	PartIDs     Part = "ids"     // Message-ID and references
	PartFrom    Part = "from"    // the mailbox of the first address
	PartTo      Part = "to"
	PartCc      Part = "cc"
	// The first address as it is displayed (RFC 5957).
	PartDisplayFrom Part = "displayfrom"
	PartDisplayTo   Part = "displayto"
)

// A Verdict is what came of it.
type Verdict struct {
	System    string    `json:"system"`
	Version   string    `json:"version,omitempty"`
	Messages  int       `json:"messages"`
	Questions []Checked `json:"questions"`
}

// Ways in which two answers can stand to each other.
const (
	Same     = "same"
	Known    = "known difference"
	Differs  = "differs"
	NotAsked = "not asked"
)

// Checked is one question.
type Checked struct {
	Question string `json:"question"` // "THREAD REFERENCES", "SORT (DATE)"
	Result   string `json:"result"`   // Same, Known, Differs, NotAsked
	Why      string `json:"why,omitempty"`
	// For Known and Differs:
	Moved    int      `json:"moved,omitempty"`    // messages that stand elsewhere
	Sections []string `json:"sections,omitempty"` // of docs/DIFFERENCES.md, for Known
	UIDs     []uint32 `json:"uids,omitempty"`     // all messages that are read differently, for Known
	// First says where the first difference is, Explained what the messages there
	// say, as JSON objects.
	First     string   `json:"first,omitempty"`
	Explained []string `json:"explained,omitempty"`
}

// Failed reports whether an answer differs in a way that is not known.
func (v *Verdict) Failed() bool {
	return slices.ContainsFunc(v.Questions, func(c Checked) bool { return c.Result == Differs })
}

// ErrNothingAsked is returned when a system can do neither THREAD nor SORT.
var ErrNothingAsked = errors.New("verify: the system has neither THREAD nor SORT")

// Verify asks a system everything that our code can answer, and compares. An
// error means that it could not; differences are in the Verdict. It holds two
// answers at a time: some tens of bytes per message.
func Verify(ctx context.Context, o VerifyOptions) (*Verdict, error) {
	if err := o.System.Available(); err != nil {
		return nil, err
	}
	inst, err := o.System.Prepare(ctx, o.Run)
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	s, err := openAsker(ctx, o.Run, inst)
	if err != nil {
		return nil, hint(err, inst)
	}
	defer s.close()
	v := &Verdict{System: o.System.Name(), Version: inst.Describe().Version}
	if err := v.identity(s, inst, o.RFC); err != nil {
		return nil, hint(s.ended(err), inst)
	}
	if o.Readings != nil {
		o.Readings = sync.OnceValues(o.Readings)
	}
	for _, q := range questions {
		c, err := q.check(s, o)
		if err != nil {
			return nil, hint(s.ended(fmt.Errorf("%s: %w", q.name(), err)), inst)
		}
		fmt.Fprintf(o.Run.Log, "%s: %s: %s\n", v.System, c.Question, c.Result)
		v.Questions = append(v.Questions, c)
	}
	if !slices.ContainsFunc(v.Questions, func(c Checked) bool { return c.Result != NotAsked }) {
		return nil, ErrNothingAsked
	}
	return v, nil
}

// hint adds the last line of the system's log to an error.
func hint(err error, inst Instance) error {
	if err == nil {
		return nil
	}
	if tail := inst.LogTail(); tail != "" {
		return fmt.Errorf("%w (its log: %s)", err, tail)
	}
	return err
}

// An asker is one session with the mailbox selected.
type asker struct {
	ctx  context.Context
	run  *Run
	conn proc.Conn
	c    *imap.Client
	caps []string
}

// openAsker starts a session as for a select, whatever the system selects.
func openAsker(ctx context.Context, run *Run, inst Instance) (*asker, error) {
	t := inst.Task(OpSelectFirst)
	if t != nil && len(t.Script) == 0 && t.Connect == nil {
		// Its index is made by another program, without which there is no mail.
		if err := before(ctx, t); err != nil {
			return nil, err
		}
		if _, err := programOutput(ctx, t.Command, inst.LogTail); err != nil {
			return nil, err
		}
		t = nil
	}
	if t == nil {
		t = inst.Task(OpSelectAgain)
	}
	if t == nil || len(t.Script) == 0 {
		return nil, errors.New("verify: the system does not speak IMAP")
	}
	if err := before(ctx, t); err != nil {
		return nil, err
	}
	s := &asker{ctx: ctx, run: run}
	if t.Connect != nil {
		conn, err := t.Connect(ctx)
		if err != nil {
			return nil, err
		}
		s.conn = conn
	} else {
		p, err := proc.Start(ctx, limited(t.Command))
		if err != nil {
			return nil, err
		}
		s.conn = p
	}
	s.c = imap.New(s.conn)
	if err := s.hello(t); err != nil {
		return nil, s.ended(err)
	}
	return s, nil
}

func before(ctx context.Context, t *Task) error {
	if t.Before == nil {
		return nil
	}
	return t.Before(ctx)
}

func (s *asker) hello(t *Task) error {
	err := s.timed(func(ctx context.Context) error {
		if t.Connect != nil {
			return nil // it has been greeted, to be authenticated
		}
		_, err := s.c.Greeting(ctx)
		return err
	})
	for _, step := range t.Script {
		if err == nil {
			err = s.do(step.Command, nil)
		}
	}
	if err != nil {
		return err
	}
	// Not before it knows who we are: then it can do more.
	return s.timed(func(ctx context.Context) (err error) {
		s.caps, err = s.c.Capabilities(ctx)
		return err
	})
}

// timed calls fn with as much time as a command may take.
func (s *asker) timed(fn func(ctx context.Context) error) error {
	ctx := s.ctx
	if s.run.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.run.Timeout)
		defer cancel()
	}
	return fn(ctx)
}

func (s *asker) do(command string, onLine func(line []byte)) error {
	return s.timed(func(ctx context.Context) error {
		_, err := s.c.Do(ctx, command, onLine)
		return err
	})
}

// one returns the last untagged line that begins with word: the answer.
func (s *asker) one(command, word string) (answer []byte, err error) {
	err = s.do(command, func(line []byte) {
		if w, _, _ := bytes.Cut(line, []byte(" ")); strings.EqualFold(string(w), word) {
			answer = bytes.Clone(line)
		}
	})
	if err == nil && answer == nil {
		err = fmt.Errorf("%s: no untagged %s", command, word)
	}
	return answer, err
}

func (s *asker) has(capability string) bool { return slices.Contains(s.caps, capability) }

// close ends the session.
func (s *asker) close() {
	if s.conn == nil {
		return
	}
	_ = s.timed(s.c.Logout) // whatever it says, it ends
	s.stop()
}

// stop ends the process and says how it ended.
func (s *asker) stop() (use proc.Usage, err error) {
	s.conn.Kill()
	err = s.timed(func(ctx context.Context) (err error) {
		use, err = s.conn.Wait(ctx)
		return err
	})
	s.conn = nil
	return use, err
}

// ended adds to an error of a session that the process has ended by itself, and
// ends it where it has not.
func (s *asker) ended(err error) error {
	if s.conn == nil {
		return err
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		_, _ = s.stop() // it may hang: nothing more is said to it
		return err
	}
	// Its output is at its end: it has a moment to go by itself.
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	conn := s.conn
	s.conn = nil
	use, werr := conn.Wait(ctx)
	conn.Kill()
	if werr != nil {
		return err
	}
	const signal = 128
	if use.Exit > signal {
		return fmt.Errorf("%w: the server was killed by signal %d", err, use.Exit-signal)
	}
	return fmt.Errorf("%w: the server ended with exit status %d", err, use.Exit)
}
