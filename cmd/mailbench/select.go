package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"mailbench/index"
)

// selection is what select -json prints.
type selection struct {
	UIDValidity uint32            `json:"uidvalidity"`
	UIDNext     uint32            `json:"uidnext"`
	UIDs        [][2]any          `json:"uids"`  // [uid, base name], by UID
	Flags       map[string]string `json:"flags"` // base name to sorted maildir letters out of DFRST
}

func selectCommand() *cli.Command {
	return &cli.Command{
		Name:      "select",
		Usage:     "print UIDVALIDITY, UIDNEXT and the UID, name and flags of each message",
		ArgsUsage: "PATH",
		Description: "An existing dovecot-uidlist in the maildir is adopted, unless -uidlist says otherwise.\n" +
			"Example: mailbench select -json ~/Maildir",
		Flags: mailboxFlags(&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}),
		Action: func(c *cli.Context) error {
			return withMailbox(c, false, func(m *mailbox) error {
				if c.Bool("json") {
					return selectJSON(c, m)
				}
				st := m.mb.Status()
				w := bufio.NewWriter(c.App.Writer)
				fmt.Fprintf(w, "uidvalidity %d\nuidnext %d\nmessages %d\nunseen %d\nhighestmodseq %d\n",
					st.UIDValidity, st.UIDNext, st.Messages, st.Unseen, st.HighestModSeq)
				err := m.mb.Messages(func(msg index.Message) bool {
					fmt.Fprintf(w, "%d %s %s\n", msg.UID, msg.Key, imapFlags(msg.Flags))
					return true
				})
				if err != nil {
					return err
				}
				return w.Flush()
			})
		},
	}
}

func selectJSON(c *cli.Context, m *mailbox) error {
	st := m.mb.Status()
	out := selection{UIDValidity: st.UIDValidity, UIDNext: st.UIDNext, UIDs: [][2]any{}, Flags: map[string]string{}}
	err := m.mb.Messages(func(msg index.Message) bool {
		key := string([]byte(msg.Key)) // valid only during the call
		out.UIDs = append(out.UIDs, [2]any{msg.UID, key})
		out.Flags[key] = imapFlags(msg.Flags)
		return true
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(c.App.Writer).Encode(out)
}

// imapFlags are the letters of IMAP's system flags; P (passed) is none.
func imapFlags(f index.Flags) string { return (f &^ index.FlagForwarded).String() }
