package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/internal/meter"
	"mailbench/internal/temp"
)

// A result gathers the samples of a row.
type result struct {
	samples []meter.Sample
	floors  []time.Duration
	share   float64 // residency of the mail before the last sample
	peak    *meter.Memory
	inside  []metric // phases and counts of one more sample
}

// misses is how often a sample whose temperature was not as named is
// repeated before the row is skipped.
const misses = 3

// bench runs the rows of one benchmark as sub-benchmarks.
func (r *Runner) bench(b *testing.B, name string) {
	f, err := r.open()
	if err != nil {
		b.Fatal(err)
	}
	ran := false
	for _, row := range r.Rows() {
		if row.Bench != name || r.cfg.Rows == "default" && !row.Default {
			continue
		}
		ran = true
		b.Run(joinParams(row.Params), func(b *testing.B) { r.runRow(b, f, row) })
		if b.Failed() {
			r.failed = true
		}
		f.truth.drop()
	}
	r.putAway()
	if err := errors.Join(r.shrink(), r.dropMany()); err != nil {
		b.Error(err)
	}
	if !ran { // else go test would time the search for rows
		b.SkipNow()
	}
}

func (r *Runner) runRow(b *testing.B, f *fixture, row Row) {
	if why := cmp.Or(row.unfitFor(f.kind), r.unreached[row.value("store")]); why != "" {
		r.giveUp(b, row, &errSkip{why})
	}
	var err error
	if row.value("mails") == temp.Cold.String() && r.usesImage() {
		if f, err = r.imaged(f); err != nil {
			r.giveUp(b, row, err)
		}
	}
	j, err := row.prepare(r, f)
	if err == nil {
		if why := j.unfit(r.memory, r.cfg.DropCaches); why != "" {
			err = &errSkip{why}
		}
	}
	if j != nil && j.close != nil {
		defer func() {
			if err := j.close(); err != nil {
				b.Error(err)
			}
		}()
	}
	if err != nil {
		r.giveUp(b, row, err)
	}
	rnd := rand.New(rand.NewPCG(uint64(f.messages), uint64(len(row.Params))))
	var res result
	runtime.GC()
	runtime.GC()
	for b.Loop() {
		if err := r.sample(j, &res, rnd); err != nil {
			r.giveUp(b, row, err)
		}
	}
	for len(res.samples) < r.cfg.Samples {
		if err := r.sample(j, &res, rnd); err != nil {
			r.giveUp(b, row, err)
		}
	}
	if err := j.doubtFloor(&res, rnd); err != nil {
		r.giveUp(b, row, err)
	}
	if err := r.repeat(row, j, &res); err != nil {
		r.giveUp(b, row, err)
	}
	if err := r.lookInside(j, &res, rnd); err != nil {
		r.giveUp(b, row, err)
	}
	r.report(b, row, j, &res)
}

// giveUp skips or fails the row and does not return.
func (r *Runner) giveUp(b *testing.B, row Row, err error) {
	if why, ok := asSkip(err); ok {
		r.skipped = append(r.skipped, note{row.Name(), why})
		b.SkipNow()
	}
	r.failed = true
	b.Fatal(err)
}

// sample takes one proven, checked sample; a sample whose proof fails is
// repeated.
func (r *Runner) sample(j *job, res *result, rnd *rand.Rand) error {
	var miss *temp.Miss
	for range misses {
		err := r.try(j, res, rnd)
		if !errors.As(err, &miss) {
			return err
		}
	}
	return &errSkip{fmt.Sprintf("no proof of its temperature in %d tries: %s", misses, strings.TrimPrefix(miss.Error(), "temp: "))}
}

func (r *Runner) try(j *job, res *result, rnd *rand.Rand) error {
	if err := step(j.reset); err != nil {
		return err
	}
	if err := j.heat(res, rnd); err != nil {
		return err
	}
	var m meter.Meter
	var err error
	labels := pprof.Labels("op", j.op, "design", j.design, "stage", "timed")
	pprof.Do(context.Background(), labels, func(context.Context) {
		m.Start()
		err = j.run()
	})
	s := m.Stop()
	if err != nil {
		return fmt.Errorf("%s: %w", j.op, err)
	}
	err = step(j.check)
	if aerr := step(j.after); err == nil {
		err = aerr
	}
	if err != nil {
		return err
	}
	if err := j.prove(s, rnd); err != nil {
		return err
	}
	res.samples = append(res.samples, s)
	if len(res.floors) >= r.cfg.Samples {
		return nil
	}
	return j.measureFloor(res, rnd)
}

// measureFloor runs the row's floor once, at the row's temperature.
func (j *job) measureFloor(res *result, rnd *rand.Rand) error {
	if j.floor == nil {
		return nil
	}
	if err := j.heat(res, rnd); err != nil {
		return err
	}
	begin := time.Now()
	if _, err := j.floor(); err != nil {
		return err
	}
	res.floors = append(res.floors, time.Since(begin))
	return nil
}

// doubtFloor measures the floor of a row that was faster than it some more: on
// a busy machine the few runs beside the first samples may all have been slow.
func (j *job) doubtFloor(res *result, rnd *rand.Rand) error {
	const more = 20
	for range more {
		if _, _, fast := res.belowFloor(); !fast {
			return nil
		}
		if err := j.measureFloor(res, rnd); err != nil {
			return err
		}
	}
	return nil
}

// heat brings mail and index into the row's state. Cold drops everything, so
// a warm index is read again after it.
func (j *job) heat(res *result, rnd *rand.Rand) error {
	if j.files != nil {
		var err error
		if res.share, err = j.files.Make(j.mails, rnd); err != nil {
			return err
		}
	}
	return j.makeIndex(rnd)
}

// prove asks afterwards what cannot be asked before.
func (j *job) prove(s meter.Sample, rnd *rand.Rand) error {
	if j.index == indexCold && s.IOKnown && s.Read == 0 {
		return &temp.Miss{Why: "the device delivered nothing, and the index was evicted"}
	}
	if j.files == nil {
		return nil
	}
	var must int64
	if j.readsAll {
		// A page of each file, less what shares a page or holds nothing.
		must = int64(j.files.Len()) * 4096 / 10 * 9
	}
	reads := s.Read
	if !s.IOKnown {
		if j.mails != temp.Warm {
			return &errSkip{"device reads are not shown by this kernel, so " + j.mails.String() + " cannot be proven"}
		}
		reads = 0
	}
	if j.mails == temp.Warm && j.index == indexCold {
		reads = 0 // the index had to come from the device; the mail is asked again
	}
	return j.files.After(j.mails, reads, must, rnd)
}

// median returns the middle of ds (the lower of two).
func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	s := slices.Clone(ds)
	slices.Sort(s)
	return s[(len(s)-1)/2]
}

func medianOf(samples []meter.Sample, value func(meter.Sample) int64) int64 {
	ds := make([]time.Duration, len(samples))
	for i, s := range samples {
		ds[i] = time.Duration(value(s))
	}
	return int64(median(ds))
}
