package suite

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"mailbench/corpus"
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
)

// Plan writes what a run of cfg would do: its rows, about how long each
// takes, what is written where, and which rows would be skipped and why. It
// makes no corpus and measures nothing.
func Plan(w io.Writer, cfg Config) error {
	r := New(cfg)
	if err := r.check(); err != nil {
		return err
	}
	n, bytes, what, err := r.planCorpus()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "corpus: %s\n", what)
	fmt.Fprintf(w, "index files: %s\nmail that is written: %s\n\n", r.cfg.IndexDir, r.cfg.Scratch)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var total time.Duration
	rows, skipped, clone := 0, 0, false
	for _, row := range r.Rows() {
		if r.cfg.Rows == "default" && !row.Default {
			continue
		}
		if why := r.planSkip(row); why != "" {
			skipped++
			fmt.Fprintf(tw, "%s\tskipped: %s\n", row.Name(), why)
			continue
		}
		rows++
		took := max(row.planSample(n)*time.Duration(r.cfg.Samples), time.Second)
		total += took
		clone = clone || row.clones()
		fmt.Fprintf(tw, "%s\tabout %v\n", row.Name(), took.Round(time.Second))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d rows, %d skipped, about %v once the corpus exists\n", rows, skipped, total.Round(time.Second))
	if clone {
		fmt.Fprintf(w, "one clone of the mail is written to %s (%d MB, nothing where the file system can share blocks), about %v\n",
			r.cfg.Scratch, bytes>>20, (time.Duration(n) * planClone).Round(time.Second))
	}
	fmt.Fprintln(w, "privileges: none; with -drop-caches the rows mails=cold need root")
	return nil
}

func (r *Runner) planCorpus() (n int, bytes int64, what string, err error) {
	if corpus.IsSpec(r.cfg.Corpus) {
		spec, err := corpus.Parse(r.cfg.Corpus)
		if err != nil {
			return 0, 0, "", err
		}
		n = spec.Count()
		bytes = int64(n) * 7200
		return n, bytes, fmt.Sprintf("%s, %d messages, about %d MB below %s, made on first use in about %v", spec.Name(), n, bytes>>20,
			filepath.Join(r.cfg.CacheDir, "corpus"), (time.Duration(n) * planGenerate).Round(time.Second)), nil
	}
	path, err := fromPWD(r.cfg.Corpus)
	if err != nil {
		return 0, 0, "", err
	}
	set, err := temp.Files(path)
	if err != nil {
		return 0, 0, "", err
	}
	return set.Len(), set.Bytes(), fmt.Sprintf("%s, %d files, %d MB, read only", path, set.Len(), set.Bytes()>>20), nil
}

func (row Row) value(key string) string {
	for _, p := range row.Params {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// clones reports whether the row needs a mailbox that it may change.
func (row Row) clones() bool {
	return row.Bench == "Resync" || row.Bench == "Compact" || row.value("delta") != "" && row.value("delta") != "none"
}

func (r *Runner) planSkip(row Row) string {
	dir := r.cfg.CacheDir
	if !corpus.IsSpec(r.cfg.Corpus) {
		dir = r.cfg.Corpus
	}
	switch row.value("mails") {
	case "cold":
		if !r.cfg.DropCaches {
			return "cold needs -drop-caches"
		}
		if why := temp.CanDrop(); why != "" {
			return why
		}
		return temp.Missing(dir)
	case "nodata":
		return temp.Missing(dir)
	}
	if row.value("index") == indexCold {
		return temp.Missing(r.cfg.IndexDir)
	}
	return ""
}

func (row Row) planSample(n int) time.Duration {
	d := time.Duration(n)
	reads := row.Bench == "ThreadFirst" || row.value("op") == "headers" || row.value("design") == "scan" && row.Bench != "SelectFirst" && row.Bench != "SelectAgain" && row.Bench != "Resync"
	switch {
	case reads && row.value("mails") != "warm":
		return d * planCold
	case reads:
		return d * planHeader
	}
	return d * planMemory
}
