// Command mailbench does the operations of the benchmarks by hand: it threads
// and sorts a mailbox, explains the result, builds and checks indexes, makes
// corpora and plans runs.
//
// It exits with 0 when all went well, 1 when a check found something wrong,
// and 2 when its arguments or its input cannot be used.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"mailbench/peer/proc"
)

func main() {
	proc.Watchdog() // as which we may have been started
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// errFound is returned by a command that did its work and found something
// wrong, which it has printed.
var errFound = errors.New("found wrong")

// run is main with its surroundings as arguments; the result is the exit
// code.
func run(args []string, stdout, stderr io.Writer) int {
	app := &cli.App{
		Name:            "mailbench",
		Usage:           "measure mailbox index and cache designs",
		Writer:          stdout,
		ErrWriter:       stderr,
		HideHelpCommand: true,
		// A comma in -system is the shell's.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return err },
		CommandNotFound:           nil,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("no command %q (mailbench --help lists them)", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			threadCommand(), sortCommand(), selectCommand(), explainCommand(),
			indexCommand(), corpusCommand(), floorsCommand(), planCommand(), sessionCommand(), peersCommand(), verifyCommand(),
		},
	}
	for _, c := range app.Commands {
		quiet(c, c.Name)
	}
	err := app.Run(args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return 1
	}
	fmt.Fprintln(stderr, "mailbench: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	return 2
}

// quiet makes a usage error of c and its subcommands one line instead of a
// page of help. name is what the user says after mailbench.
func quiet(c *cli.Command, name string) {
	c.HideHelpCommand = true
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error {
		return fmt.Errorf("%s: %w (see mailbench %s --help)", name, err, name)
	}
	for _, s := range c.Subcommands {
		quiet(s, name+" "+s.Name)
	}
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = func(ctx *cli.Context) error {
			if ctx.Args().Present() {
				return fmt.Errorf("%s: no subcommand %q", c.Name, ctx.Args().First())
			}
			return cli.ShowSubcommandHelp(ctx)
		}
	}
}
