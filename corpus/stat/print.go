package stat

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"mailbench/index"
)

// Describe prints the statistics of src as a table.
func Describe(w io.Writer, src index.Source) error {
	s, err := Read(src)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s %s\n\n", src.Kind(), src.Path()); err != nil {
		return err
	}
	return s.Print(w)
}

// Print writes the table: lengths in octets as stored, shares in percent of the
// messages where not said otherwise.
func (s *Stats) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	p := func(format string, args ...any) { fmt.Fprintf(t, format+"\t\n", args...) } // t remembers its error
	p("messages\t%d", s.Messages)
	p("bytes\t%d", s.Bytes)
	if s.Skipped > 0 {
		p("skipped\t%d", s.Skipped)
	}
	p("\tmean\tp10\tmedian\tp90\tp99\tlargest\tnumber")
	for _, row := range []struct {
		name string
		c    Curve
	}{
		{"message", s.Size}, {"header block", s.Header}, {"body", s.Body}, {"Subject field", s.Subject}, {"To field", s.To},
		{"Cc field", s.Cc}, {"References field", s.References}, {"ids named", s.Refs},
		{"messages of a thread", s.ThreadSize}, {"levels of a thread", s.Depth},
	} {
		p("%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d", row.name, row.c.Mean, row.c.P10, row.c.P50, row.c.P90, row.c.P99, row.c.Max, row.c.N)
	}
	p("")
	for _, row := range []struct {
		name  string
		share float64
	}{
		{"header over 4 KiB", s.Over4K}, {"header over 8 KiB", s.Over8K},
		{"with To", s.HasTo}, {"with Cc", s.HasCc}, {"with Subject", s.HasSubject}, {"with Date", s.HasDate},
		{"Date that cannot be used", s.BadDate}, {"with a valid Message-ID", s.HasID},
		{"with References", s.HasReferences}, {"with In-Reply-To", s.HasInReplyTo},
		{"References without an id", s.HollowReferences}, {"In-Reply-To without an id", s.ProseInReplyTo},
		{"repeated Message-ID", s.DuplicateID},
		{"absent, of the parents named", s.AbsentParent}, {"before the parent, of those whose parent is there", s.EarlyChild},
		{"single, of the threads", s.Single},
		{"reply or forward by the subject", s.Reply}, {"encoded subject", s.EncodedSubject},
		{"raw 8-bit header", s.Raw8Bit}, {"NUL", s.NUL}, {"bare CR", s.BareCR}, {"header line without a colon", s.NoColon},
		{"a field twice", s.DuplicateField}, {"a body line beginning with From", s.FromLine},
		{"size in the name (S=)", s.SizeHint}, {"in new/", s.New},
	} {
		p("%s\t%.2f%%", row.name, 100*row.share)
	}
	p("threads\t%d", s.Threads)
	p("")
	for i, f := range s.Fields {
		if i == 40 {
			break
		}
		p("%s:\t%.1f%%", f.Name, 100*f.Share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var flags []string
	for _, f := range s.Flags {
		name := f.Name
		if name == "" {
			name = "none"
		}
		flags = append(flags, fmt.Sprintf("%s %.1f%%", name, 100*f.Share))
	}
	_, err := fmt.Fprintf(w, "\nflags: %s\n", strings.Join(flags, ", "))
	return err
}
