package suite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A metric is one of a row's own.
type metric struct {
	unit  string
	value float64
}

// filePart is the unit of what one file of an index holds for each message.
const filePart = "-B/msg"

var digitRun = regexp.MustCompile(`[0-9]+`)

// fileBytes sums the bytes of each file below dir. Files whose names differ in
// their numbers alone are one: an engine counts its files.
func fileBytes(dir string) (map[string]int64, error) {
	sum := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := strings.Map(func(c rune) rune {
			if c <= ' ' || c == '/' || c == '\\' || c == '"' {
				return '_'
			}
			return c
		}, digitRun.ReplaceAllString(filepath.ToSlash(rel), "N"))
		sum[name] += info.Size()
		return nil
	})
	return sum, err
}

// reportFiles splits index-B/msg: one metric for each file of the index
// directory, by the suite's own walk.
func (r *Runner) reportFiles(b *testing.B, j *job) {
	files, err := fileBytes(j.dir)
	if err != nil {
		b.Error(err)
	}
	for name, n := range files {
		unit := name + filePart
		b.ReportMetric(float64(n)/float64(j.messages), unit)
		if !slices.Contains(r.fileUnits, unit) {
			r.fileUnits = append(r.fileUnits, unit)
		}
	}
}

// unitNotes are the Unit lines of metrics that are known only after the rows.
func (r *Runner) unitNotes() {
	slices.Sort(r.fileUnits)
	for _, unit := range r.fileUnits {
		fmt.Printf("Unit %s better=lower\n", unit)
	}
}
