package main

import (
	"errors"
	"fmt"
	"os"

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
			m, err := openMailbox(c, path, true)
			if err != nil {
				return err
			}
			if files, err := os.ReadDir(m.dir); err != nil || len(files) == 0 {
				return errors.Join(err, fmt.Errorf("index check: no index of %s in %s (mailbench index build makes one)", path, m.dir), m.Close())
			}
			found := 0
			for err := range m.mb.Check() {
				found++
				fmt.Fprintln(c.App.Writer, err)
			}
			if err := m.Close(); err != nil {
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
