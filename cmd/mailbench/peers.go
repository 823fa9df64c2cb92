package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"mailbench/index/designs"
	"mailbench/internal/temp"
	"mailbench/maildir"
	"mailbench/peer"
	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// peerNames are the real systems, in the order of the columns.
var peerNames = []string{"dovecot", "dovecot-matched", "courier", "cyrus", "notmuch", "mu"}

func peersCommand() *cli.Command {
	return &cli.Command{
		Name:      "peers",
		Usage:     "measure the real servers and our designs, each in processes of its own, in one table",
		ArgsUsage: "PATH",
		Description: "PATH is a maildir, an mbox, a message file or synthetic:N. Each system works on a clone of its own:\n" +
			"the mail at PATH is never written to. Systems that are not installed are named, with how to get them.\n" +
			"Ours run as mailbench session, through the same driver, and read mail as Dovecot does.\n" +
			"Example: mailbench peers -systems dovecot -count 1 ~/Mail/lkml",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "systems", Value: strings.Join(peerNames, ","), Usage: "which real `SYSTEMS`, \"\" for none"},
			&cli.StringFlag{Name: "design", Value: "column,linked", Usage: "which of our `DESIGNS`: " + strings.Join(designs.Names(), ", ")},
			&cli.StringSliceFlag{Name: "system", Usage: "another column: `NAME=COMMAND`, a shell's, which speaks IMAP on a pipe; {} in it is the maildir, its index files belong into $MAILBENCH_INDEX_DIR; begin it with exec, or the shell is what is measured; runs as we do; may be repeated"},
			&cli.StringFlag{Name: "ops", Usage: "only these `OPERATIONS` and what they need: " + opNames() + " (default: all)"},
			&cli.IntFlag{Name: "count", Value: 3, Usage: "how many rounds, `N`"},
			&cli.BoolFlag{Name: "cold", Usage: "evict mail and index files before each operation (default: all of them are in the page cache)"},
			&cli.BoolFlag{Name: "drop-caches", Usage: "with -cold: drop names and inodes too, of the whole machine"},
			&cli.StringFlag{Name: "with-index", Usage: "give Dovecot a copy of the dovecot.index* files in `DIR` instead of none"},
			&cli.StringFlag{Name: "clone", Value: "auto", Usage: "how the mail is cloned: auto, reflink, copy, hardlink"},
			&cli.StringFlag{Name: "scratch", Usage: "`DIR`ectory for the clones, which go again (default: below the cache directory, or /var/tmp where USER cannot reach that)"},
			&cli.StringFlag{Name: "user", Usage: "ordinary `USER` that servers run as, for root (default: nobody)"},
			&cli.StringFlag{Name: "dovecot", Usage: "`PROGRAM` imap of Dovecot"},
			&cli.StringFlag{Name: "courier", Usage: "`PROGRAM` imapd of Courier"},
			&cli.StringFlag{Name: "cyrus", Usage: "`DIR`ectory of Cyrus's programs"},
			&cli.DurationFlag{Name: "timeout", Value: 30 * time.Minute, Usage: "how long one command may take"},
			&cli.StringFlag{Name: "dialect", Value: "mboxrd", Usage: "of an mbox: mboxrd, mboxo, mboxcl, mboxcl2"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, markdown, json"},
			&cli.StringFlag{Name: "o", Usage: "write to `FILE`, .md and .json in their formats"},
			&cli.BoolFlag{Name: "v", Usage: "tell what is being done, on standard error"},
		}, peersAppendFlags()...),
		Action: peers,
	}
}

func opNames() string {
	var names []string
	for _, op := range peer.Ops {
		names = append(names, string(op))
	}
	return strings.Join(names, ", ")
}

func peers(c *cli.Context) error {
	format, err := peersFormat(c)
	if err != nil {
		return err
	}
	if err := writable(c.String("o")); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if c.Bool("append") {
		return peersAppend(c, func(r *peer.AppendReport, w io.Writer) error {
			return toFile(c, w, func(w io.Writer) error { return written(r, format, w) })
		})
	}
	path, err := onlyPath(c)
	if err != nil {
		return err
	}
	o, err := peersOptions(c)
	if err != nil {
		return err
	}
	if err := usableMail(c, path); err != nil {
		return err
	}
	user, err := proc.OrdinaryUser(c.String("user"))
	if err != nil {
		return fmt.Errorf("-user: %w", err)
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := proc.MakeDir(c.String("scratch"), user)
	if err != nil {
		return err
	}
	o.Dir = dir
	r, err := measured(ctx, c, o, path)
	proc.KillAll()
	if rerr := dir.Remove(); err == nil {
		err = rerr
	}
	if err != nil {
		return err
	}
	if err := toFile(c, c.App.Writer, func(w io.Writer) error { return written(r, format, w) }); err != nil {
		return err
	}
	if len(r.Unsteady())+len(r.Wrong()) > 0 {
		return errFound
	}
	return nil
}

// measured brings the mail into a maildir and measures.
func measured(ctx context.Context, c *cli.Context, o peer.Options, path string) (*peer.Report, error) {
	// Servers run as somebody else: what is imported is for us to clone from.
	mail, err := asMaildir(ctx, c, path, filepath.Join(o.Dir.Path, "corpus"))
	if err != nil {
		return nil, err
	}
	var scan maildir.Scan
	if err := scan.Read(mail, maildir.Options{}); err != nil {
		return nil, err
	}
	o.Corpus, o.Messages, o.Name = mail, len(scan.Entries), path
	return peer.Measure(ctx, o)
}

// peersOptions reads the flags.
func peersOptions(c *cli.Context) (o peer.Options, err error) {
	o = peer.Options{Count: c.Int("count"), Timeout: c.Duration("timeout"), DropAll: c.Bool("drop-caches"), Log: io.Discard}
	if c.Bool("v") {
		o.Log = c.App.ErrWriter
	}
	if o.Count < 1 {
		return o, fmt.Errorf("-count %d: want at least 1", o.Count)
	}
	if c.Bool("cold") {
		o.Temper = temp.NoData
		if o.DropAll {
			o.Temper = temp.Cold
		}
	} else if o.DropAll {
		return o, errors.New("-drop-caches: only with -cold")
	}
	if o.Clone, err = clone.Parse(c.String("clone")); err != nil {
		return o, fmt.Errorf("-clone: %w", err)
	}
	if s := c.String("ops"); s != "" {
		if o.Ops, err = peer.ParseOps(words(s)); err != nil {
			return o, fmt.Errorf("-ops: %w", err)
		}
	}
	if dir := c.String("with-index"); dir != "" {
		if found, err := filepath.Glob(filepath.Join(dir, "dovecot.index*")); err != nil || len(found) == 0 {
			return o, fmt.Errorf("-with-index: no dovecot.index* in %s", dir)
		}
	}
	for _, name := range words(c.String("systems")) {
		s, err := realSystem(c, name)
		if err != nil {
			return o, err
		}
		o.Systems = append(o.Systems, s)
	}
	for _, name := range words(c.String("design")) {
		if _, ok := designs.Lookup(name); !ok {
			return o, fmt.Errorf("-design: no design %q (there are %s)", name, strings.Join(designs.Names(), ", "))
		}
		o.Systems = append(o.Systems, peer.NewOurs(name, peer.OursOptions{}))
	}
	for _, s := range c.StringSlice("system") {
		name, command, ok := strings.Cut(s, "=")
		if !ok || name == "" || strings.TrimSpace(command) == "" {
			return o, fmt.Errorf("-system %q: want NAME=COMMAND", s)
		}
		o.Systems = append(o.Systems, peer.NewPipe(name, command))
	}
	names := map[string]bool{}
	for _, s := range o.Systems {
		if names[s.Name()] || strings.ContainsAny(s.Name(), "/\x00") || strings.HasPrefix(s.Name(), ".") {
			return o, fmt.Errorf("system %q: there are two of that name, or it cannot be one", s.Name())
		}
		names[s.Name()] = true
	}
	if len(o.Systems) == 0 {
		return o, errors.New("-systems, -design: nothing is left to measure")
	}
	return o, nil
}

func realSystem(c *cli.Context, name string) (peer.System, error) {
	dovecot := peer.DovecotOptions{Binary: c.String("dovecot"), WithIndex: c.String("with-index")}
	switch name {
	case "dovecot":
		return peer.NewDovecot(dovecot), nil
	case "dovecot-matched":
		dovecot.Name, dovecot.CacheFields, dovecot.WithIndex = name, peer.DovecotMatchedFields, ""
		return peer.NewDovecot(dovecot), nil
	case "courier":
		return peer.NewCourier(peer.CourierOptions{Binary: c.String("courier")}), nil
	case "cyrus":
		return peer.NewCyrus(peer.CyrusOptions{Bin: c.String("cyrus")}), nil
	case "notmuch":
		return peer.NewNotmuch(peer.NotmuchOptions{}), nil
	case "mu":
		return peer.NewMu(peer.MuOptions{}), nil
	}
	return nil, fmt.Errorf("-systems: no system %q (there are %s)", name, strings.Join(peerNames, ", "))
}

// peersFormat is what is written: as -format says, or the name of -o.
func peersFormat(c *cli.Context) (string, error) {
	if !c.IsSet("format") {
		switch filepath.Ext(c.String("o")) {
		case ".md":
			return "markdown", nil
		case ".json":
			return "json", nil
		}
	}
	return oneOf(c, "format", "text", "markdown", "json")
}

// A report can be written in each format.
type report interface {
	WriteText(io.Writer) error
	WriteMarkdown(io.Writer) error
	WriteJSON(io.Writer) error
}

func written(r report, format string, w io.Writer) error {
	switch format {
	case "markdown":
		return r.WriteMarkdown(w)
	case "json":
		return r.WriteJSON(w)
	}
	return r.WriteText(w)
}

// writable is an error where -o cannot be written: that is told before hours of
// measuring, not after them. What is in the file stays until there is something
// to put in its place.
func writable(name string) error {
	if name == "" {
		return nil
	}
	_, was := os.Stat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = f.Close()
	if errors.Is(was, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// toFile writes to -o, or to w without it.
func toFile(c *cli.Context, w io.Writer, write func(io.Writer) error) error {
	name := c.String("o")
	if name == "" {
		return write(w)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
