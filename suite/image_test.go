package suite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/internal/temp"
)

// TestLoopImage_isCold runs cold rows in a private file system: mail, names
// and inodes come from its device, the index stays warm, and the mail it was
// copied from is not touched.
func TestLoopImage_isCold(t *testing.T) {
	r := small(t, Config{LoopImage: "on"})
	f, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	if why := temp.CanImage(r.scratch); why != "" {
		t.Skip(why)
	}
	g, err := r.imaged(f)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.closeImage(); err != nil || !strings.Contains(r.imageTold, "anew") {
			t.Errorf("%v, %q", err, r.imageTold)
		}
	}()
	before := tree(t, f.path)
	for _, c := range []struct {
		row string
		min int64 // that the device must have delivered
	}{
		{"ThreadFirst/design=column/fields=thread/mails=cold/index=warm", 300 * 4096},
		{"ThreadFirst/design=scan/mails=cold/index=warm", 300 * 4096},
		{"SelectFirst/design=column/mails=cold/index=none", 4096},
		{"Floor/op=headers/mails=cold", 300 * 4096},
	} {
		j := prepared(t, r, g, c.row)
		if why := j.unfit(r.memory, false); why != "" {
			t.Fatal(why)
		}
		op, warm := j.run, false
		j.run = func() error {
			if j.index == indexWarm {
				set, err := temp.Files(j.dir)
				if err != nil {
					return err
				}
				warm = look(t, set).Share() == 1
			}
			return op()
		}
		var res result
		for range 2 {
			if err := r.sample(j, &res, rand.New(rand.NewPCG(1, 1))); err != nil {
				t.Fatalf("%s: %v", c.row, err)
			}
		}
		for _, s := range res.samples {
			if s.IOKnown && s.Read < c.min {
				t.Errorf("%s: the device delivered %d bytes, want at least %d", c.row, s.Read, c.min)
			}
		}
		if j.index == indexWarm && !warm {
			t.Errorf("%s: the index was not warm", c.row)
		}
	}
	if after := tree(t, f.path); !bytes.Equal(before, after) {
		t.Error("the mail that was copied has changed")
	}
	// What reads nothing is not believed.
	j := prepared(t, r, g, "ThreadFirst/design=column/fields=thread/mails=cold/index=warm")
	j.run, j.check, j.after = func() error { return nil }, nil, nil
	if _, ok := asSkip(r.sample(j, &result{}, rand.New(rand.NewPCG(1, 1)))); !ok {
		t.Error("an operation that reads nothing passed as cold")
	}
}

// prepared prepares the row of that name on f.
func prepared(t *testing.T, r *Runner, f *fixture, name string) *job {
	t.Helper()
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
		return j
	}
	t.Fatalf("no row %s", name)
	return nil
}

// tree lists names, sizes and times below dir.
func tree(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + info.Mode().String() + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLoopImage_wholeRun holds that a run with -loop-image has rows for cold
// mail, in the fresh process too, and says how it got cold.
func TestLoopImage_wholeRun(t *testing.T) {
	dir := diskDir(t)
	if why := temp.CanImage(dir); why != "" {
		t.Skip(why)
	}
	got := benchmark(t, dir, "SelectFirst|ThreadFirst", "-corpus=synthetic:50", "-designs=scan", "-loop-image", "-samples=2")
	if got.code != 0 {
		t.Fatal(got.out, got.errs)
	}
	for _, want := range []string{"BenchmarkSelectFirst/design=scan/mails=cold/index=none", "BenchmarkThreadFirst/design=scan/mails=cold/index=warm",
		"# loop image: cold mail lay in a private ext4 on ", "cold by a private loop image", ": 4 rows, every answer right"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in:\n%s", want, got.out)
		}
	}
}
