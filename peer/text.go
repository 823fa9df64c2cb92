package peer

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// textWidth is how wide a table for a terminal may be: with more columns than
// fit it is continued below.
const textWidth = 120

// WriteText writes the tables for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.head() {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Name)
	}
	for _, t := range r.tables() {
		if len(t.rows) > 0 {
			fmt.Fprintf(&b, "\n%s\n", t.title)
			t.text(&b, names)
			fmt.Fprintf(&b, "  %s\n", t.note)
		}
	}
	if foot := r.foot(); len(foot) > 0 {
		b.WriteString("\n")
		for _, line := range foot {
			fmt.Fprintf(&b, "# %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes the rows, as many columns beside each other as there is room for.
func (t *table) text(b *strings.Builder, names []string) {
	first := 0
	for _, row := range t.rows {
		first = max(first, utf8.RuneCountInString(row.name))
	}
	widths := make([]int, len(names))
	for i, name := range names {
		widths[i] = utf8.RuneCountInString(name)
		for _, row := range t.rows {
			for part := range strings.SplitSeq(row.cells[i], "\n") {
				widths[i] = max(widths[i], utf8.RuneCountInString(part))
			}
		}
	}
	const gap = 2
	for from := 0; from < len(names); {
		to, width := from, first
		for to < len(names) && (to == from || width+gap+widths[to] <= textWidth) {
			width += gap + widths[to]
			to++
		}
		if from > 0 {
			b.WriteString("\n")
		}
		line := func(name string, cells []string) {
			text := fmt.Sprintf("%-*s", first, name)
			for i, cell := range cells {
				text += fmt.Sprintf("%*s", gap+widths[from+i], cell)
			}
			b.WriteString(strings.TrimRight(text, " ") + "\n")
		}
		line("", names[from:to])
		for _, row := range t.rows {
			above, below := make([]string, to-from), make([]string, to-from)
			two := false
			for i, cell := range row.cells[from:to] {
				above[i], below[i], _ = strings.Cut(cell, "\n")
				two = two || below[i] != ""
			}
			line(row.name, above)
			if two {
				line("", below)
			}
		}
		from = to
	}
}
