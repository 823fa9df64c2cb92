package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mailbench/internal/meter"
	"mailbench/internal/temp"
)

// childEnv holds the order of a process that takes one sample of one row.
const childEnv = "MAILBENCH_CHILD"

// An order is what such a process has to know. It finds the index files made.
type order struct {
	Config  Config // without designs and formats, which are code
	Row     string
	Stage   string
	Fixture childFixture
}

// A childFixture is the fixture without what is read again.
type childFixture struct {
	Name, Digest, Path, Kind string
	Messages                 int
	Bytes                    int64
	Digests                  map[string]string
}

// An outcome is what the process answers.
type outcome struct {
	CPU  time.Duration
	Peak meter.Memory // above what the process held before the operation
	Miss string       // not "": no sample had the row's temperature, and why
}

const (
	// A process that knows nothing pays for its first pages and tables.
	childFactor = 5
	childStart  = 20 * time.Millisecond
	childTries  = 6 // on a busy machine a process that starts may need 30 ms for nothing, several times in a row
)

// peakRows are the benchmarks whose memory is asked for.
var peakRows = strings.Fields("SelectFirst ThreadFirst ThreadAgain")

// repeat takes one more sample of a warm row in a process that has asked the
// mailbox nothing and has only the index files. An operation that costs there
// many times what it costs here was answered here from something else than
// its index. The process also shows the operation's peak memory.
func (r *Runner) repeat(row Row, j *job, res *result) error {
	if !r.forks || j.stage == nil || j.mails != temp.Warm {
		return nil
	}
	here := time.Duration(medianOf(res.samples, func(s meter.Sample) int64 { return int64(s.CPU()) }))
	var least time.Duration
	for try := range childTries {
		got, err := r.elsewhere(row, j)
		if err != nil {
			return fmt.Errorf("in a process of its own: %w", err)
		}
		if try == 0 && r.cfg.Metrics == "all" && slices.Contains(peakRows, row.Bench) {
			res.peak = &got.Peak
		}
		if try == 0 || got.CPU < least {
			least = got.CPU
		}
		if least <= childFactor*here+childStart {
			return nil
		}
	}
	return fmt.Errorf("%v of CPU here, at least %v in %d processes that found only the index files: answers are remembered outside them", here, least, childTries)
}

// elsewhere runs one sample of row in a new process.
func (r *Runner) elsewhere(row Row, j *job) (*outcome, error) {
	f := r.opened
	o := order{Config: r.cfg, Row: row.Name(), Stage: j.stage.dir, Fixture: childFixture{f.name, f.digest, f.path, f.kind, f.messages, f.bytes, f.truth.digests}}
	o.Config.Designs, o.Config.Formats = nil, nil
	// What it writes goes with what this process wrote.
	o.Config.IndexDir, o.Config.Scratch = r.index, r.scratch
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(plainEnviron(), childEnv+"="+string(text))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(strings.TrimSpace(complaint.String())))
	}
	var got outcome
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, out)
	}
	if got.Miss != "" {
		return nil, skip("no proof of its temperature in a process of its own, in %d tries: %s", misses, got.Miss)
	}
	return &got, nil
}

// child is the body of that process; the result is its exit code.
func (r *Runner) child(text string) int {
	got, err := r.obey(text)
	r.cleanup()
	if err != nil {
		return complain(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		return complain(err)
	}
	return 0
}

func (r *Runner) obey(text string) (*outcome, error) {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return nil, err
	}
	o.Config.Designs, o.Config.Formats = r.cfg.Designs, r.cfg.Formats
	r.cfg, r.problem = o.Config, nil
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := r.makePlaces(); err != nil {
		return nil, err
	}
	r.inherited = o.Stage
	of := o.Fixture
	f := &fixture{name: of.Name, digest: of.Digest, path: of.Path, kind: of.Kind, messages: of.Messages, bytes: of.Bytes,
		truth: &truth{digests: of.Digests, load: func() (answerer, error) { return nil, errors.New("not in this process") }}}
	var err error
	if f.files, err = mailFiles(f.path, f.kind); err != nil {
		return nil, err
	}
	r.opened = f
	i := slices.IndexFunc(r.Rows(), func(row Row) bool { return row.Name() == o.Row })
	if i < 0 {
		return nil, fmt.Errorf("no row %s", o.Row)
	}
	j, err := r.Rows()[i].prepare(r, f)
	if err != nil {
		return nil, err
	}
	got, err := j.warm(f)
	return got, errors.Join(err, step(j.close))
}

// warm takes a sample, up to misses times if its temperature is not the row's.
func (j *job) warm(f *fixture) (got *outcome, err error) {
	var miss *temp.Miss
	for range misses {
		if got, err = j.once(f); !errors.As(err, &miss) {
			return got, err
		}
	}
	return &outcome{Miss: miss.Why}, nil
}

// once takes a sample and watches its memory.
func (j *job) once(f *fixture) (*outcome, error) {
	if err := step(j.reset); err != nil {
		return nil, err
	}
	var res result
	if err := j.heat(&res, rand.New(rand.NewPCG(1, 1))); err != nil {
		return nil, err
	}
	f.files, j.files = nil, nil // not asked any more, and a list of files weighs more than many an answer
	for range 2 {
		debug.FreeOSMemory()
	}
	held := meter.ReadMemory()
	var m meter.Meter
	stop := meter.Watch(time.Millisecond)
	m.Start()
	err := j.run()
	s := m.Stop()
	peak := stop()
	if err == nil {
		err = step(j.check)
	}
	if err := errors.Join(err, step(j.after)); err != nil {
		return nil, err
	}
	peak.Anonymous = max(0, peak.Anonymous-held.Anonymous)
	peak.File = max(0, peak.File-held.File)
	return &outcome{CPU: s.CPU(), Peak: peak}, nil
}
