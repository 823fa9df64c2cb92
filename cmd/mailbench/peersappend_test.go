//go:build linux

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mailbench/peer"
	"mailbench/peer/proc"
)

// TestMeasureAppend_ours appends through mailbench session, in every format and
// with every promise; MeasureAppend reads back what it has appended.
func TestMeasureAppend_ours(t *testing.T) {
	user, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	for _, unselected := range []bool{false, true} {
		o := peer.AppendOptions{
			Clients: []int{1, 3}, Messages: 4, Count: 1, Fsync: []string{"optimized", "always", "never"}, Designs: []string{"column", "linked"},
			Unselected: unselected, User: user, Env: []string{asCommand + "=1"},
		}
		if unselected {
			o.Formats, o.Designs, o.Fsync = []string{"mdbox"}, []string{"column"}, []string{"never"}
		}
		o.Dovecot.Binary = "/nowhere/imap" // not what is tested here
		r, err := peer.MeasureAppend(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * 2 * 3 * 3
		if unselected {
			want = 2
		}
		if len(r.Rows) != want {
			t.Errorf("%d rows, not %d", len(r.Rows), want)
		}
		for _, row := range r.Rows {
			s := row.Samples[0]
			if s.Messages != 4*row.Clients || s.Wall <= 0 || s.CPU <= 0 || s.Written < int64(s.Messages)*3000 {
				t.Errorf("%s %s %d: %+v", row.System, row.Fsync, row.Clients, s)
			}
		}
		if d := r.Systems["column-mdbox"]; !strings.Contains(d.Config, "-store mdbox") {
			t.Errorf("described as %+v", d)
		}
	}
}

// TestPeersAppend_refuses holds that wrong flags are one clear error.
func TestPeersAppend_refuses(t *testing.T) {
	for want, args := range map[string][]string{
		"-clients 1,x":         {"-clients", "1,x"},
		"-clients 0":           {"-clients", "0"},
		"-messages 0":          {"-messages", "0"},
		"-imaptest-seconds -1": {"-imaptest-seconds", "-1"},
		`no design "nothing"`:  {"-design", "nothing"},
		`fsync "group"`:        {"-fsync", "group"},
		`format "mbox"`:        {"-formats", "mbox"},
		"-append wants no":     {"somewhere"},
		"imaptest at /nowhere": {"-imaptest", "/nowhere/imaptest"},
	} {
		app := &cli.App{
			Writer: io.Discard, ErrWriter: io.Discard, ExitErrHandler: func(*cli.Context, error) {},
			Flags: append(peersAppendFlags(), &cli.StringFlag{Name: "design", Value: "column"}),
			Action: func(c *cli.Context) error {
				return peersAppend(c, func(*peer.AppendReport, io.Writer) error { return nil })
			},
		}
		if err := app.Run(append([]string{"peers"}, args...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
