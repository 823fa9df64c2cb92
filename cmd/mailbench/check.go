package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// checkCommand looks at the index as it is: a sync first would repair what
// there is to find.
func checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "print every inconsistency of the index; exit 1 if there is one", ArgsUsage: "PATH",
		Description: "Nothing is changed or repaired.\nExample: mailbench index check ~/Mail/lkml",
		Flags:       mailboxFlags(),
		Action: func(c *cli.Context) error {
			path, err := onlyPath(c)
			if err != nil {
				return err
			}
			m, err := openMailbox(c, path, asItIs)
			if err != nil {
				return err
			}
			found := m.damage(c.App.Writer)
			if found == 0 {
				err = m.hasFiles()
			}
			if err := errors.Join(err, m.Close()); err != nil {
				return err
			}
			if found > 0 {
				return errFound
			}
			_, err = fmt.Fprintln(c.App.Writer, "no inconsistency")
			return err
		},
	}
}

// damage prints every inconsistency once, whatever number of parts of the
// index lead to it, and returns how many there are.
func (m *mailbox) damage(w io.Writer) int {
	told := map[string]bool{}
	all := func(yield func(error) bool) {
		if _, _, err := readIdentity(m.dir); err == nil || yield(err) {
			m.mb.Check()(yield)
		}
	}
	for err := range all {
		if text := err.Error(); !told[text] {
			told[text] = true
			fmt.Fprintln(w, text)
		}
	}
	return len(told)
}
