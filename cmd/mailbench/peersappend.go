package main

import (
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"mailbench/index/designs"
	"mailbench/peer"
	"mailbench/peer/proc"
)

// peersAppendFlags are the flags of peers that only -append has.
func peersAppendFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "append", Usage: "append messages, session against session, instead; without PATH"},
		&cli.StringFlag{Name: "clients", Value: "1,30", Usage: "`NUMBERS` of connections at once, with -append"},
		&cli.IntFlag{Name: "messages", Value: 100, Usage: "that each client appends, `N`"},
		&cli.StringFlag{Name: "fsync", Value: "optimized,never", Usage: "with -append: mail_fsync of Dovecot, optimized, always, never; ours are group, always, never"},
		&cli.StringFlag{Name: "formats", Value: "maildir,sdbox,mdbox", Usage: "what is appended to, with -append"},
		&cli.BoolFlag{Name: "unselected", Usage: "the clients of -append do not have the mailbox selected"},
		&cli.StringFlag{Name: "imaptest", Usage: "`PROGRAM` whose append and mix appear beside (default: the one in PATH, if any)"},
		&cli.IntFlag{Name: "imaptest-seconds", Value: 5, Usage: "that each run of it takes, `N`"},
	}
}

// appendOptions reads the flags of -append, and of those that peers has anyway
// count, design, dovecot, user, scratch, timeout and v.
func appendOptions(c *cli.Context) (o peer.AppendOptions, err error) {
	o = peer.AppendOptions{
		Messages: c.Int("messages"), Count: c.Int("count"), Fsync: words(c.String("fsync")), Formats: words(c.String("formats")),
		Unselected: c.Bool("unselected"), Imaptest: c.String("imaptest"), Seconds: c.Int("imaptest-seconds"),
		Scratch: c.String("scratch"), Timeout: c.Duration("timeout"), Log: io.Discard,
	}
	o.Dovecot.Binary = c.String("dovecot")
	if c.Bool("v") {
		o.Log = c.App.ErrWriter
	}
	if c.Int("messages") < 1 {
		return o, fmt.Errorf("-messages %d: want at least 1", c.Int("messages"))
	}
	if c.IsSet("count") && o.Count < 1 {
		return o, fmt.Errorf("-count %d: want at least 1", o.Count)
	}
	if c.Int("imaptest-seconds") < 1 {
		return o, fmt.Errorf("-imaptest-seconds %d: want at least 1", c.Int("imaptest-seconds"))
	}
	for _, w := range words(c.String("clients")) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-clients %s: want numbers, at least 1", c.String("clients"))
		}
		o.Clients = append(o.Clients, n)
	}
	for _, name := range words(c.String("design")) {
		if _, ok := designs.Lookup(name); !ok {
			return o, fmt.Errorf("-design: no design %q (there are %s)", name, strings.Join(designs.Names(), ", "))
		}
		o.Designs = append(o.Designs, name)
	}
	o.User, err = proc.OrdinaryUser(c.String("user"))
	if err != nil {
		return o, fmt.Errorf("-user: %w", err)
	}
	return o, nil
}

// words splits a list at its commas.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// peersAppend is peers -append. write prints the report as peers has been told.
func peersAppend(c *cli.Context, write func(*peer.AppendReport, io.Writer) error) error {
	if c.Args().Present() {
		return fmt.Errorf("peers: -append wants no PATH, got %q", c.Args().First())
	}
	o, err := appendOptions(c)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r, err := peer.MeasureAppend(ctx, o)
	if r == nil {
		return err
	}
	if werr := write(r, c.App.Writer); werr != nil {
		return errors.Join(err, werr)
	}
	if errors.Is(err, peer.ErrLost) {
		fmt.Fprintf(c.App.ErrWriter, "mailbench: %v\n", err)
		return errFound
	}
	return err
}
