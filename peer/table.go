package peer

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mailbench/internal/temp"
)

// A table is a part of the report: a row for each operation or class of file, a
// column for each system.
type table struct {
	title string
	note  string
	rows  []tableRow
}

type tableRow struct {
	name  string
	cells []string
}

// rowNames are the operations in the words of the 2003 post.
var rowNames = map[Op]string{
	OpNoop: "NOOP", OpSelectFirst: "first select", OpSelectAgain: "second select", OpResync: "resync of cur/",
	OpThreadFirst: "THREAD REFERENCES, first", OpThreadAgain: "THREAD REFERENCES, again",
	OpSortDateFirst: "SORT (DATE), first", OpSortDateAgain: "SORT (DATE), again",
	OpSortSubjectFirst: "SORT (SUBJECT), first", OpSortSubjectAgain: "SORT (SUBJECT), again", OpCompact: "compaction",
}

// tables are all parts of the report.
func (r *Report) tables() []table {
	return []table{
		r.operations("wall clock of the command, and its multiple of "+r.first()+"'s",
			"median of the rounds, below it the least and the most; of a process that is not spoken to, all of it; *: see below",
			func(c *Cell) string { return r.timed(c, func(s Sample) float64 { return s.Wall.Seconds() }) },
			func(s Sample) float64 { return s.Wall.Seconds() }),
		r.operations("CPU of the command, and its multiple of "+r.first()+"'s",
			"user and system time of the server's process from before the command is sent to its tagged OK",
			func(c *Cell) string { return r.timed(c, func(s Sample) float64 { return s.CPU.Seconds() }) },
			func(s Sample) float64 { return s.CPU.Seconds() }),
		r.operations("the whole process: wall clock, user + system time", "start, SELECT where it is not the command, the command, LOGOUT, end (wait4)",
			func(c *Cell) string {
				wall, _, _, ok := c.spread(func(s Sample) float64 { return s.Process.Wall.Seconds() })
				if !ok {
					return ""
				}
				user, _, _, _ := c.spread(func(s Sample) float64 { return s.Process.User.Seconds() })
				sys, _, _, _ := c.spread(func(s Sample) float64 { return s.Process.Sys.Seconds() })
				return fmt.Sprintf("%s\n%s+%s", seconds(wall), seconds(user), seconds(sys))
			}, nil),
		r.operations("peak memory of the process, MB: anonymous + file-backed", "sampled every 2 ms: of a process that lives a few ms little is seen; mapped files count as far as they are in memory",
			func(c *Cell) string {
				anon, _, _, ok := c.spread(func(s Sample) float64 { return float64(s.Process.PeakAnon) })
				file, _, _, _ := c.spread(func(s Sample) float64 { return float64(s.Process.PeakFile) })
				if !ok || anon+file == 0 {
					return ""
				}
				return fmt.Sprintf("%s+%s", megabytes(anon), megabytes(file))
			}, nil),
		r.operations("bytes from + to the device, MB", "read(2) of what is in the page cache is not in it; written: made dirty",
			func(c *Cell) string {
				in, _, _, ok := c.spread(func(s Sample) float64 { return float64(s.Process.Read) })
				out, _, _, _ := c.spread(func(s Sample) float64 { return float64(s.Process.Written) })
				if !ok {
					return ""
				}
				return fmt.Sprintf("%s+%s", megabytes(in), megabytes(out))
			}, nil),
		r.answers(), r.sizes(),
	}
}

// proven says when the temperature was.
func (r *Report) proven() string {
	switch r.Mails {
	case temp.NoData.String():
		return "before"
	case temp.Cold.String():
		return "after"
	}
	return "before and after"
}

// first is the name of the column that ratios are to.
func (r *Report) first() string {
	if len(r.Columns) == 0 {
		return "nobody"
	}
	return r.Columns[0].Name
}

// timed is a median and, below it, the least and the most.
func (r *Report) timed(c *Cell, f func(Sample) float64) string {
	med, low, high, ok := c.spread(f)
	if !ok {
		return ""
	}
	if len(c.Samples) == 1 || med == 0 {
		return seconds(med)
	}
	return fmt.Sprintf("%s\n%s..%s", seconds(med), seconds(low), seconds(high))
}

// operations is a table with a row for each operation that somebody has; of
// makes a cell, and ratio, if it is not nil, the figure whose multiple of the
// first column's is shown.
func (r *Report) operations(title, note string, of func(*Cell) string, ratio func(Sample) float64) table {
	t := table{title: title, note: note}
	for _, op := range Ops {
		row := tableRow{name: rowNames[op]}
		if op == OpNoop && ratio == nil {
			row.name = "start, " + row.name // of a whole process
		}
		any := false
		for i, c := range r.Columns {
			cell := c.Cells[op]
			text := ""
			switch {
			case cell == nil:
			case len(cell.Samples) == 0:
				text, any = cell.Missed, true
			default:
				text, any = of(cell), true
				if (cell.Note != "" || cell.Whole) && ratio != nil {
					median, spread, two := strings.Cut(text, "\n")
					text = median + "*"
					if two {
						text += "\n" + spread
					}
				}
				if ratio != nil && i > 0 {
					mine, _, _, _ := cell.spread(ratio)
					// A command is not held against a process with its start and end.
					if theirs, _, _, ok := r.Columns[0].Cells[op].spread(ratio); ok && theirs > 0 && r.Columns[0].Cells[op].Whole == cell.Whole {
						median, spread, two := strings.Cut(text, "\n")
						text = fmt.Sprintf("%s %sx", median, multiple(mine/theirs))
						if two {
							text += "\n" + spread
						}
					}
				}
			}
			if text == "" {
				text = "-"
			}
			row.cells = append(row.cells, text)
		}
		if any {
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// answers says whose answers are whose.
func (r *Report) answers() table {
	t := table{title: "answers", note: "to the last byte, against the first column that was asked the same (this); where they differ, mailbench verify says which messages and why"}
	for _, op := range []Op{OpThreadFirst, OpThreadAgain, OpSortDateFirst, OpSortDateAgain, OpSortSubjectFirst, OpSortSubjectAgain} {
		row := tableRow{name: rowNames[op]}
		any := false
		for _, c := range r.Columns {
			text := "-"
			if cell := c.Cells[op]; cell != nil && cell.Asks != "" && len(cell.Samples) > 0 {
				any = true
				other, same, ok := r.Against(c, op)
				_, steady := cell.answer()
				switch {
				case !steady:
					text = "CHANGES"
				case !ok:
					text = "this"
				case same:
					text = "same"
				case c.Ours && strings.HasPrefix(other, "dovecot"):
					text = "WRONG"
				default:
					text = "differs"
				}
			}
			row.cells = append(row.cells, text)
		}
		if any {
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// sizes has a row for each class of file.
func (r *Report) sizes() table {
	t := table{title: "files beside the mail, MB (bytes a message)", note: "after the last operation before compaction"}
	var classes []string
	for _, c := range r.Columns {
		for class := range c.Sizes {
			classes = append(classes, class)
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	size := func(n int64) string {
		if n == 0 {
			return "-"
		}
		text := megabytes(float64(n))
		if r.Messages > 0 {
			text += fmt.Sprintf(" (%.1f)", float64(n)/float64(r.Messages))
		}
		return text
	}
	for _, class := range classes {
		row := tableRow{name: class}
		for _, c := range r.Columns {
			row.cells = append(row.cells, size(c.Sizes[class]))
		}
		t.rows = append(t.rows, row)
	}
	if len(classes) > 0 {
		row := tableRow{name: "together"}
		for _, c := range r.Columns {
			var n int64
			for _, size := range c.Sizes {
				n += size
			}
			row.cells = append(row.cells, size(n))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// seconds shows a time with three digits at most.
func seconds(s float64) string {
	unit := "s"
	switch {
	case s == 0:
		return "0"
	case s < 1e-3:
		s, unit = s*1e6, "us"
	case s < 1:
		s, unit = s*1e3, "ms"
	}
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f%s", s, unit)
	case s >= 10:
		return fmt.Sprintf("%.1f%s", s, unit)
	}
	return fmt.Sprintf("%.2f%s", s, unit)
}

func multiple(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func megabytes(n float64) string {
	if n > 0 && n < 95e3 {
		return fmt.Sprintf("%.3f", n/1e6)
	}
	return fmt.Sprintf("%.1f", n/1e6)
}

// head says what was measured and where.
func (r *Report) head() []string {
	list := []string{
		fmt.Sprintf("%s: %d messages; mails and indexes %s, proven %s each operation; %d rounds, each from no index, systems in turn", r.Corpus, r.Messages, r.Mails, r.proven(), r.Rounds),
		fmt.Sprintf("%s; %s; %s", r.Machine, r.Place, r.Begun.Format(time.DateOnly)),
		strings.Join(r.Command, " "),
	}
	for _, c := range r.Columns {
		line := strings.TrimSpace(c.Name + " " + c.Description.Version)
		if c.Description.Cached != "" {
			line += "; caches " + c.Description.Cached
		}
		list = append(list, line)
	}
	return list
}

// foot is what the reader must know besides.
func (r *Report) foot() (list []string) {
	for _, c := range r.Columns {
		for _, note := range c.Description.Notes {
			list = append(list, c.Name+": "+note)
		}
		for _, op := range Ops {
			cell := c.Cells[op]
			if cell == nil {
				continue
			}
			if cell.Note != "" {
				list = append(list, fmt.Sprintf("* %s, %s: %s", c.Name, rowNames[op], cell.Note))
			}
			if cell.Skipped != "" {
				list = append(list, fmt.Sprintf("skipped %s, %s: %s", c.Name, rowNames[op], cell.Skipped))
			}
			for i, s := range cell.Samples {
				if s.Doubt != "" {
					list = append(list, fmt.Sprintf("doubtful %s, %s, round %d: %s", c.Name, rowNames[op], i+1, s.Doubt))
				}
			}
		}
		if c.Failed != "" {
			list = append(list, fmt.Sprintf("failed %s: %s", c.Name, c.Failed))
		}
	}
	for _, what := range r.Unsteady() {
		list = append(list, "WRONG "+what+": the answer is another one each time")
	}
	for _, what := range r.Wrong() {
		list = append(list, "WRONG "+what)
	}
	for _, what := range r.Missing {
		list = append(list, "not here: "+what)
	}
	return list
}

// WriteMarkdown writes the tables for a page, with the configurations.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.head() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, t := range r.tables() {
		if len(t.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%s):\n\n| |", t.title, t.note)
		for _, c := range r.Columns {
			fmt.Fprintf(&b, " %s |", c.Name)
		}
		fmt.Fprintf(&b, "\n| --- |%s\n", strings.Repeat(" ---: |", len(r.Columns)))
		for _, row := range t.rows {
			fmt.Fprintf(&b, "| %s | %s |\n", row.name, strings.ReplaceAll(strings.Join(row.cells, " | "), "\n", "<br>"))
		}
	}
	if foot := r.foot(); len(foot) > 0 {
		fmt.Fprintf(&b, "\n")
		for _, line := range foot {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(line, "|", "\\|"))
		}
	}
	for _, c := range r.Columns {
		if c.Description.Config != "" {
			fmt.Fprintf(&b, "\nConfiguration of %s:\n\n```\n%s\n```\n", c.Name, strings.TrimSpace(c.Description.Config))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
