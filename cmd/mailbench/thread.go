package main

import (
	"github.com/urfave/cli/v2"

	"mailbench/index"
	"mailbench/thread"
)

func threadCommand() *cli.Command {
	return &cli.Command{
		Name:      "thread",
		Usage:     "print the IMAP answer to UID THREAD",
		ArgsUsage: "PATH",
		Description: "PATH is a maildir, an mbox (plain, .gz, .zst) or one message file.\n" +
			"Example: mailbench thread -alg orderedsubject ~/Mail/lkml",
		Flags: mailboxFlags(
			&cli.StringFlag{Name: "alg", Value: "references", Usage: "references, refs or orderedsubject"},
			searchFlag(),
		),
		Action: func(c *cli.Context) error {
			alg, err := thread.ParseAlg(c.String("alg"))
			if err != nil {
				return err
			}
			return printAnswer(c, func(m *mailbox, s index.Search) ([]byte, error) {
				ans, err := m.mb.Thread(alg, s)
				if err != nil {
					return nil, err
				}
				return ans.AppendIMAP(nil), nil
			})
		},
	}
}

func searchFlag() cli.Flag {
	return &cli.StringFlag{Name: "search", Value: "all", Usage: "which messages: all, undeleted, recent (the 1,000 highest UIDs)"}
}

func search(c *cli.Context) (index.Search, error) {
	kind, err := oneOf(c, "search", "all", "undeleted", "recent")
	return index.Search{Kind: kind}, err
}

// printAnswer prints the line that ask gives of the messages that -search
// selects.
func printAnswer(c *cli.Context, ask func(*mailbox, index.Search) ([]byte, error)) error {
	s, err := search(c)
	if err != nil {
		return err
	}
	return withMailbox(c, forNow, func(m *mailbox) error {
		line, err := ask(m, s)
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(append(line, '\n'))
		return err
	})
}
