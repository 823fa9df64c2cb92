package main

import (
	"github.com/urfave/cli/v2"

	"mailbench/index"
	mailsort "mailbench/sort"
)

func sortCommand() *cli.Command {
	return &cli.Command{
		Name:      "sort",
		Usage:     "print the IMAP answer to UID SORT",
		ArgsUsage: "PATH",
		Description: "Keys are those of RFC 5256 and RFC 5957: arrival, cc, date, from, size, subject, to,\n" +
			"displayfrom, displayto, each with an optional reverse before it.\n" +
			"Example: mailbench sort -keys \"subject reverse date\" inbox.mbox.zst",
		Flags: mailboxFlags(
			&cli.StringFlag{Name: "keys", Value: "date", Usage: "sort `KEYS`, separated by spaces"},
			searchFlag(),
		),
		Action: func(c *cli.Context) error {
			crit, err := mailsort.ParseCriteria(c.String("keys"))
			if err != nil {
				return err
			}
			return printAnswer(c, func(m *mailbox, s index.Search) ([]byte, error) {
				uids, err := m.mb.Sort(crit, s)
				if err != nil {
					return nil, err
				}
				return mailsort.AppendIMAP(nil, uids), nil
			})
		},
	}
}
