package peer

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// AppendSchema is the version of an AppendReport's JSON.
const AppendSchema = "mailbench-append/1"

// AppendReport is what appending cost.
type AppendReport struct {
	Schema   string                 `json:"schema"`
	Messages int                    `json:"messages_per_client"`
	Bytes    int                    `json:"message_bytes"`
	Rounds   int                    `json:"rounds"`
	Selected bool                   `json:"selected"` // the clients had the mailbox selected
	Rows     []*AppendRow           `json:"rows"`
	Systems  map[string]Description `json:"systems"`
	Skipped  []string               `json:"skipped,omitempty"`
}

// AppendRow is one system with one promise and one number of clients.
type AppendRow struct {
	System  string         `json:"system"`
	Against string         `json:"against,omitempty"` // the system that its ratio is to
	Driver  string         `json:"driver,omitempty"`  // "" = ours; "imaptest append", "imaptest mix"
	Fsync   string         `json:"fsync"`             // in Dovecot's words
	Clients int            `json:"clients"`
	Samples []AppendSample `json:"samples"` // one a round
}

// AppendSample is one round of a row.
type AppendSample struct {
	Messages int           `json:"messages"`      // appended; with imaptest mix, commands done
	Wall     time.Duration `json:"wall_ns"`       // from the first APPEND to the last OK
	CPU      time.Duration `json:"cpu_ns"`        // of all processes of the server
	Written  int64         `json:"written_bytes"` // by them, to files
	P50      time.Duration `json:"p50_ns"`        // of one APPEND
	P99      time.Duration `json:"p99_ns"`
}

func (r *AppendReport) describe(system string, d Description) {
	if r.Systems == nil {
		r.Systems = map[string]Description{}
	}
	r.Systems[system] = d
}

// Rate is the messages per second of each round, ascending.
func (r *AppendReport) Rate(row *AppendRow) []float64 {
	return sorted(row.Samples, func(s AppendSample) float64 { return float64(s.Messages) / s.Wall.Seconds() })
}

func sorted(samples []AppendSample, of func(AppendSample) float64) []float64 {
	list := make([]float64, len(samples))
	for i, s := range samples {
		list[i] = of(s)
	}
	slices.Sort(list)
	return list
}

// Ratio is the median rate of a row divided by that of the row of its Against
// with the same promise and clients, 0 without one.
func (r *AppendReport) Ratio(row *AppendRow) float64 {
	for _, other := range r.Rows {
		if other.System == row.Against && other.Driver == row.Driver && other.Fsync == row.Fsync && other.Clients == row.Clients && len(other.Samples) > 0 && len(row.Samples) > 0 {
			return middle(r.Rate(row)) / middle(r.Rate(other))
		}
	}
	return 0
}

// middle is the median of an ascending list: of two in the middle their mean.
func middle(list []float64) float64 {
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

var appendHead = []string{"system", "fsync", "clients", "messages/s", "min..max", "ratio", "cpu-us/msg", "written-B/msg", "p50-ms", "p99-ms"}

// cells are the figures of a row.
func (r *AppendReport) cells(row *AppendRow) []string {
	cells := []string{strings.TrimSpace(row.System + " " + row.Driver), row.Fsync, fmt.Sprint(row.Clients)}
	if len(row.Samples) == 0 {
		return append(cells, "-", "-", "-", "-", "-", "-", "-")
	}
	of := func(f func(AppendSample) float64) float64 { return middle(sorted(row.Samples, f)) }
	rate := r.Rate(row)
	ratio := "-"
	if x := r.Ratio(row); x > 0 {
		ratio = fmt.Sprintf("%.2fx", x)
	}
	return append(cells,
		fmt.Sprintf("%.0f", middle(rate)),
		fmt.Sprintf("%.0f..%.0f", rate[0], rate[len(rate)-1]),
		ratio,
		fmt.Sprintf("%.0f", of(func(s AppendSample) float64 { return float64(s.CPU.Nanoseconds()) / 1e3 / float64(s.Messages) })),
		fmt.Sprintf("%.0f", of(func(s AppendSample) float64 { return float64(s.Written) / float64(s.Messages) })),
		milliseconds(of(func(s AppendSample) float64 { return s.P50.Seconds() })),
		milliseconds(of(func(s AppendSample) float64 { return s.P99.Seconds() })))
}

// milliseconds formats seconds, of which 0 are not known.
func milliseconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s*1e3)
}

// notes are what the reader of the table must know.
func (r *AppendReport) notes() []string {
	session := "no mailbox is selected"
	if r.Selected {
		session = "it is selected, so that each session hears of the messages of all"
	}
	notes := []string{
		fmt.Sprintf("each client appends %d messages of %d bytes to INBOX, one after the other, all clients at once; %s; medians of %d rounds, interleaved", r.Messages, r.Bytes, session, r.Rounds),
		"ratio: messages/s to those of Dovecot with the same format, promise and clients; cpu: all processes of the server; written: bytes that they made dirty in files",
		"optimized: a message is on disk before its OK (Dovecot's mail_fsync=optimized; ours, -fsync group, its index row too); always: each file by itself; never: the kernel decides",
		"Dovecot has a process for each client, ours is one process; after each round every message was read back in a new session and compared",
	}
	for _, row := range r.Rows {
		if row.Driver != "" {
			notes = append(notes, "imaptest: through a relay on 127.0.0.1 in this process, for the rows of that name only; append: messages in the mailbox afterwards, mix: commands/s; cpu and written with start and end of each session")
			break
		}
	}
	for _, s := range r.Skipped {
		notes = append(notes, "skipped "+s)
	}
	return notes
}

// versions are the systems with their versions and configurations, in the
// order of the rows.
func (r *AppendReport) versions() (list []string) {
	for _, row := range r.Rows {
		d, ok := r.Systems[row.System]
		line := row.System
		if d.Version != "" {
			line += " " + d.Version
		} else if d.Config != "" {
			line += ": " + d.Config
		}
		if ok && !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

// WriteText writes the table for a terminal.
func (r *AppendReport) WriteText(w io.Writer) error {
	for _, line := range append(r.versions(), r.notes()...) {
		if _, err := fmt.Fprintf(w, "# %s\n", line); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(appendHead, "\t")+"\t")
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(r.cells(row), "\t")+"\t")
	}
	return t.Flush()
}

// WriteMarkdown writes the table for a page.
func (r *AppendReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(appendHead, " | "), " --- |"+strings.Repeat(" ---: |", len(appendHead)-1))
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.cells(row), " | "))
	}
	b.WriteString("\n")
	for _, line := range append(r.versions(), r.notes()...) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes every sample.
func (r *AppendReport) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
