package suite

import (
	"fmt"
	"math/rand/v2"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/temp"
)

// sweepRounds is how many times mail comes and goes in op=sweep; over all of
// them the mailbox is turned over twice.
const sweepRounds = 200

// sweepRows are the trade of a compaction's trigger, bytes written against
// space: the design as it is, then each value of the options that say when it
// compacts by itself.
func sweepRows(d index.Design, ax index.Axes) []Row {
	var rows []Row
	add := func(d index.Design, option string) {
		for _, shape := range []string{"random", "oldest"} {
			ps := params("design", d.Name(), "op", "sweep", "shape", shape, "option", option, "mails", "warm", "index", indexWarm)
			rows = append(rows, Row{"Compact", ps, false, sweep(d, shape)})
		}
	}
	add(d, "defaults")
	for _, x := range ax.Extra {
		if !x.Trigger {
			continue
		}
		for _, v := range x.Values[1:] {
			add(with(d, x.Name, v), optionName(x.Name, v))
		}
	}
	return rows
}

// A turn is what happens to the mailbox between two sessions.
type turn struct{ deliver, expunge []int }

// A plot is a fixed history: a mailbox of the first third of the messages,
// into which the others come in order while as many go.
type plot struct {
	start, live int // messages at the start; at any time
	rounds      []turn
	left        []uint32 // UIDs at the end
}

func newPlot(n int, shape string) plot {
	p := plot{start: n / 3, live: n / 3}
	per := max(1, 2*p.start/sweepRounds)
	rnd := rand.New(rand.NewPCG(uint64(n), 37))
	there := make([]int, p.start)
	for i := range there {
		there[i] = i
	}
	for next := p.start; len(p.rounds) < sweepRounds && next+per <= n; next += per {
		var rd turn
		for i := range per {
			rd.deliver = append(rd.deliver, next+i)
		}
		// What has just come stays for a round.
		for range min(per, len(there)) {
			at := 0
			if shape == "random" {
				at = rnd.IntN(len(there))
			}
			rd.expunge = append(rd.expunge, there[at])
			there = append(there[:at], there[at+1:]...)
		}
		there = append(there, rd.deliver...)
		p.rounds = append(p.rounds, rd)
	}
	for _, i := range there {
		p.left = append(p.left, uint32(i+1))
	}
	return p
}

// delivered is how many messages come after the start.
func (p plot) delivered() int {
	n := 0
	for _, rd := range p.rounds {
		n += len(rd.deliver)
	}
	return n
}

// begin puts the mailbox into the state before the first round.
func (p plot) begin(m *live) error {
	for i := range m.home {
		rel := m.home[i]
		if i >= p.start {
			rel = ""
		}
		if err := m.put(i, rel); err != nil {
			return err
		}
	}
	return nil
}

func (rd turn) apply(m *live) error {
	for _, i := range rd.deliver {
		if err := m.put(i, m.home[i]); err != nil {
			return err
		}
	}
	for _, i := range rd.expunge {
		if err := m.put(i, ""); err != nil {
			return err
		}
	}
	return nil
}

// A spending is what a history cost.
type spending struct {
	written, dirtied int64 // bytes, by the calls and by the kernel's account
	mean, peak       int64 // bytes on disk after a session
	rewrites         uint64
	sessions         int
}

// sweep: the mailbox is turned over twice, in rounds. After each a session
// opens, syncs and threads. Timed: all sessions, and the renames between them.
func sweep(d index.Design, shape string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		m, err := r.live(f)
		if err != nil {
			return nil, err
		}
		p := newPlot(len(m.home), shape)
		if p.start == 0 {
			return nil, skip("%d messages are too few to turn over", len(m.home))
		}
		want, err := f.truth.thread("references", p.left)
		if err != nil {
			return nil, err
		}
		if err := p.begin(m); err != nil {
			return nil, err
		}
		clone := &fixture{path: m.path, kind: "maildir"}
		src, err := clone.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("sweep")
		if err != nil {
			return nil, err
		}
		if err := r.fill(d, src, st.dir, index.Options{}, primeAll); err != nil {
			return nil, err
		}
		var spent spending
		var line []byte
		j := &job{design: d.Name(), op: "compact-sweep", messages: p.live, works: p.delivered(), mails: temp.Warm, index: indexWarm, dir: st.work}
		j.reset = func() error {
			if err := p.begin(m); err != nil {
				return err
			}
			return st.reset()
		}
		j.run = func() (err error) {
			spent = spending{}
			for i, rd := range p.rounds {
				if err := rd.apply(m); err != nil {
					return err
				}
				if line, err = spent.session(d, src, st.work, p.live, line); err != nil {
					return fmt.Errorf("round %d: %w", i+1, err)
				}
			}
			return nil
		}
		j.check = func() error { return wantDigest("THREAD after the last round", corpus.AnswerDigest(line), want) }
		j.metrics = func(*result) []metric { return spent.metrics(d, p) }
		j.close = func() error { return joinClose(src.Close, st.close, m.restore) }
		return j, nil
	}
}

// session opens, syncs, threads and closes, and adds up what that wrote.
func (s *spending) session(d index.Design, src index.Source, dir string, n int, line []byte) ([]byte, error) {
	before, ioErr := temp.ProcessIO()
	counter := fsys.Counting(fsys.OS)
	cfg := openConfig(src, dir, index.Options{})
	cfg.FS = counter
	mb, err := d.Open(cfg)
	if err != nil {
		return line, err
	}
	generation := mb.Status().Generation
	if _, err = mb.Sync(); err == nil {
		line, err = threadLine(mb, "references", index.Search{}, line)
	}
	st := mb.Status()
	if err := joinClose(func() error { return err }, mb.Close); err != nil {
		return line, err
	}
	if st.Messages != n {
		return line, fmt.Errorf("%d messages, want %d", st.Messages, n)
	}
	s.written += counter.Counts().BytesWritten
	if after, err := temp.ProcessIO(); err == nil && ioErr == nil {
		s.dirtied += after.Sub(before).Written
	}
	if st.Generation > generation {
		s.rewrites += st.Generation - generation
	}
	space, err := dirBytes(dir)
	s.mean += space
	s.peak = max(s.peak, space)
	s.sessions++
	return line, err
}

func (s *spending) metrics(d index.Design, p plot) []metric {
	came, live := float64(p.delivered()), float64(p.live)
	out := []metric{
		{"dirtied-B/delivered", float64(s.dirtied) / came},
		{"mean-disk-B/msg", float64(s.mean) / float64(max(s.sessions, 1)) / live},
		{"peak-disk-B/msg", float64(s.peak) / live},
		{"rewrites", float64(s.rewrites)},
	}
	if !index.AxesOf(d).OwnIO { // else the calls are not seen
		out = append(out, metric{"written-B/delivered", float64(s.written) / came})
	}
	return out
}
