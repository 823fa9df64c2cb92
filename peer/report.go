package peer

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"mailbench/internal/temp"
)

// Schema is the version of a Report's JSON.
const Schema = "mailbench-peers/1"

// A Report is what Measure found, with every sample.
type Report struct {
	Schema   string    `json:"schema"`
	Command  []string  `json:"command"`
	Begun    time.Time `json:"begun"`
	Corpus   string    `json:"corpus"`
	Messages int       `json:"messages"`
	Mails    string    `json:"mails"` // their temperature, and that of the index files
	Rounds   int       `json:"rounds"`
	Machine  string    `json:"machine"`
	Place    string    `json:"file_system"`
	Columns  []*Column `json:"columns"`
	Missing  []string  `json:"missing,omitempty"` // systems that are not there, and how to install them
}

// A Column is one system.
type Column struct {
	Name        string           `json:"name"`
	Ours        bool             `json:"ours,omitempty"` // a design of ours, which reads mail as Dovecot does
	Description Description      `json:"description"`
	Cells       map[Op]*Cell     `json:"cells"`
	Sizes       map[string]int64 `json:"sizes,omitempty"` // bytes by class of file, after the last sort
	Failed      string           `json:"failed,omitempty"`
}

// A Cell is one operation of one system.
type Cell struct {
	Samples []Sample `json:"samples,omitempty"` // one a round, in order
	Asks    string   `json:"asks,omitempty"`    // Task.Answer
	Note    string   `json:"note,omitempty"`
	Whole   bool     `json:"whole,omitempty"`   // of a process that is not spoken to: its start and end are in all figures
	Skipped string   `json:"skipped,omitempty"` // why there are fewer samples than rounds
	Missed  string   `json:"missed,omitempty"`  // the same in a word or two: failed, timed out, not warm
}

func newReport(o *Options) *Report {
	return &Report{
		Schema: Schema, Command: os.Args, Begun: time.Now().UTC().Truncate(time.Second), Corpus: o.Name, Messages: o.Messages,
		Mails: o.Temper.String(), Rounds: o.Count,
		Machine: fmt.Sprintf("%s/%s, %d processors, %.1f GB of memory, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), float64(temp.TotalMemory())/1e9, kernel()),
		Place:   hostOf(o.Dir.Path),
	}
}

func (r *Report) column(name string) *Column {
	c := &Column{Name: name, Cells: map[Op]*Cell{}}
	r.Columns = append(r.Columns, c)
	return c
}

func (c *Column) cell(op Op) *Cell {
	if c.Cells[op] == nil {
		c.Cells[op] = &Cell{}
	}
	return c.Cells[op]
}

// took notes the sizes of the files after the operations that fill them.
func (c *Column) took(op Op, inst Instance) {
	if op == OpCompact || op == OpNoop {
		return
	}
	files, err := inst.Files()
	if err != nil {
		return
	}
	c.Sizes = map[string]int64{}
	for _, f := range files {
		c.Sizes[f.Class] += f.Size
	}
}

// Median and spread of what f gives for each sample; ok false without samples.
func (c *Cell) spread(f func(Sample) float64) (median, low, high float64, ok bool) {
	if c == nil || len(c.Samples) == 0 {
		return 0, 0, 0, false
	}
	list := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		list[i] = f(s)
	}
	slices.Sort(list)
	return middle(list), list[0], list[len(list)-1], true
}

// answer is the digest of a cell's answers, when they are all the same.
func (c *Cell) answer() (uint64, bool) {
	if c == nil || c.Asks == "" || len(c.Samples) == 0 {
		return 0, false
	}
	for _, s := range c.Samples {
		if s.Digest != c.Samples[0].Digest {
			return 0, false
		}
	}
	return c.Samples[0].Digest, true
}

// Unsteady are the systems that did not answer the same question alike each
// time: "column: thread-again".
func (r *Report) Unsteady() (list []string) {
	for _, c := range r.Columns {
		for _, op := range Ops {
			if cell := c.Cells[op]; cell != nil && cell.Asks != "" && len(cell.Samples) > 0 {
				if _, same := cell.answer(); !same {
					list = append(list, c.Name+": "+string(op))
				}
			}
		}
	}
	return list
}

// Against compares the answers of a column's operation with those of the first
// column that gave one to the same question.
func (r *Report) Against(c *Column, op Op) (other string, same, ok bool) {
	mine, ok := c.Cells[op].answer()
	if !ok {
		return "", false, false
	}
	for _, first := range r.Columns {
		for _, o := range Ops {
			cell := first.Cells[o]
			if cell == nil || cell.Asks != c.Cells[op].Asks {
				continue
			}
			if theirs, ok := cell.answer(); ok {
				// Of no messages some say "THREAD", some "THREAD ".
				return first.Name, theirs == mine || r.Messages == 0, first != c
			}
		}
	}
	return "", false, false
}

// Wrong are the answers of ours that are not those of the first column that was
// asked the same, where that is a Dovecot: read in the same way they have to be
// equal. "column: thread-again: not the answer of dovecot".
func (r *Report) Wrong() (list []string) {
	for _, c := range r.Columns {
		if !c.Ours {
			continue
		}
		for _, op := range Ops {
			if other, same, ok := r.Against(c, op); ok && !same && strings.HasPrefix(other, "dovecot") {
				list = append(list, fmt.Sprintf("%s: %s: not the answer of %s", c.Name, op, other))
			}
		}
	}
	return list
}

// WriteJSON writes all of it.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
