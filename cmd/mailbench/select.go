package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"mailbench/index"
	"mailbench/internal/explain"
)

// selection is what select -json prints.
type selection struct {
	UIDValidity uint32            `json:"uidvalidity"`
	UIDNext     uint32            `json:"uidnext"`
	UIDs        [][2]any          `json:"uids"`  // [uid, base name], by UID; a name that is not UTF-8 is {"b64": ...}
	Flags       map[string]string `json:"flags"` // base name, or "b64:" and base64 of it, to sorted maildir letters out of DFRST
}

func selectCommand() *cli.Command {
	return &cli.Command{
		Name:      "select",
		Usage:     "print UIDVALIDITY, UIDNEXT and the UID, name and flags of each message",
		ArgsUsage: "PATH",
		Description: "An existing dovecot-uidlist in the maildir is adopted, unless -uidlist says otherwise.\n" +
			"In JSON a name that is not UTF-8 is {\"b64\": ...}, and \"b64:...\" as a key of flags.\n" +
			"Example: mailbench select -json ~/Maildir",
		Flags: mailboxFlags(&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}),
		Action: func(c *cli.Context) error {
			return withMailbox(c, forNow, func(m *mailbox) error {
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
		out.UIDs = append(out.UIDs, [2]any{msg.UID, explain.Text(key)})
		out.Flags[flagsKey(key)] = imapFlags(msg.Flags)
		return true
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(c.App.Writer).Encode(out)
}

// flagsKey is the name of a member of "flags": JSON has strings there only. No
// unique name of a maildir has a colon in it, so none looks like this.
func flagsKey(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return "b64:" + base64.StdEncoding.EncodeToString([]byte(key))
}

// imapFlags are the letters of IMAP's system flags; P (passed) is none.
func imapFlags(f index.Flags) string { return (f &^ index.FlagForwarded).String() }
