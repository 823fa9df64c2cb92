package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"

	"mailbench/index"
	"mailbench/store/box"
)

// mixTarget is the size that the mailbox is kept at.
const mixTarget = 500

// A mixSetting is what rows of BenchmarkMix differ in, besides.
type mixSetting struct {
	setting
	logout int // percent
	rate   int // percent of what the closed loop reaches; 0: the closed loop
	target int
	io     string // value of io=
	seed   uint64
}

// commands is how many each client does in a sample.
func (s mixSetting) commands() int {
	n := max(300/s.clients, min(40, 3000/s.clients))
	if smallWork {
		n = max(n/8, 4)
	}
	return n
}

func mixRows(s setting, def bool, d index.Design) []Row {
	if !index.AxesOf(d).Fetches {
		return nil // clients fetch
	}
	var rows []Row
	s.grown = grownSize{} // it has a size that it keeps
	add := func(s setting, logout, rate int, def bool, io string) {
		m := mixSetting{setting: s, logout: logout, rate: rate, target: mixTarget, io: io}
		row := Row{Bench: "Mix", Params: m.params(), Default: def}
		row.prepare = func(r *Runner, _ *fixture) (*job, error) {
			if err := r.doubtSync(row.Name(), s); err != nil {
				return nil, err
			}
			m.seed = r.seed()
			return r.mixing(row.Name(), m)
		}
		rows = append(rows, row)
	}
	for _, n := range []int{clientBase, 1, 5, 100, 200} {
		v := s
		v.clients = n
		add(v, 100, 0, def && n == clientBase, "")
	}
	for _, rate := range []int{50, 80} {
		add(s, 100, rate, false, "")
	}
	add(s, 0, 0, false, "")
	for _, policy := range []box.Fsync{box.Always, box.Never} {
		v := s
		v.fsync = policy
		add(v, 100, 0, false, "")
	}
	v := s
	v.cache = false
	add(v, 100, 0, false, "")
	for _, io := range ioValues(d) {
		v := s
		v.design = with(d, "io", io)
		add(v, 100, 0, false, io)
	}
	return rows
}

// A mixRun is one sample: the clients, what they did, and when.
type mixRun struct {
	clients []*mixClient
	model   *mixModel
	took    [numMixStates]*latencies // service, from a command's begin to its end; with a rate response, from when it was to begin
	all     *latencies               // the same of all commands
	stall   stallClock

	mu      sync.Mutex
	counts  mixCounts
	seconds []mixCounts

	wall, locked, device time.Duration
	inside, active       time.Duration // of all clients together: in commands, and between their first and their last
	late                 int           // commands that began more than a millisecond after their time
}

// mixing is a row of BenchmarkMix.
func (r *Runner) mixing(name string, s mixSetting) (*job, error) {
	best, perSecond := 0.0, 0.0
	if s.rate > 0 {
		var err error
		if best, err = r.mixBest(s); err != nil {
			return nil, err
		}
		perSecond = best * float64(s.rate) / 100
	}
	st, err := r.newStand(s.setting)
	if err != nil {
		return nil, err
	}
	n := s.commands() * s.clients
	var run *mixRun
	var numbers tally
	j := &job{design: s.design.Name(), op: "mix", messages: s.target, works: n, ops: n, own: true}
	j.reset = func() (err error) {
		run, err = r.newMix(st, s)
		return err
	}
	j.run = func() error { return run.play(st, s, perSecond) }
	j.check = func() error {
		if err := run.verify(st); err != nil {
			return fmt.Errorf("mix: %w: refusing to print a time", err)
		}
		numbers.add("p50-ns/command", run.all.at(50))
		numbers.add("p99-ns/command", run.all.at(99))
		numbers.add("max-ns/command", run.all.at(100))
		numbers.add("stall-ns", float64(run.stall.longest))
		if s.rate > 0 {
			numbers.add("late-pct", 100*float64(run.late)/float64(n))
		}
		return nil
	}
	j.close = st.remove
	j.metrics = func(res *result) []metric {
		speed := float64(n) / median(wallsOf(res)).Seconds()
		if s.rate == 0 {
			r.noteBest(s, speed)
		}
		r.told = append(r.told, run.report(name, s, res.samples[len(res.samples)-1].CPU(), best)...)
		out := append(numbers.metrics(), metric{"commands/s", speed})
		if why := missedRate(speed, perSecond, latePct(out)); why != "" {
			r.doubts = append(r.doubts, note{name, fmt.Sprintf("%s (%d%% of the closed loop's %.0f/s): %s", notReached, s.rate, best, why)})
		}
		if r.cfg.Metrics == "all" {
			for i, l := range run.took {
				if run.counts[i] > 0 {
					out = append(out, metric{"p99-ns/" + mixStates[i].short, l.at(99)})
				}
			}
		}
		return out
	}
	return j, nil
}

// notReached is said of a row whose commands could not begin at their times.
const notReached = "the rate was not reached"

// maxLate is the greatest part of commands, in percent, that may begin late: a
// client that is at its last command still is late now and then at any rate,
// and nearly always at one that cannot be reached.
const maxLate = 50

// missedRate says why a rate of commands a second was not reached, or "".
func missedRate(speed, perSecond, late float64) string {
	switch {
	case perSecond > 0 && speed < 0.95*perSecond:
		return fmt.Sprintf("%.0f commands/s of %.0f", speed, perSecond)
	case perSecond > 0 && late > maxLate:
		return fmt.Sprintf("%.0f%% of the commands began more than a millisecond late", late)
	}
	return ""
}

// latePct is the metric of that name.
func latePct(ms []metric) float64 {
	for _, m := range ms {
		if m.unit == "late-pct" {
			return m.value
		}
	}
	return 0
}

// params are the row's axes.
func (s mixSetting) params() []Param {
	rate := ""
	if s.rate > 0 {
		rate = strconv.Itoa(s.rate) + "pct"
	}
	return s.setting.params("io", s.io, "logout", strconv.Itoa(s.logout), "rate", rate, "msgs", strconv.Itoa(s.target))
}

// mixKey names a closed loop.
func mixKey(s mixSetting) string {
	s.rate = 0
	return joinParams(s.params())
}

func (r *Runner) noteBest(s mixSetting, speed float64) {
	if r.best == nil {
		r.best = map[string]float64{}
	}
	r.best[mixKey(s)] = speed
}

// mixBest is how many commands a second the closed loop of a row reaches, as
// its own row has shown, or else in one sample that is taken for it.
func (r *Runner) mixBest(s mixSetting) (float64, error) {
	s.rate = 0
	if best := r.best[mixKey(s)]; best > 0 {
		return best, nil
	}
	st, err := r.newStand(s.setting)
	if err != nil {
		return 0, err
	}
	run, err := r.newMix(st, s)
	if err == nil {
		if err = run.play(st, s, 0); err == nil {
			err = run.verify(st)
		}
	}
	if err := errors.Join(err, st.remove()); err != nil {
		return 0, fmt.Errorf("closed loop: %w", err)
	}
	speed := float64(run.counts.total()) / run.wall.Seconds()
	r.noteBest(s, speed)
	return speed, nil
}

// newMix makes a mailbox of the target size and its clients.
func (r *Runner) newMix(st *stand, s mixSetting) (*mixRun, error) {
	policy := st.fsync
	st.fsync = box.Never
	err := st.renew("")
	st.fsync = policy
	if err != nil {
		return nil, err
	}
	each := s.commands() * 2 // an APPEND may be done once more
	list := r.letters(min(letterPool, s.target+each*s.clients))
	run := &mixRun{model: newMixModel(), all: newLatencies()}
	for i := range run.took {
		run.took[i] = newLatencies()
	}
	for i := range list[:s.target] {
		uid, err := st.box.Append(list[i].Message)
		if err == nil {
			err = run.model.appended(uid, &list[i])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := st.shut(); err != nil {
		return nil, err
	}
	if err := st.open(policy, true); err != nil {
		return nil, err
	}
	list = list[s.target:]
	for i := range s.clients {
		c := &mixClient{box: st.box, model: run.model, rnd: rand.New(rand.NewPCG(s.seed, uint64(i))), dir: st.mail,
			target: s.target, logout: s.logout, state: mixLogout}
		from := i * len(list) / s.clients
		c.mine = list[from : (i+1)*len(list)/s.clients]
		run.clients = append(run.clients, c)
	}
	return run, settleDisk(st.base, st.other)
}

// play lets the clients do their commands: one after the other, or, with a
// rate, each at a time that was drawn before, as independent people would begin
// them: a Poisson process, of which it is given how many commands there are, so
// that the time that they take in all is what the rate says. A client that is late begins at once, and its
// response is counted from the time when it was to begin: what others wait for
// because of a stall is not left out.
func (run *mixRun) play(st *stand, s mixSetting, perSecond float64) error {
	begin := time.Now()
	run.stall.start(begin)
	waited := mutexWait()
	busy := st.device.read()
	err := inParallel(s.clients, func(i int) error {
		c := run.clients[i]
		var times []time.Duration
		if perSecond > 0 {
			times = dueTimes(rand.New(rand.NewPCG(s.seed^0x70616365, uint64(i))), s.commands(), float64(s.clients)/perSecond)
		}
		defer func() {
			run.mu.Lock()
			run.active += time.Since(begin)
			run.mu.Unlock()
		}()
		for k := range s.commands() {
			due := begin
			if perSecond > 0 {
				due = begin.Add(times[k])
				time.Sleep(time.Until(due))
			}
			if err := run.command(c, due, perSecond > 0, begin); err != nil {
				return fmt.Errorf("client %d: %w", i, err)
			}
		}
		return nil
	})
	run.wall = time.Since(begin)
	run.locked = mutexWait() - waited
	run.device = st.device.read() - busy
	return err
}

// dueTimes draws when n commands begin that come every mean seconds. Of a
// Poisson process with n events in a time, the events are where n points lie that
// are drawn anywhere in it. Gaps drawn one by one would do for a long run; in one
// of some dozen commands a client the last of many would end a third too late.
func dueTimes(rnd *rand.Rand, n int, mean float64) []time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		times[i] = time.Duration(rnd.Float64() * float64(n) * mean * float64(time.Second))
	}
	slices.Sort(times)
	return times
}

// command does the client's next command that has something to do.
func (run *mixRun) command(c *mixClient, due time.Time, paced bool, start time.Time) error {
	for {
		begin := time.Now()
		state, done, check, err := c.step()
		end := time.Now()
		if err != nil {
			return err
		}
		if done {
			run.count(state, begin, end, due, paced, start)
		}
		if check != nil {
			if err := check(); err != nil {
				return fmt.Errorf("%s: %w", mixStates[state].short, err)
			}
		}
		if done {
			return nil
		}
	}
}

func (run *mixRun) count(state mixState, begin, end, due time.Time, paced bool, start time.Time) {
	from := begin
	if paced {
		from = due
	}
	run.took[state].add(end.Sub(from))
	run.all.add(end.Sub(from))
	run.stall.done(end)
	run.mu.Lock()
	defer run.mu.Unlock()
	run.inside += end.Sub(begin)
	if paced && begin.Sub(due) > time.Millisecond {
		run.late++
	}
	second := int(end.Sub(start) / time.Second)
	for len(run.seconds) <= second {
		run.seconds = append(run.seconds, mixCounts{})
	}
	run.seconds[second][state]++
	run.counts[state]++
}

// verify compares what is left with the model, in the mailbox opened again.
func (run *mixRun) verify(st *stand) error {
	l, err := run.model.ledger()
	if err != nil {
		return err
	}
	_, err = st.verify(l)
	return err
}

// mutexWait is how long goroutines have waited for locks so far, all together.
func mutexWait() time.Duration {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}
