package suite

import (
	"crypto/rand"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/internal/tempdir"
)

// freshEnv marks the child process.
const freshEnv = "MAILBENCH_FRESH"

// freshMessages is the size of the corpus of the second look: large enough
// for every shape of thread, small enough to be made in a moment.
const freshMessages = 1000

// isFresh reports whether this process is that child.
func isFresh() bool { return os.Getenv(freshEnv) != "" }

// fresh runs one sample of the same rows in a new process on a corpus whose
// seed is drawn now. Nothing that a design remembered from the checks before
// its samples can be in that process, and no answer can have been known
// before the seed was.
func (r *Runner) fresh() int {
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return complain(err)
	}
	spec := fmt.Sprintf("synthetic:%d,seed=%d", freshMessages, binary.LittleEndian.Uint64(seed[:])>>32)
	own, err := tempdir.Make(r.cfg.Scratch, "fresh-") // what a killed run left there goes first
	if err != nil {
		return complain(err)
	}
	r.places = append(r.places, own) // for an interrupt
	defer own.Remove()
	dir := own.Path
	args := []string{"-test.run=^$", "-test.benchtime=1x", "-test.bench=" + flag.Lookup("test.bench").Value.String(),
		"-corpus=" + spec, "-samples=1", "-rows=" + r.cfg.Rows, "-designs=" + r.cfg.Names, "-options=" + r.cfg.Options, "-tier=" + r.cfg.Tiers,
		"-stores=" + r.cfg.Stores, "-slow=" + r.cfg.Slow,
		"-index-dir=" + filepath.Join(dir, "index"), "-scratch=" + filepath.Join(dir, "scratch"),
		fmt.Sprintf("-loop-image=%v", r.usesImage()), fmt.Sprintf("-allow-tmpfs=%v", r.cfg.AllowTmpfs)}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(plainEnviron(), freshEnv+"=1", "XDG_CACHE_HOME="+dir, envName("dsn")+"="+r.cfg.DSNs) // a password is nobody's business
	out, err := cmd.CombinedOutput()
	rows := strings.Count(string(out), "\nBenchmark")
	if err != nil {
		fmt.Printf("# fresh process on %s: FAILED: %v\n# %s\n", spec, err, strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n# "))
		return 1
	}
	if rows == 0 { // -bench named only rows that are skipped there
		fmt.Printf("# fresh process on %s: no rows\n", spec)
		return 0
	}
	fmt.Printf("# fresh process on %s (a corpus of its own): %d rows, every answer right\n", spec, rows)
	return 0
}

// plainEnviron is the environment without the variables of the suite's flags:
// a child is told everything by its flags.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(flagNames, func(flag string) bool { return name == envName(flag) })
	})
}
