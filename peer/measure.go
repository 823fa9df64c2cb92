package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"mailbench/internal/temp"
	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// Options say what Measure measures.
type Options struct {
	Systems  []System
	Corpus   string // a maildir, never written to
	Name     string // what the user calls it, for the report
	Dir      *proc.Dir
	Clone    CloneMode
	Ops      []Op // nil: all
	Count    int  // rounds; 0 = 3
	Temper   temp.State
	DropAll  bool          // cold may drop the caches of the whole machine
	Timeout  time.Duration // of one command; 0 = 30 minutes
	Log      io.Writer     // progress, a line at a time; nil: none
	Messages int           // of the corpus, for the report
}

// Measure prepares every system over a clone of its own and then measures all
// of them, round by round: in each round each system begins without an index
// and does every operation, each in a fresh process at the temperature asked
// for. A system that fails has that in its column and the others go on. An
// error means that nothing could be measured, or that ctx has ended.
func Measure(ctx context.Context, o Options) (*Report, error) {
	if o.Count == 0 {
		o.Count = 3
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Minute
	}
	if o.Ops == nil {
		o.Ops = Ops
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if err := room(&o); err != nil {
		return nil, err
	}
	r := newReport(&o)
	var all []*column
	defer func() {
		for _, c := range all {
			if c.inst != nil {
				_ = c.inst.Close()
			}
		}
	}()
	for _, s := range o.Systems {
		var missing *Missing
		if err := s.Available(); errors.As(err, &missing) {
			r.Missing = append(r.Missing, missing.Error())
			continue
		} else if err != nil {
			r.Missing = append(r.Missing, s.Name()+": "+err.Error())
			continue
		}
		c := &column{o: &o, s: s, r: r.column(s.Name())}
		_, c.r.Ours = s.(*ours)
		all = append(all, c)
		c.prepare(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if len(all) == 0 {
		return r, nil
	}
	for round := range o.Count {
		for _, c := range all {
			fmt.Fprintf(o.Log, "round %d of %d: %s\n", round+1, o.Count, c.s.Name())
			c.round(ctx)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	return r, nil
}

// A column is one system while it is measured.
type column struct {
	o    *Options
	s    System
	run  *Run
	inst Instance
	r    *Column
}

func (c *column) prepare(ctx context.Context) {
	dir, err := c.o.Dir.Mkdir(c.s.Name())
	if err == nil {
		c.run = &Run{Dir: dir, Corpus: c.o.Corpus, Clone: c.o.Clone, User: c.o.Dir.User, Timeout: c.o.Timeout, Log: c.o.Log}
		if _, own := c.s.(*pipe); own {
			c.run.User = nil // what is the user's own runs as he does
		}
		c.inst, err = c.s.Prepare(ctx, c.run)
	}
	if err != nil {
		c.r.Failed = err.Error()
		return
	}
	c.r.Description = c.inst.Describe()
}

// round does every operation once, from nothing.
func (c *column) round(ctx context.Context) {
	if c.inst == nil || c.r.Failed != "" {
		return
	}
	if err := c.inst.Fresh(ctx); err != nil {
		c.r.Failed = err.Error()
		return
	}
	for _, op := range c.o.Ops {
		t := c.inst.Task(op)
		if t == nil {
			continue
		}
		cell := c.r.cell(op)
		cell.Note, cell.Asks, cell.Whole = t.Note, t.Answer, t.Connect == nil && len(t.Script) == 0
		s, err := c.sample(ctx, t)
		if err != nil {
			// What follows builds on this one: without its temperature it is done,
			// unmeasured.
			if miss := (*temp.Miss)(nil); errors.As(err, &miss) {
				cell.Skipped, cell.Missed = err.Error(), "not "+c.o.Temper.String()
				if _, err = c.once(ctx, t); err == nil {
					continue
				}
			}
			cell.Missed = "failed"
			if errors.Is(err, context.DeadlineExceeded) {
				cell.Missed = "timed out"
			}
			cell.Skipped = hint(err, c.inst).Error()
			c.r.Failed = fmt.Sprintf("%s: %s", op, cell.Skipped)
			return
		}
		cell.Samples = append(cell.Samples, s)
		c.r.took(op, c.inst)
	}
	c.r.Description = c.inst.Describe() // what it caches has come to be known
}

// tries is how often an operation is done until its temperature is proven.
const tries = 3

// sample does one operation, at the temperature that is wanted. An operation
// that changes what is there is not done twice: the one after it would not be
// the first.
func (c *column) sample(ctx context.Context, t *Task) (s Sample, err error) {
	if t.Before != nil {
		if err := t.Before(ctx); err != nil {
			return s, err
		}
	}
	rng := rand.New(rand.NewPCG(uint64(len(c.r.Cells)), 1))
	var set *temp.Set
	for try := 1; ; try++ {
		if set, err = temp.Files(c.run.Dir); err != nil {
			return s, err
		}
		if why := set.Unfit(c.o.Temper, temp.TotalMemory(), c.o.DropAll); why != "" {
			return s, &temp.Miss{Why: why}
		}
		var miss *temp.Miss
		if _, err = set.Make(c.o.Temper, rng); err == nil {
			break
		} else if !errors.As(err, &miss) || try == tries {
			return s, err
		}
	}
	if s, err = c.once(ctx, t); err != nil {
		return s, err
	}
	if err := c.stayed(set, s, rng); err != nil {
		s.Doubt = err.Error()
	}
	return s, nil
}

// stayed proves what can only be proven afterwards. Evicted data was seen to be
// gone before; warm must have stayed so; what reads anything of a cold mailbox
// has asked the device.
func (c *column) stayed(set *temp.Set, s Sample, rng *rand.Rand) error {
	var must int64
	switch {
	case c.o.Temper == temp.NoData:
		return nil
	case c.o.Temper == temp.Cold && s.Process.ReadChars > 0:
		must = 1
	}
	return set.After(c.o.Temper, s.Process.Read, must, rng)
}

// once starts a process, says the script to it and measures.
func (c *column) once(ctx context.Context, t *Task) (s Sample, err error) {
	if t.Connect == nil && len(t.Script) == 0 {
		return c.program(ctx, t)
	}
	begin := time.Now()
	var conn proc.Conn
	if t.Connect != nil {
		conn, err = t.Connect(ctx)
	} else {
		conn, err = started(ctx, t.Command)
	}
	if err != nil {
		return s, err
	}
	defer conn.Kill()
	cl := imap.New(conn)
	within := func(fn func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
		defer cancel()
		return fn(ctx)
	}
	if t.Connect == nil {
		if err := within(func(ctx context.Context) error { _, err := cl.Greeting(ctx); return err }); err != nil {
			return s, err
		}
	}
	for _, step := range t.Script {
		if step.Timed {
			var sent time.Time
			var cpu time.Duration
			cl.Digest = answerWord[t.Answer]
			cl.Sending = func() { cpu, sent = conn.CPU(), time.Now() }
			cl.Replied = func() { s.Wall, s.CPU = time.Since(sent), conn.CPU()-cpu }
		} else {
			cl.Digest, cl.Sending, cl.Replied = "", nil, nil
		}
		err := within(func(ctx context.Context) error {
			reply, err := cl.Do(ctx, step.Command, nil)
			if step.Timed {
				s.Reply, s.Digest = reply.Bytes, reply.Digest
			}
			return err
		})
		if err != nil {
			return s, err
		}
	}
	cl.Digest, cl.Sending, cl.Replied = "", nil, nil // LOGOUT is not it
	before := conn.Usage()                           // memory cannot be read afterwards
	if err := within(cl.Logout); err != nil {
		return s, err
	}
	err = within(func(ctx context.Context) (err error) { s.Process, err = conn.Wait(ctx); return err })
	u := &s.Process
	u.Peak, u.PeakAnon, u.PeakFile = max(u.Peak, before.Peak), max(u.PeakAnon, before.PeakAnon), max(u.PeakFile, before.PeakFile)
	if t.Connect != nil {
		u.Wall = time.Since(begin)
	}
	return s, err
}

// answerWord is the untagged reply that has an answer.
var answerWord = map[string]string{"thread-references": "THREAD", "sort-date": "SORT", "sort-subject": "SORT"}

// program runs a process that is not spoken to: all of it is the operation.
func (c *column) program(ctx context.Context, t *Task) (s Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	p, err := started(ctx, t.Command)
	if err != nil {
		return s, err
	}
	defer p.Kill()
	if err := p.CloseWrite(); err != nil {
		return s, err
	}
	if s.Reply, err = io.Copy(io.Discard, p); err != nil {
		return s, errors.Join(err, ctx.Err())
	}
	if s.Process, err = p.Wait(ctx); err != nil {
		return s, err
	}
	if s.Process.Exit != 0 {
		return s, fmt.Errorf("%s %v: exit code %d", filepath.Base(t.Command.Path), t.Command.Args, s.Process.Exit)
	}
	s.Wall, s.CPU = s.Process.Wall, s.Process.User+s.Process.Sys
	return s, nil
}

// hostOf names the directory's file system for the report.
func hostOf(dir string) string {
	m, err := temp.Mount(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return fmt.Sprintf("%s on %s (%s)", m.Type, m.Device, m.Options)
}
