package suite

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/internal/temp"
)

// ready prepares the row of that name on a small corpus and returns its job.
func ready(t *testing.T, r *Runner, name string) (*job, *fixture) {
	t.Helper()
	f, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows() {
		if row.Name() != "Benchmark"+name {
			continue
		}
		j, err := row.prepare(r, f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := step(j.close); err != nil {
				t.Error(err)
			}
		})
		return j, f
	}
	t.Fatalf("no row %s", name)
	return nil, nil
}

func small(t *testing.T, cfg Config) *Runner {
	t.Helper()
	cfg.Corpus, cfg.Rows, cfg.Samples = "synthetic:300", "all", 1
	cfg.Names = "column,scan" // whatever the default designs are
	return runner(t, diskDir(t), cfg)
}

// look asks about every page of files.
func look(t *testing.T, set *temp.Set) temp.Residency {
	t.Helper()
	res, err := set.Residency(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Pages == 0 {
		t.Fatal("no pages")
	}
	return res
}

// TestTemperature_isWhatTheRowSays looks at mail and index at the moment at
// which the clock of a sample starts.
func TestTemperature_isWhatTheRowSays(t *testing.T) {
	r := small(t, Config{})
	for _, c := range []struct {
		row         string
		mail, index float64 // resident share; -1: not asked
		reads       bool    // the device must have been read
	}{
		{"SelectFirst/design=column/mails=warm/index=none", 1, -1, false},
		{"SelectFirst/design=column/mails=nodata/index=none", 0, -1, false},
		{"ThreadFirst/design=column/fields=thread/mails=warm/index=warm", 1, 1, false},
		{"ThreadFirst/design=column/fields=thread/mails=nodata/index=warm", 0, 1, true},
		{"ThreadFirst/design=scan/mails=nodata/index=warm", 0, 1, true},
		{"ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=cold", 1, 0, true},
		{"ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=warm", 1, 1, false},
		{"SelectAgain/design=scan/mails=warm/index=cold", 1, 0, true},
		{"Resync/design=column/delta=deliver/mails=warm/index=warm", 1, 1, false},
		{"Floor/op=headers/mails=nodata", 0, -1, true},
	} {
		t.Run(c.row, func(t *testing.T) {
			j, _ := ready(t, r, c.row)
			op := j.run
			seen := 0
			j.run = func() error {
				seen++
				if res := look(t, j.files); res.Share() != c.mail {
					t.Errorf("%v of the mail's pages are resident, want %v", res.Share(), c.mail)
				}
				if c.index >= 0 {
					set, err := temp.Files(j.dir)
					if err != nil {
						t.Fatal(err)
					}
					if res := look(t, set); res.Share() != c.index {
						t.Errorf("%v of the index's pages are resident, want %v", res.Share(), c.index)
					}
				} else if j.dir != "" {
					if names, _ := os.ReadDir(j.dir); len(names) > 0 {
						t.Errorf("index=none begins with %v", names)
					}
				}
				return op()
			}
			var res result
			for range 2 {
				if err := r.sample(j, &res, rand.New(rand.NewPCG(1, 1))); err != nil {
					t.Fatal(err)
				}
			}
			if seen < 2 || len(res.samples) != 2 {
				t.Fatalf("%d runs, %d samples", seen, len(res.samples))
			}
			for _, s := range res.samples {
				if s.IOKnown && c.reads != (s.Read > 0) {
					t.Errorf("a sample read %d bytes from the device, want some: %v", s.Read, c.reads)
				}
				if min := int64(300 * 4096); c.mail == 0 && c.reads && s.Read < min {
					t.Errorf("300 mails without data were read with %d bytes, want at least %d", s.Read, min)
				}
			}
		})
	}
}

// TestTemperature_missesSkipTheRow holds that a sample whose temperature was
// not what its row says is void, and that the third ends the row with the
// reason.
func TestTemperature_missesSkipTheRow(t *testing.T) {
	r := small(t, Config{})
	nothing := func(*fixture) error { return nil }
	evict := func(f *fixture) error { return f.files.Evict() }
	for _, c := range []struct {
		row  string
		do   func(*fixture) error // in place of the operation
		want string
	}{
		{"ThreadFirst/design=column/fields=thread/mails=warm/index=warm", evict, "only 0.00% of the pages"},
		{"ThreadFirst/design=column/fields=thread/mails=nodata/index=warm", nothing, "the operation needed at least"},
		{"SelectFirst/design=column/mails=nodata/index=none", func(f *fixture) error { return f.files.Warm() }, "canary"},
		{"ThreadAgain/design=scan/delta=none/search=all/mails=warm/index=cold", nothing, "the index was evicted"},
	} {
		t.Run(c.row, func(t *testing.T) {
			j, f := ready(t, r, c.row)
			tries := 0
			j.run = func() error { tries++; return c.do(f) }
			j.check, j.after = nil, nil
			var res result
			err := r.sample(j, &res, rand.New(rand.NewPCG(1, 1)))
			why, ok := asSkip(err)
			if !ok || !strings.Contains(why, c.want) || !strings.Contains(why, "3 tries") {
				t.Errorf("%v, want a skip that tells %q", err, c.want)
			}
			if tries != 3 || len(res.samples) != 0 {
				t.Errorf("%d tries, %d samples; want 3 and none", tries, len(res.samples))
			}
		})
	}
}

// TestTemperature_repeatedSample holds that one miss costs a try, not the row.
func TestTemperature_repeatedSample(t *testing.T) {
	r := small(t, Config{})
	j, f := ready(t, r, "ThreadFirst/design=scan/mails=warm/index=warm")
	op, tries := j.run, 0
	j.run = func() error {
		if tries++; tries == 1 {
			if err := f.files.Evict(); err != nil {
				return err
			}
		}
		return op()
	}
	var res result
	if err := r.sample(j, &res, rand.New(rand.NewPCG(1, 1))); err != nil || tries != 2 || len(res.samples) != 1 {
		t.Errorf("%v after %d tries, %d samples", err, tries, len(res.samples))
	}
}

// TestTemperature_cold drops the caches of the machine, so only on request.
func TestTemperature_cold(t *testing.T) {
	if os.Getenv("MAILBENCH_TEST_DROP_CACHES") != "1" {
		t.Skip("drops the caches of the whole machine: only with MAILBENCH_TEST_DROP_CACHES=1")
	}
	if why := temp.CanDrop(); why != "" {
		t.Skip(why)
	}
	r := small(t, Config{DropCaches: true})
	for _, c := range []struct {
		row string
		min int64 // that the device must have delivered
	}{
		{"ThreadFirst/design=column/fields=thread/mails=cold/index=warm", 300 * 4096},
		{"SelectFirst/design=column/mails=cold/index=none", 4096},
		{"Floor/op=headers/mails=cold", 300 * 4096},
	} {
		j, _ := ready(t, r, c.row)
		var res result
		if err := r.sample(j, &res, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatalf("%s: %v", c.row, err)
		}
		if got := res.samples[0].Read; got < c.min {
			t.Errorf("%s: the device delivered %d bytes, want at least %d", c.row, got, c.min)
		}
	}
	j, _ := ready(t, r, "ThreadFirst/design=column/fields=thread/mails=cold/index=warm")
	j.run = func() error { return nil }
	j.check, j.after = nil, nil
	if _, ok := asSkip(r.sample(j, &result{}, rand.New(rand.NewPCG(1, 1)))); !ok {
		t.Error("an operation that reads nothing passed as cold")
	}
}

// shm makes a directory in memory.
func shm(t *testing.T) string {
	t.Helper()
	if m, err := temp.Mount("/dev/shm"); err != nil || !m.Memory() {
		t.Skip("/dev/shm is not a file system in memory")
	}
	dir, err := os.MkdirTemp("/dev/shm", "mailbench-suite-")
	if err != nil {
		t.Skip("/dev/shm: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestSkipped_withReason holds that what cannot be measured here is skipped,
// and that the reason stands on a comment line after the rows.
func TestSkipped_withReason(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	inMemory := shm(t)
	// A maildir in memory: a few mails of the generator.
	if got := benchmark(t, dir, "SelectFirst/.*/mails=warm", "-corpus=synthetic:50", "-designs=scan"); got.code != 0 {
		t.Fatal(got.out, got.errs)
	}
	made, err := filepath.Glob(filepath.Join(dir, "mailbench/corpus/*n50.*/*/cur"))
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	mail := filepath.Join(inMemory, "mail")
	if err := os.CopyFS(mail, os.DirFS(filepath.Dir(made[0]))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, rows string
		env, args  []string
		skipped    []string // row: why
		measured   int
	}{
		{"mail in memory", "SelectFirst|ThreadFirst", nil, []string{"-corpus=" + mail, "-designs=scan", "-drop-caches", "-rows=all"}, []string{
			"SelectFirst/design=scan/mails=nodata/index=none: " + mail + " is on tmpfs",
			"SelectFirst/design=scan/mails=cold/index=none: " + mail + " is on tmpfs",
			"ThreadFirst/design=scan/mails=nodata/index=warm: " + mail + " is on tmpfs",
			"ThreadFirst/design=scan/mails=cold/index=warm: " + mail + " is on tmpfs",
		}, 2},
		{"index in memory", "SelectAgain", nil, []string{"-corpus=synthetic:50", "-designs=column", "-index-dir=" + inMemory, "-allow-tmpfs"}, []string{
			"SelectAgain/design=column/mails=warm/index=cold: ",
		}, 2},
		{"no permission", "SelectFirst", nil, []string{"-corpus=synthetic:50", "-designs=scan", "-rows=all", "-loop-image=false"}, []string{
			"SelectFirst/design=scan/mails=cold/index=none: cold needs -drop-caches",
		}, 2},
		{"mail larger than memory", "SelectFirst", []string{memoryEnv + "=100000"}, []string{"-corpus=synthetic:50", "-designs=scan"}, []string{
			"SelectFirst/design=scan/mails=warm/index=none: ",
		}, 1},
		{"one file", "SelectFirst", nil, []string{"-corpus=" + oneMbox(t, dir), "-designs=scan"}, []string{
			"SelectFirst/design=scan/mails=nodata/index=none: a mailbox in one file is mapped or decompressed",
		}, 1},
		{"no maildir", "Resync", nil, []string{"-corpus=" + oneMbox(t, dir), "-designs=scan"}, []string{
			"Resync/design=scan/delta=none/mails=warm/index=warm: a change of the mailbox needs a maildir",
			"Resync/design=scan/delta=deliver/mails=warm/index=warm: a change of the mailbox needs a maildir",
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := append(c.env, freshEnv+"=1") // no second look at other mail
			got := benchmarkEnv(t, env, dir, c.rows, append(c.args, "-test.count=2")...)
			if got.code != 0 || strings.Contains(got.out, "FAIL") {
				t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
			}
			told := lines(got.out, "# skipped ")
			for _, want := range c.skipped {
				if n := len(lines(strings.Join(told, "\n"), "# skipped Benchmark"+want)); n != 1 {
					t.Errorf("%d lines of %q, want 1:\n%s", n, want, strings.Join(told, "\n"))
				}
			}
			if len(told) != len(c.skipped) {
				t.Errorf("%d rows skipped, want %d:\n%s", len(told), len(c.skipped), strings.Join(told, "\n"))
			}
			if n := len(lines(got.out, "Benchmark")); n != 2*c.measured {
				t.Errorf("%d rows, want %d twice:\n%s", n, c.measured, got.out)
			}
			if strings.LastIndex(got.out, "\nBenchmark") > strings.Index(got.out, "# skipped") {
				t.Errorf("a skip between the rows:\n%s", got.out)
			}
		})
	}
}

// oneMbox writes an mbox of one message.
func oneMbox(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "one.mbox")
	if err := os.WriteFile(path, []byte("From a@b Thu Jan  1 00:00:00 1970\nSubject: one\n\ntext\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAsSkip(t *testing.T) {
	if _, ok := asSkip(io.EOF); ok {
		t.Error("an error is no skip")
	}
	if why, ok := asSkip(errors.Join(skip("because %d", 1))); !ok || why != "because 1" {
		t.Errorf("%q, %v", why, ok)
	}
}
