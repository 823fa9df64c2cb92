package suite

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/internal/temp"
	"mailbench/internal/tempdir"
	"mailbench/store"
)

// Config says what is measured. The zero value is the default run.
type Config struct {
	Corpus     string // "synthetic", "synthetic:N,seed=...", or the path of a maildir or mbox; "" = synthetic
	IndexDir   string // where index files live; "" = below the user cache directory
	Scratch    string // where mail is written; "" = below the user cache directory. "DIR1,DIR2": rows that write run in each
	Designs    []index.Design
	Names      string         // picks from Designs by name, comma-separated, or "all"; "" = all, or of the house's own the default ones
	Options    string         // designs' own options: "design.name=value", comma-separated
	Tiers      string         // kinds of tier in front of Fetch, comma-separated; "" = all
	Formats    []store.Format // formats that mail is written in; nil = the house's own
	Stores     string         // picks from Formats by name, comma-separated, or "all"; "sql" = the embedded database and those of DSNs; "" = all; the default rows are then those of maildir, mdbox and DSNs
	DSNs       string         // databases of store sql besides its embedded one, separated by blanks: "postgres://...", "mysql://..."
	Slow       string         // "[index:|mail:|both:]LATENCY[,BYTES]": files of written mailboxes as slow as those of a NAS; "" = as they are
	Rows       string         // "default" (also "") or "all"
	Samples    int            // least number of samples of a row; 0 = 3
	Metrics    string         // "default" (also "") or "all"
	DropCaches bool           // cold rows may drop the caches of the whole machine
	LoopImage  string         // "on": cold rows run in a private file system; "off"; "" = with Rows "all" and no DropCaches
	AllowTmpfs bool           // index and scratch may lie on tmpfs, where fsync is free
	CacheDir   string         // corpora and answers; "" = user cache directory/mailbench
}

// A Runner runs the benchmarks of one Config. Make it with Flags or New.
type Runner struct {
	cfg     Config
	problem error // found while reading the environment

	workshop // of the rows that write

	known index.Registry // the designs to pick from
	house bool           // they are the house's own

	opened  *fixture
	openErr error
	index   string         // this run's own directory below cfg.IndexDir
	scratch string         // and below cfg.Scratch
	places  []*tempdir.Dir // both

	forks     bool   // this process can start itself anew (Main ran)
	inherited string // index files that the parent process made
	clone     *live
	pasts     map[string]*past // mailboxes with a past, by what they lived through
	grown     *fixture         // of BenchmarkGrow, one at a time
	growth    growth
	many      *manyIndexes // of BenchmarkMany, of one design at a time
	image     *temp.Image  // of the cold rows; nil: not made (yet)
	imageTold string       // what is to be said of it after the run
	cool      *fixture     // the corpus in it
	coolErr   error
	skipped   []note // rows that cannot be measured here, and why
	cold      []note // cold samples in the order in which they were taken
	doubts    []note
	fileUnits []string // metrics named after files
	failed    bool
	ran       bool // a row was measured

	reclaim  temp.Reclaim // at the begin
	memory   int64        // that the page cache can have
	syncTold bool
}

// A note is a line that is printed after the run.
type note struct{ name, text string }

// New makes a Runner for cfg.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Flags registers the suite's flags, with defaults from the MAILBENCH_...
// variables of the environment, and returns the Runner that they configure. It
// measures ds, without any the house's own designs.
func Flags(fs *flag.FlagSet, ds ...index.Design) *Runner {
	r := &Runner{cfg: Config{Designs: ds}}
	c := &r.cfg
	text := func(p *string, name, usage string) {
		fs.StringVar(p, name, os.Getenv(envName(name)), usage+" (or "+envName(name)+")")
	}
	// A wrong value is kept for check: the flag package would print a page.
	boolean := func(p *bool, name, usage string) {
		set := func(from, v string) {
			b, err := strconv.ParseBool(v)
			if err != nil {
				r.problem = errors.Join(r.problem, fmt.Errorf("%s=%s: want true or false", from, v))
			}
			*p = b
		}
		if v := os.Getenv(envName(name)); v != "" {
			set(envName(name), v)
		}
		fs.BoolFunc(name, usage+" (or "+envName(name)+")", func(v string) error { set("-"+name, v); return nil })
	}
	text(&c.Corpus, "corpus", "`what` to run on: synthetic, synthetic:N, a maildir or an mbox")
	text(&c.IndexDir, "index-dir", "`directory` of the index files")
	text(&c.Scratch, "scratch", "`directory` in which mail is written, or several, comma-separated: rows that write run in each")
	text(&c.Names, "designs", "comma-separated `names` of the designs to run, or all")
	text(&c.Options, "options", "designs' own options, comma-separated `design.name=value`")
	text(&c.Tiers, "tier", "comma-separated `kinds` of tier to put in front of fetches")
	text(&c.Stores, "stores", "comma-separated `names` of the mail stores to write to, or all; sql is also every database of -dsn, sql:postgres only that")
	text(&c.DSNs, "dsn", "`databases` of store sql besides its embedded one, separated by blanks: postgres://... mysql://...; without -stores they are added to the default stores")
	text(&c.Slow, "slow", "make index files of written mailboxes as slow as `latency[,bytes/s]`, as 500us,40MB; mail:... their mail, both:... both")
	text(&c.Rows, "rows", "`which` rows: default or all")
	text(&c.Metrics, "metrics", "`which` metrics: default or all")
	boolean(&c.DropCaches, "drop-caches", "let cold rows drop the caches of the whole machine")
	boolean(&c.AllowTmpfs, "allow-tmpfs", "let index and scratch lie on tmpfs")
	fs.BoolFunc("loop-image", "let cold rows run in a private file system in a file below -scratch (needs root; with -rows all and no -drop-caches it is tried anyway, unless false) (or "+envName("loop-image")+")",
		func(v string) error { c.LoopImage = v; return nil })
	c.LoopImage = os.Getenv(envName("loop-image"))
	samples := func(from, v string) {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			r.problem = errors.Join(r.problem, fmt.Errorf("%s=%s: want a number from 1", from, v))
		}
		c.Samples = n
	}
	if v := os.Getenv(envName("samples")); v != "" {
		samples(envName("samples"), v)
	}
	fs.Func("samples", "least `number` of samples of a row, by default 3 (or "+envName("samples")+")", func(v string) error {
		samples("-samples", v)
		return nil
	})
	return r
}

// flagNames are the flags that a variable can set.
var flagNames = strings.Fields("corpus index-dir scratch designs options tier stores dsn slow rows metrics drop-caches loop-image allow-tmpfs samples")

func envName(flag string) string {
	return "MAILBENCH_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// check fills in the defaults and finds what cannot be run, as one line.
func (r *Runner) check() error {
	c := &r.cfg
	if r.problem != nil {
		return r.problem
	}
	if c.Samples < 0 {
		return fmt.Errorf("samples: %d: want a number from 1", c.Samples)
	}
	if c.Samples == 0 {
		c.Samples = 3
	}
	for _, f := range []struct {
		name string
		val  *string
	}{{"rows", &c.Rows}, {"metrics", &c.Metrics}} {
		if *f.val == "" {
			*f.val = "default"
		}
		if !slices.Contains([]string{"default", "all"}, *f.val) {
			return fmt.Errorf("-%s %s: want default or all", f.name, *f.val)
		}
	}
	switch c.LoopImage {
	case "", "on", "off":
	default:
		on, err := strconv.ParseBool(c.LoopImage)
		if err != nil {
			return fmt.Errorf("-loop-image %s: want true or false", c.LoopImage)
		}
		if c.LoopImage = "off"; on {
			c.LoopImage = "on"
		}
	}
	if _, err := r.pickTiers(); err != nil {
		return err
	}
	if r.memory == 0 {
		r.memory = temp.TotalMemory()
	}
	if c.Corpus == "" {
		c.Corpus = "synthetic"
	}
	if c.CacheDir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache directory: %w (set XDG_CACHE_HOME)", err)
		}
		c.CacheDir = filepath.Join(base, "mailbench")
	}
	if err := r.findGrounds(); err != nil {
		return err
	}
	var err error
	for _, d := range []struct {
		dir  *string
		name string
	}{{&c.IndexDir, "index"}, {&c.Scratch, "scratch"}} {
		if *d.dir == "" {
			*d.dir = filepath.Join(c.CacheDir, d.name)
		}
		if *d.dir, err = fromPWD(*d.dir); err != nil {
			return err
		}
	}
	if err := cmp.Or(r.pickStores(), r.readSlow()); err != nil {
		return err
	}
	return r.pickDesigns()
}

// pickDesigns finds the designs that are measured, with the options they are
// given. It may be called again with other names.
func (r *Runner) pickDesigns() error {
	c := &r.cfg
	if r.known == nil {
		r.known = c.Designs
		if len(r.known) == 0 {
			r.known = designs.All
		}
		r.house = len(c.Designs) == 0
	}
	if c.Names == "" || c.Names == "all" {
		c.Designs = r.known
		if r.house && c.Names == "" {
			c.Designs = defaultDesigns(r.known)
		}
		return r.tune()
	}
	c.Designs = nil
	for name := range strings.SplitSeq(c.Names, ",") {
		d, ok := r.known.Lookup(strings.TrimSpace(name))
		if !ok {
			return fmt.Errorf("-designs %s: no design %q (there are %s)", c.Names, name, strings.Join(r.known.Names(), ", "))
		}
		c.Designs = append(c.Designs, d)
	}
	return r.tune()
}

// defaultDesigns are the house's designs in a run that names none: ours, and
// the one that is nearest to a server people run. All of them would take more
// time than anybody waits for.
func defaultDesigns(known index.Registry) []index.Design {
	names := []string{"column", "linked"}
	if _, ok := known.Lookup("linked"); !ok {
		names[1] = "scan"
	}
	var ds []index.Design
	for _, name := range names {
		if d, ok := known.Lookup(name); ok {
			ds = append(ds, d)
		}
	}
	return ds
}

// fromPWD makes a path absolute, relative to $PWD, and expands a leading ~,
// which a shell leaves alone behind an equals sign.
func fromPWD(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		path = filepath.Join(home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if pwd := os.Getenv("PWD"); filepath.IsAbs(pwd) {
		return filepath.Join(pwd, path), nil
	}
	return filepath.Abs(path)
}
