package peer

import (
	"fmt"
	"io"
	"strings"
)

// WriteText prints the verdict, a line per question and below it what there is
// to say of a difference.
func (v *Verdict) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d messages, the same UIDs, sizes and dates\n", strings.TrimSpace(v.System+" "+v.Version), v.Messages)
	count := map[string]int{}
	for _, c := range v.Questions {
		count[c.Result]++
		b.WriteString(c.String() + "\n")
		for _, s := range c.Sections {
			fmt.Fprintf(&b, "  docs/DIFFERENCES.md: %s\n", s)
		}
		if len(c.UIDs) > 0 {
			const most = 20
			fmt.Fprintf(&b, "  read differently: %s\n", listUIDs(c.UIDs, most))
		}
		if c.First != "" {
			fmt.Fprintf(&b, "  %s\n", c.First)
		}
		for _, e := range c.Explained {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	var parts []string
	for _, r := range []string{Same, Known, Differs, NotAsked} {
		if count[r] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[r], r))
		}
	}
	fmt.Fprintf(&b, "%d questions: %s\n", len(v.Questions), strings.Join(parts, ", "))
	_, err := io.WriteString(w, b.String())
	return err
}

func listUIDs(uids []uint32, most int) string {
	s := "UIDs"
	if len(uids) == 1 {
		s = "UID"
	}
	for _, uid := range uids[:min(len(uids), most)] {
		s += fmt.Sprintf(" %d", uid)
	}
	if len(uids) > most {
		s += fmt.Sprintf(" and %d more", len(uids)-most)
	}
	return s
}
