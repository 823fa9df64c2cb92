package suite

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/temp"
)

// Rough costs of a message on a small machine, for a plan: they promise an
// order of magnitude and nothing more.
const (
	planGenerate = 60 * time.Microsecond
	planHeader   = 4 * time.Microsecond   // open, read, close, warm
	planCold     = 100 * time.Microsecond // the same from the device
	planMemory   = 200 * time.Nanosecond
	planClone    = 80 * time.Microsecond
	planSync     = 5 * time.Millisecond
	planBytes    = 7200 // of a synthetic message
)

// Plan writes what a run of cfg would do: its rows, about how long each
// takes, what is written where, and which rows would be skipped and why. bench
// chooses rows as -bench of go test does, "" all. It makes no corpus, connects
// to no database, and measures nothing.
func Plan(w io.Writer, cfg Config, bench string) error {
	chosen, err := parsePattern(bench)
	if err != nil {
		return err
	}
	r := New(cfg)
	if err := r.check(); err != nil {
		return err
	}
	fit := r.fitPlace("-index-dir", r.cfg.IndexDir)
	for _, g := range r.grounds {
		fit = errors.Join(fit, r.fitPlace("-scratch", g.base))
	}
	if fit != nil {
		return fit
	}
	mail, err := r.planCorpus()
	if err != nil {
		return err
	}
	n := mail.messages
	fmt.Fprintf(w, "corpus: %s\n", mail.what)
	fmt.Fprintf(w, "index files: %s\nmail that is written: %s\n\n", r.cfg.IndexDir, r.cfg.Scratch)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var total time.Duration
	var planned []Row
	rows, skipped, clone, cold := 0, 0, false, false
	own := map[string]corpus.Spec{} // corpora beside the run's, by the rows that have them
	for _, row := range r.Rows() {
		if r.cfg.Rows == "default" && !row.Default || !chosen.matches(row.Name()) {
			continue
		}
		if why := r.planSkip(row, mail); why != "" {
			skipped++
			fmt.Fprintf(tw, "%s\tskipped: %s\n", row.Name(), why)
			continue
		}
		rows++
		planned = append(planned, row)
		sample := row.planSample(n)
		if work := row.work(); work != nil {
			sample += work.slowed(row, r.sluggish)
		}
		took := max(sample*time.Duration(r.cfg.Samples), time.Second) + row.planPast(n) + row.planReady()
		if spec, ok := row.ownSpec(); ok {
			own[row.Bench+" msgs="+row.value("msgs")] = spec
		}
		total += took
		clone = clone || row.clones()
		cold = cold || row.value("mails") == "cold"
		fmt.Fprintf(tw, "%s\tabout %v\n", row.Name(), took.Round(time.Second))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d rows, %d skipped, about %v once the corpus exists\n", rows, skipped, total.Round(time.Second))
	if clone {
		fmt.Fprintf(w, "one clone of the mail is written to %s (%d MB, nothing where the file system can share blocks), about %v\n",
			r.cfg.Scratch, mail.bytes>>20, (time.Duration(n) * planClone).Round(time.Second))
	}
	if r.usesImage() && cold {
		fmt.Fprintf(w, "one copy of the mail is written to a file system in a file below %s (%d MB)\n", r.cfg.Scratch, temp.ImageBytes(n, mail.bytes)>>20)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		spec := own[name]
		fmt.Fprintf(w, "%s runs on %d messages of its own (%d MB below %s, made on first use)\n", name, spec.Count(), spec.DiskBytes("maildir")>>20,
			filepath.Join(r.cfg.CacheDir, "corpus"))
	}
	r.planWrites(w, planned)
	fmt.Fprintln(w, "privileges: none; the rows mails=cold need root, with -drop-caches and with -loop-image")
	return nil
}

// A planned is what a plan knows of the corpus.
type planned struct {
	kind     string // maildir, mbox, message
	dir      string // what it lies on
	messages int
	bytes    int64
	what     string
}

func (r *Runner) planCorpus() (*planned, error) {
	if corpus.IsSpec(r.cfg.Corpus) {
		spec, err := corpus.Parse(r.cfg.Corpus)
		if err != nil {
			return nil, err
		}
		if spec.Count() == 0 {
			return nil, fmt.Errorf("%s: no messages", r.cfg.Corpus)
		}
		m := &planned{kind: "maildir", dir: r.cfg.CacheDir, messages: spec.Count(), bytes: int64(spec.Count()) * planBytes}
		m.what = fmt.Sprintf("%s, %d messages, about %d MB below %s, made on first use in about %v", spec.Name(), m.messages, m.bytes>>20,
			filepath.Join(r.cfg.CacheDir, "corpus"), (time.Duration(m.messages) * planGenerate).Round(time.Second))
		return m, nil
	}
	path, err := fromPWD(r.cfg.Corpus)
	if err != nil {
		return nil, err
	}
	m := &planned{dir: path}
	src, err := source.Open(path, source.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	m.kind = src.Kind()
	set, err := mailFiles(path, m.kind)
	if err != nil {
		return nil, err
	}
	if m.bytes, m.messages = set.Bytes(), set.Len(); m.kind == "mbox" {
		var l index.Listing
		if err := src.List(&l); err != nil {
			return nil, err
		}
		m.messages = len(l.Entries)
	}
	if err := damage(src); err != nil {
		return nil, err
	}
	if m.messages == 0 {
		return nil, fmt.Errorf("%s: no messages", path)
	}
	m.what = fmt.Sprintf("%s (%s), %d messages, %d MB, read only", path, m.kind, m.messages, m.bytes>>20)
	return m, nil
}

func (r *Runner) planSkip(row Row, mail *planned) string {
	if why := row.unfitFor(mail.kind); why != "" {
		return why
	}
	switch row.value("mails") {
	case "cold":
		if r.usesImage() {
			return temp.CanImage(r.cfg.Scratch)
		}
		if !r.cfg.DropCaches {
			return "cold needs -drop-caches or -loop-image"
		}
		if why := temp.CanDrop(); why != "" {
			return why
		}
		return temp.Missing(mail.dir)
	case "nodata":
		return temp.Missing(mail.dir)
	case "warm":
		if spec, ok := row.ownSpec(); ok {
			mail = &planned{bytes: spec.DiskBytes("maildir")}
		}
		if r.memory > 0 && mail.bytes > r.memory/10*8 {
			return fmt.Sprintf("%d MB of mail are more than 80%% of the memory (%d MB)", mail.bytes>>20, r.memory>>20)
		}
	}
	if row.value("index") == indexCold {
		return temp.Missing(r.cfg.IndexDir)
	}
	return ""
}

// ownSpec is the corpus of a row that does not run on the run's.
func (row Row) ownSpec() (corpus.Spec, bool) {
	switch row.Bench {
	case "Grow":
		for _, size := range growSizes {
			if size.name == row.value("msgs") {
				return corpus.Spec{Messages: size.messages, Body: corpus.BodyNone}, true
			}
		}
	case "Many":
		return corpus.Spec{Messages: row.manyScale().pool, Body: corpus.BodyNone}, true
	}
	return corpus.Spec{}, false
}

func (row Row) manyScale() manyScale {
	if row.value("shape") == manyLarge.shape {
		return manyLarge
	}
	return manySmall
}

// planReady is what a row does before its samples that others do not: indexes
// of many mailboxes (of which the rows of a design share one set), or one of a
// large one.
func (row Row) planReady() time.Duration {
	switch row.Bench {
	case "Many":
		return time.Duration(row.manyScale().boxes) * planSync / 4
	case "Grow":
		spec, _ := row.ownSpec()
		return time.Duration(spec.Count()) * planHeader
	}
	return 0
}

func (row Row) planSample(n int) time.Duration {
	if w := row.work(); w != nil {
		return w.sample()
	}
	if row.Bench == "Fetch" {
		return row.planFetch(n)
	}
	if spec, ok := row.ownSpec(); ok {
		n = spec.Count()
	}
	if row.value("op") == "sweep" {
		return sweepRounds * (5*planSync + time.Duration(n)*planMemory)
	}
	d := time.Duration(n)
	reads := row.Bench == "ThreadFirst" || row.value("op") == "thread-first" || row.value("op") == "headers" || row.value("design") == "scan" && row.Bench != "SelectFirst" && row.Bench != "SelectAgain" && row.Bench != "Resync"
	switch {
	case reads && row.value("mails") != "warm":
		return d * planCold
	case reads:
		return d * planHeader
	}
	return d * planMemory
}
