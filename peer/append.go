package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// AppendOptions say which sessions append what. The zero value is Dovecot and
// column, all three formats, both promises, 1 and 30 clients.
type AppendOptions struct {
	Clients  []int    // connections at once, a row each; nil = 1, 30
	Messages int      // by each client; 0 = 100
	Fsync    []string // mail_fsync of Dovecot: optimized, always, never; ours are group, always, never; nil = optimized, never
	Formats  []string // maildir, sdbox, mdbox; nil = all
	Designs  []string // of ours; nil = column
	Count    int      // rounds, interleaved; 0 = 3
	Seed     uint64   // of the messages

	// Unselected clients do not have the mailbox selected, and so do not hear of
	// the messages of the others; Dovecot then opens it for each message.
	Unselected bool

	// Imaptest is that program; when it is there, its append and its mix appear as
	// rows, through a relay on 127.0.0.1. "" = the one in PATH, if any.
	Imaptest string
	Seconds  int // that it runs; 0 = 5

	Dovecot DovecotOptions // Format and Fsync are set here
	Program string         // mailbench; "" = this executable
	Env     []string       // added to its environment

	Scratch string     // where the run directory is made; "" = proc.MakeDir's choice
	User    *proc.User // whom everything runs as; nil: as this process does
	Timeout time.Duration
	Log     io.Writer // progress, a line at a time; nil = none
}

// ErrLost is the error of a system that does not have every message that it
// acknowledged, byte for byte.
var ErrLost = errors.New("an acknowledged message is not there")

// defaults fills in what the zero value means, and refuses what cannot be.
func (o *AppendOptions) defaults() error {
	if o.Clients == nil {
		o.Clients = []int{1, 30}
	}
	if o.Fsync == nil {
		o.Fsync = []string{"optimized", "never"}
	}
	if o.Formats == nil {
		o.Formats = []string{"maildir", "sdbox", "mdbox"}
	}
	if o.Designs == nil {
		o.Designs = []string{"column"}
	}
	if o.Messages == 0 {
		o.Messages = 100
	}
	if o.Count == 0 {
		o.Count = 3
	}
	if o.Seconds == 0 {
		o.Seconds = 5
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	for _, n := range o.Clients {
		if n < 1 || n > 1000 {
			return fmt.Errorf("append: %d clients: want 1 to 1000", n)
		}
		if n*o.Messages > mostAppended {
			return fmt.Errorf("append: %d clients with %d messages: want %d messages at most in a mailbox", n, o.Messages, mostAppended)
		}
	}
	if o.Messages < 1 || o.Count < 1 {
		return fmt.Errorf("append: %d messages, %d rounds: want at least one of each", o.Messages, o.Count)
	}
	for _, f := range o.Fsync {
		if _, ok := oursFsync[f]; !ok {
			return fmt.Errorf("append: fsync %q: want optimized, always or never", f)
		}
	}
	for _, f := range o.Formats {
		if f != "maildir" && f != "sdbox" && f != "mdbox" {
			return fmt.Errorf("append: format %q: want maildir, sdbox or mdbox", f)
		}
	}
	return nil
}

// oursFsync is our word for the promise that mail_fsync names. With optimized
// Dovecot has a message on disk before it says OK, and the index not; with group
// we have both.
var oursFsync = map[string]string{"optimized": "group", "always": "always", "never": "never"}

// An appendSystem is a row's subject: it makes empty mailboxes.
type appendSystem struct {
	name    string // column-mdbox
	against string // the system that its ratio is to, "" = this is one
	make    func(ctx context.Context, run *Run, fsync string) (appendBox, error)
	missing error
}

// An appendBox is one mailbox, which any number of sessions may use at once.
type appendBox interface {
	// Start makes ready for sessions; one server of a box at a time.
	Start(ctx context.Context) (appendServer, error)
	Describe() Description
	LogTail() string
	Close() error
}

// An appendServer is what answers the sessions. Dial may be called by several at
// once.
type appendServer interface {
	// Dial begins a session, already authenticated.
	Dial(ctx context.Context) (io.ReadWriter, error)
	// Procs are all processes there have been.
	Procs() []proc.Conn
	// End waits for them, when LOGOUT has been said in every session.
	End(ctx context.Context) error
	// Kill ends what still runs, after an error.
	Kill()
}

// appendSessions are clients' connections and the server behind them.
type appendSessions struct {
	conns  []io.ReadWriter
	server appendServer
}

// connect starts a server and n sessions.
func connect(ctx context.Context, box appendBox, n int) (*appendSessions, error) {
	server, err := box.Start(ctx)
	if err != nil {
		return nil, err
	}
	s := &appendSessions{server: server}
	for range n {
		c, err := server.Dial(ctx)
		if err != nil {
			s.kill()
			return nil, err
		}
		s.conns = append(s.conns, c)
	}
	return s, nil
}

func (s *appendSessions) end(ctx context.Context) error { return s.server.End(ctx) }

func (s *appendSessions) kill() { s.server.Kill() }

// MeasureAppend appends the same messages, of 3 KiB, to every system, each with
// an empty mailbox of its own in each round, and reads every one of them back.
// An error that is ErrLost says who lost one; the report then has what was
// measured before.
func MeasureAppend(ctx context.Context, o AppendOptions) (*AppendReport, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	report := &AppendReport{Schema: AppendSchema, Messages: o.Messages, Bytes: appendedBytes, Rounds: o.Count, Selected: !o.Unselected}
	var systems []appendSystem
	for _, s := range appendSystems(&o) {
		if s.missing != nil {
			report.Skipped = append(report.Skipped, s.name+": "+s.missing.Error())
			continue
		}
		systems = append(systems, s)
	}
	drivers := []string{""}
	imaptest, err := imaptestProgram(o.Imaptest)
	if err == nil {
		drivers = append(drivers, imaptestAppend, imaptestMix)
	} else if o.Imaptest != "" {
		return nil, fmt.Errorf("append: %w", err)
	} else {
		report.Skipped = append(report.Skipped, err.Error())
	}
	o.Imaptest = imaptest
	for _, driver := range drivers {
		for _, fsync := range o.Fsync {
			for _, clients := range o.Clients {
				for _, s := range systems {
					report.Rows = append(report.Rows, &AppendRow{System: s.name, Against: s.against, Driver: driver, Fsync: fsync, Clients: clients})
				}
			}
		}
	}
	most := 0
	for _, n := range o.Clients {
		most = max(most, n)
	}
	messages := newAppended(o.Seed, most*o.Messages)
	dir, err := proc.MakeDir(o.Scratch, o.User)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	defer dir.Remove()
	for round := range o.Count {
		for i, row := range report.Rows {
			s := systems[i%len(systems)]
			fmt.Fprintf(o.Log, "round %d of %d: %s, %s, clients=%d\n", round+1, o.Count, s.name, row.Fsync, row.Clients)
			run := &Run{Dir: filepath.Join(dir.Path, fmt.Sprint(round, "-", i)), User: o.User, Timeout: o.Timeout, Log: o.Log}
			sample, desc, err := o.once(ctx, s, run, row, messages[:row.Clients*o.Messages])
			if err != nil {
				return report, fmt.Errorf("%s, fsync %s, %d clients: %w", s.name, row.Fsync, row.Clients, err)
			}
			row.Samples = append(row.Samples, sample)
			report.describe(s.name, desc)
			if err := os.RemoveAll(run.Dir); err != nil {
				return report, fmt.Errorf("append: %w", err)
			}
		}
	}
	return report, nil
}

// created selects the mailbox once, before the clients come: many sessions of
// Dovecot that all make the same mdbox at once end each other.
func created(ctx context.Context, box appendBox) error {
	s, err := connect(ctx, box, 1)
	if err != nil {
		return err
	}
	c := imap.New(s.conns[0])
	if _, err = c.Greeting(ctx); err == nil {
		_, err = c.Do(ctx, "SELECT INBOX", nil)
	}
	if err == nil {
		err = c.Logout(ctx)
	}
	if err != nil {
		s.kill()
		return err
	}
	return s.end(ctx)
}

// once is one sample: a new mailbox, sessions, messages, and all of them read
// back in a new session.
func (o *AppendOptions) once(ctx context.Context, s appendSystem, run *Run, row *AppendRow, messages [][]byte) (sample AppendSample, desc Description, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := indexerDir(run.Dir, o.User); err != nil {
		return sample, desc, err
	}
	box, err := s.make(ctx, run, row.Fsync)
	if err != nil {
		return sample, desc, err
	}
	defer func() {
		if err != nil {
			if tail := box.LogTail(); tail != "" {
				err = fmt.Errorf("%w (its log ends: %s)", err, tail)
			}
		}
		err = errors.Join(err, box.Close())
	}()
	if err := created(ctx, box); err != nil {
		return sample, desc, err
	}
	if row.Driver != "" {
		sample, err = o.imaptestRun(ctx, box, run, row, messages)
		return sample, box.Describe(), err
	}
	sessions, err := connect(ctx, box, row.Clients)
	if err != nil {
		return sample, desc, err
	}
	if sample, err = appendAll(ctx, sessions, messages, !o.Unselected); err != nil {
		sessions.kill()
		return sample, desc, err
	}
	if err := sessions.end(ctx); err != nil {
		return sample, desc, err
	}
	reading, err := connect(ctx, box, 1)
	if err != nil {
		return sample, desc, err
	}
	if err := readBack(ctx, reading.conns[0], messages); err != nil {
		reading.kill()
		return sample, desc, err
	}
	return sample, box.Describe(), reading.end(ctx)
}
