package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"mailbench/corpus"
	"mailbench/index/designs"
	"mailbench/peer"
	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "ask a real server for every THREAD and SORT and compare with ours",
		ArgsUsage: "PATH",
		Description: "PATH is a maildir, an mbox (message n becomes UID n), a message file or synthetic:N.\n" +
			"The server works on a clone. Where its answer is not ours and is ours with -compat dovecot, the\n" +
			"difference is a known one (docs/DIFFERENCES.md); any other is shown with what the messages there say.\n" +
			"What Courier and Cyrus do otherwise than RFC 5256 wants it is not among the known differences.\n" +
			"Exit code 0: no unknown difference, or no such server is installed; 1: one; 2: it could not be done.\n" +
			"Example: mailbench verify ~/Mail/lkml",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "oracle", Value: "dovecot", Usage: "whose answers are right: dovecot, courier, cyrus"},
			&cli.StringFlag{Name: "system", Usage: "check this instead: `NAME=COMMAND`, a shell's, which speaks IMAP on a pipe; {} in it is the maildir, its index files belong into $MAILBENCH_INDEX_DIR"},
			&cli.StringFlag{Name: "bin", Usage: "the oracle's `PROGRAM`: imap of Dovecot, imapd of Courier, the directory of Cyrus's"},
			&cli.StringFlag{Name: "design", Value: "column", Usage: "which of our designs: " + strings.Join(designs.Names(), ", ")},
			&cli.StringFlag{Name: "clone", Value: "auto", Usage: "how the mail is cloned: auto, reflink, copy, hardlink"},
			&cli.StringFlag{Name: "scratch", Usage: "`DIR`ectory for the clone, which goes again (default: below the cache directory)"},
			&cli.StringFlag{Name: "user", Usage: "ordinary `USER` that the server runs as, for root (default: nobody; -system runs as we do)"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "how long one command may take"},
			&cli.StringFlag{Name: "dialect", Value: "mboxrd", Usage: "of an mbox: mboxrd, mboxo, mboxcl, mboxcl2"},
			&cli.BoolFlag{Name: "json", Usage: "print the verdict as JSON"},
			&cli.BoolFlag{Name: "v", Usage: "tell what is being done, on standard error"},
		},
		Action: verify,
	}
}

func verify(c *cli.Context) error {
	path, err := onlyPath(c)
	if err != nil {
		return err
	}
	design, ok := designs.Lookup(c.String("design"))
	if !ok {
		return fmt.Errorf("-design: no design %q (there are %s)", c.String("design"), strings.Join(designs.Names(), ", "))
	}
	mode, err := clone.Parse(c.String("clone"))
	if err != nil {
		return fmt.Errorf("-clone: %w", err)
	}
	system, err := oracleSystem(c)
	if err != nil {
		return err
	}
	if err := usableMail(c, path); err != nil {
		return err
	}
	var missing *peer.Missing
	if err := system.Available(); errors.As(err, &missing) && c.String("bin") == "" {
		_, err := fmt.Fprintf(c.App.Writer, "nothing verified: %v\n", missing)
		return err
	} else if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var user *proc.User
	if c.String("system") == "" || c.String("user") != "" { // what is the user's own runs as he does
		if user, err = proc.OrdinaryUser(c.String("user")); err != nil {
			return fmt.Errorf("-user: %w", err)
		}
	}
	dir, err := proc.MakeDir(c.String("scratch"), user)
	if err != nil {
		return err
	}
	run := &peer.Run{
		Dir: filepath.Join(dir.Path, "server"), Clone: mode, User: user, Timeout: c.Duration("timeout"), Log: io.Discard,
	}
	if c.Bool("v") {
		run.Log = c.App.ErrWriter
	}
	v, err := verified(ctx, c, system, run, path, filepath.Join(dir.Path, "ours"), design.Name())
	if rerr := dir.Remove(); err == nil {
		err = rerr
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(v)
	} else {
		err = v.WriteText(c.App.Writer)
	}
	if err == nil && v.Failed() {
		err = errFound
	}
	return err
}

// usableMail refuses what is no mail before anything is made of it.
func usableMail(c *cli.Context, path string) error {
	if corpus.IsSpec(path) {
		_, err := corpus.Parse(path)
		return err
	}
	src, err := openSource(c, path)
	if err != nil {
		return err
	}
	return src.Close()
}

// oracleSystem is what the flags say.
func oracleSystem(c *cli.Context) (peer.System, error) {
	if s := c.String("system"); s != "" {
		name, command, ok := strings.Cut(s, "=")
		if !ok || name == "" || strings.TrimSpace(command) == "" {
			return nil, fmt.Errorf("-system %q: want NAME=COMMAND", s)
		}
		return peer.NewPipe(name, command), nil
	}
	name, err := oneOf(c, "oracle", "dovecot", "courier", "cyrus")
	if err != nil {
		return nil, err
	}
	bin := c.String("bin")
	switch name {
	case "courier":
		return peer.NewCourier(peer.CourierOptions{Binary: bin}), nil
	case "cyrus":
		return peer.NewCyrus(peer.CyrusOptions{Bin: bin}), nil
	}
	return peer.NewDovecot(peer.DovecotOptions{Binary: bin}), nil
}

// verified brings the mail into a maildir and asks both sides. What of ours is
// on disk lies in dir.
func verified(ctx context.Context, c *cli.Context, system peer.System, run *peer.Run, path, dir, design string) (_ *peer.Verdict, err error) {
	if run.Corpus, err = asMaildir(ctx, c, path, filepath.Join(dir, "mail")); err != nil {
		return nil, err
	}
	rfc, err := openOurs(run.Corpus, filepath.Join(dir, "rfc"), design, rfcReading)
	if err != nil {
		return nil, err
	}
	defer rfc.Close()
	compat, err := openOurs(run.Corpus, filepath.Join(dir, "compat"), design, dovecotReading)
	if err != nil {
		return nil, err
	}
	defer compat.Close()
	v, err := peer.Verify(ctx, peer.VerifyOptions{System: system, Run: run, RFC: rfc, Compat: compat, Readings: rfc.readings})
	if err == nil {
		err = unread(c, rfc.box.src, "cannot be compared")
	}
	return v, err
}

// asMaildir gives a maildir with the mail at path: itself where it is one, the
// cached corpus of a spec, else dir, into which it is imported.
func asMaildir(ctx context.Context, c *cli.Context, path, dir string) (string, error) {
	if corpus.IsSpec(path) {
		spec, err := corpus.Parse(path)
		if err != nil {
			return "", err
		}
		f, err := corpus.Cached(ctx, "", spec, "maildir", nil)
		if err != nil {
			return "", err
		}
		return f.Path, nil
	}
	src, err := openSource(c, path)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if src.Kind() == "maildir" {
		return filepath.Abs(path)
	}
	if _, err := importMaildir(src, dir); err != nil {
		return "", err
	}
	if d, ok := src.(interface{ Damage() error }); ok && d.Damage() != nil {
		return "", d.Damage()
	}
	return dir, nil
}
