package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

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
			"The index is kept below the cache directory, where -index-dir names no other.\n" +
			"Example: printf 'a SELECT INBOX\\r\\nb UID THREAD REFERENCES UTF-8 ALL\\r\\nc LOGOUT\\r\\n' | mailbench session ~/Maildir",
		Flags: mailboxFlags(
			&cli.StringFlag{Name: "store", Usage: "`FORMAT` of PATH: " + formats.Names() + " (default: the mail as it is)"},
			&cli.BoolFlag{Name: "write", Usage: "allow APPEND, STORE and EXPUNGE: they change the mail at PATH"},
			&cli.StringFlag{Name: "fsync", Value: "always", Usage: "when what is written waits for the disk: always, group, never"},
			&cli.StringFlag{Name: "listen", Usage: "serve many connections on this unix `SOCKET` instead, until killed"},
		),
		Action: func(c *cli.Context) error {
			m, err := openSession(c)
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
			return errors.Join(err, m.Close())
		},
	}
}

// openSession opens what the flags say.
func openSession(c *cli.Context) (*session.Mailboxes, error) {
	path, err := onlyPath(c)
	if err != nil {
		return nil, err
	}
	cfg := session.Config{Path: path, Write: c.Bool("write")}
	cfg.Source = func(path string) (index.Source, error) { return openSource(c, path) }
	if cfg.Options, err = indexOptions(c); err != nil {
		return nil, err
	}
	var ok bool
	if cfg.Design, ok = designs.Lookup(c.String("design")); !ok {
		return nil, fmt.Errorf("-design: no design %q (there are %s)", c.String("design"), strings.Join(designs.Names(), ", "))
	}
	if name := c.String("store"); name != "" {
		if cfg.Store, ok = formats.Lookup(name); !ok {
			return nil, fmt.Errorf("-store: no format %q (there are %s)", name, formats.Names())
		}
	}
	if cfg.Fsync, err = storebox.ParseFsync(c.String("fsync")); err != nil {
		return nil, fmt.Errorf("-fsync %s: want always, group or never", c.String("fsync"))
	}
	if _, err := os.Stat(path); err != nil && !(cfg.Write && cfg.Store != nil) {
		return nil, fmt.Errorf("session: %w", err)
	}
	// What the other commands do with an index directory that the user names.
	mb := &mailbox{src: located{path: path}, design: cfg.Design.Name()}
	if err := mb.pickDir(c.String("index-dir"), path, mb.design, forGood); err != nil {
		return nil, err
	}
	cfg.IndexDir = mb.dir
	if mb.named {
		if _, err := os.Stat(path); err == nil {
			if err := mb.claim(forGood); err != nil {
				return nil, err
			}
		}
		cfg.Synced = mb.sign
	}
	return session.Open(cfg)
}

// located is mail that is not open: its path is all that is known of it, and all
// that is asked for who owns an index.
type located struct {
	index.Source
	path string
}

func (l located) Path() string { return l.path }

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
	l, err := socket(name)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { l.Close() })
	var clients sync.WaitGroup
	defer func() {
		end()
		l.Close()
		clients.Wait()
	}()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			time.Sleep(10 * time.Millisecond) // until a client goes
			continue
		case err != nil:
			return fmt.Errorf("-listen: %w", err)
		}
		clients.Go(func() {
			defer conn.Close()
			session.Serve(ctx, conn, m)
		})
	}
}

// socket makes the socket. What a process that was killed left there is
// removed; one that somebody listens on, or what is no socket, is an error. It
// gets its name when only this user can connect to it.
func socket(name string) (net.Listener, error) {
	if st, err := os.Lstat(name); err == nil {
		if st.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is there and no socket", name)
		}
		if c, err := net.Dial("unix", name); err == nil {
			c.Close()
			return nil, fmt.Errorf("%s: another process listens there", name)
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	temp := fmt.Sprintf("%s.%d", name, os.Getpid())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temp, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(temp, 0o600)
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(temp))
	}
	return &named{Listener: l, name: name}, nil
}

// named is a listener whose socket goes when it is closed, once.
type named struct {
	net.Listener
	name string
	once sync.Once
	err  error
}

func (n *named) Close() error {
	n.once.Do(func() { n.err = errors.Join(os.Remove(n.name), n.Listener.Close()) })
	return n.err
}
