package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"mailbench/corpus/source"
	"mailbench/index"
)

// importCommand makes a maildir of any source: the form in which the eight
// operations were measured in 2003.
func importCommand() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "write the messages of a mailbox as a new maildir", ArgsUsage: "PATH MAILDIR",
		Description: "Message n becomes the n-th file in name order; the time of each file is its INTERNALDATE.\n" +
			"Example: mailbench corpus import lkml.mbox.zst ./lkml",
		Flags: []cli.Flag{&cli.StringFlag{Name: "dialect", Value: "mboxrd", Usage: "of an mbox: mboxrd, mboxo, mboxcl, mboxcl2"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return fmt.Errorf("corpus import: want PATH and MAILDIR, got %d arguments", c.NArg())
			}
			src, err := openSource(c, c.Args().First())
			if err != nil {
				return err
			}
			defer src.Close()
			if source.Inside(src.Path(), c.Args().Get(1)) {
				return fmt.Errorf("corpus import: %s is inside the mail that is read", c.Args().Get(1))
			}
			n := 0
			err = writeWhole(c.Args().Get(1), func(partial string) (err error) {
				n, err = importMaildir(src, partial)
				return err
			})
			if err != nil {
				return fmt.Errorf("corpus import: %w", err)
			}
			if d, ok := src.(interface{ Damage() error }); ok && d.Damage() != nil {
				return d.Damage() // what could be read is there
			}
			_, err = fmt.Fprintf(c.App.Writer, "%d messages\n", n)
			return err
		},
	}
}

// importMaildir writes every message of src below dir and returns how many.
func importMaildir(src index.Source, dir string) (int, error) {
	var l index.Listing
	if err := src.List(&l); err != nil {
		return 0, err
	}
	src.Order(l.Entries)
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return 0, err
		}
	}
	// Names must sort in the order of the mailbox even where its dates do
	// not, so seconds and microseconds count the messages.
	const first = 1_000_000_000
	for i := range l.Entries {
		e := &l.Entries[i]
		msg, err := src.ReadMessage(e, nil)
		if err != nil {
			return 0, fmt.Errorf("%s: message %d: %w", src.Path(), i+1, err)
		}
		internal := e.MTime
		if !e.MTimeOK {
			if _, internal, err = src.Stat(e); err != nil {
				return 0, fmt.Errorf("%s: message %d: %w", src.Path(), i+1, err)
			}
		}
		name := filepath.Join(dir, "cur", fmt.Sprintf("%d.M%06dP1.import,S=%d:2,%s", first+i/1000, i%1000, len(msg), imapFlags(e.Flags)))
		if err := os.WriteFile(name, msg, 0o644); err != nil {
			return 0, err
		}
		t := time.Unix(internal, 0)
		if err := os.Chtimes(name, t, t); err != nil {
			return 0, err
		}
	}
	return len(l.Entries), nil
}
