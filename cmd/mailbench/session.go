package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/internal/session"
	storebox "mailbench/store/box"
	"mailbench/store/formats"
)

func sessionCommand() *cli.Command {
	return &cli.Command{
		Name:      "session",
		Usage:     "speak IMAP4rev1, already authenticated, on standard input and output",
		ArgsUsage: "PATH",
		Description: "PATH is INBOX: a maildir (its Maildir++ subfolders are mailboxes, too), an mbox or a\n" +
			"message, or with -store a directory of that format. Mail is never changed without -write.\n" +
			"Example: printf 'a SELECT INBOX\\r\\nb UID THREAD REFERENCES UTF-8 ALL\\r\\nc LOGOUT\\r\\n' | mailbench session ~/Maildir",
		Flags: mailboxFlags(
			&cli.StringFlag{Name: "store", Usage: "`FORMAT` of PATH: " + formats.Names() + " (default: the mail as it is)"},
			&cli.BoolFlag{Name: "write", Usage: "allow APPEND, STORE and EXPUNGE: they change the mail at PATH"},
			&cli.StringFlag{Name: "fsync", Value: "always", Usage: "when what is written waits for the disk: always, group, never"},
			&cli.StringFlag{Name: "listen", Usage: "serve many connections on this unix `SOCKET` instead, until killed"},
		),
		Action: func(c *cli.Context) error {
			m, done, err := openSession(c)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			if name := c.String("listen"); name != "" {
				err = listen(ctx, name, m)
			} else {
				err = served(ctx, m)
			}
			return errors.Join(err, m.Close(), done())
		},
	}
}

// openSession opens what the flags say.
func openSession(c *cli.Context) (*session.Mailboxes, func() error, error) {
	path, err := onlyPath(c)
	if err != nil {
		return nil, nil, err
	}
	cfg := session.Config{Path: path, Write: c.Bool("write")}
	cfg.Source = func(path string) (index.Source, error) { return openSource(c, path) }
	if cfg.Options, err = indexOptions(c); err != nil {
		return nil, nil, err
	}
	var ok bool
	if cfg.Design, ok = designs.Lookup(c.String("design")); !ok {
		return nil, nil, fmt.Errorf("-design: no design %q (there are %s)", c.String("design"), strings.Join(designs.Names(), ", "))
	}
	if name := c.String("store"); name != "" {
		if cfg.Store, ok = formats.Lookup(name); !ok {
			return nil, nil, fmt.Errorf("-store: no format %q (there are %s)", name, formats.Names())
		}
	}
	if cfg.Fsync, err = storebox.ParseFsync(c.String("fsync")); err != nil {
		return nil, nil, fmt.Errorf("-fsync %s: want always, group or never", c.String("fsync"))
	}
	mb := &mailbox{design: cfg.Design.Name()}
	if err := mb.pickDir(c.String("index-dir"), path, mb.design, forGood); err != nil {
		return nil, nil, err
	}
	cfg.IndexDir = mb.dir
	m, err := session.Open(cfg)
	return m, func() error { return nil }, err
}

// stdio is standard input and output as a connection.
type stdio struct {
	io.Reader
	io.Writer
}

// served serves one client on standard input and output. A read of standard
// input cannot be ended: at a signal the process ends without it.
func served(ctx context.Context, m *session.Mailboxes) error {
	done := make(chan error, 1)
	go func() { done <- session.Serve(ctx, stdio{os.Stdin, os.Stdout}, m) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// listen serves every client that comes to a unix socket, which only this user
// may connect to and which goes with the process.
func listen(ctx context.Context, name string, m *session.Mailboxes) error {
	l, err := net.Listen("unix", filepath.Clean(name))
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return errors.Join(fmt.Errorf("-listen: %w", err), l.Close())
	}
	context.AfterFunc(ctx, func() { l.Close() })
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("-listen: %w", err)
		}
		clients.Go(func() {
			defer conn.Close()
			session.Serve(ctx, conn, m)
		})
	}
}
