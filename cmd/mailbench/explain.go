package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/urfave/cli/v2"

	"mailbench/index"
	"mailbench/internal/explain"
	"mailbench/thread"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say why a message is threaded and sorted where it is: one JSON object per message",
		ArgsUsage: "PATH [UID...]",
		Description: "Example: mailbench explain -header Received -header List-Id ~/Mail/lkml 17 42\n" +
			"parent_uid and root_uid are the message's place in THREAD REFERENCES (null below a message that is\n" +
			"not there), by is why: references, in-reply-to, subject, none (top of its thread).\n" +
			"A header that is absent is null; one that is not UTF-8 is {\"b64\": ...}, as is such a key.",
		Flags: mailboxFlags(&cli.StringSliceFlag{Name: "header", Usage: "add the field `NAME` (may be repeated)"}),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return fmt.Errorf("explain: want a PATH (see mailbench explain --help)")
			}
			want := map[uint32]bool{}
			for _, a := range c.Args().Tail() {
				uid, err := strconv.ParseUint(a, 10, 32)
				if err != nil || uid == 0 {
					return fmt.Errorf("explain: %q is no UID", a)
				}
				want[uint32(uid)] = true
			}
			o, err := indexOptions(c)
			if err != nil {
				return err
			}
			return onMailbox(c, c.Args().First(), forNow, func(m *mailbox) error {
				return explainAll(c, m, want, explain.Options{Headers: c.StringSlice("header"), Compat: o.Compat})
			})
		},
	}
}

func explainAll(c *cli.Context, m *mailbox, want map[uint32]bool, o explain.Options) error {
	var l index.Listing
	if err := m.src.List(&l); err != nil {
		return err
	}
	entries := make(map[string]*index.Entry, len(l.Entries))
	for i := range l.Entries {
		entries[l.Entries[i].Key] = &l.Entries[i]
	}
	words := map[byte]string{}
	if k, ok := m.src.(interface {
		Keywords() (map[byte]string, error)
	}); ok {
		var err error
		if words, err = k.Keywords(); err != nil {
			return err
		}
	}
	places, err := placesIn(m, entries, want, o.Compat)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(c.App.Writer)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // addresses stay readable
	all := len(want) == 0
	var bad, unread error
	err = m.mb.Messages(func(msg index.Message) bool {
		e := entries[msg.Key]
		if !all && !want[msg.UID] || e == nil { // nil: expunged since the sync
			return true
		}
		delete(want, msg.UID)
		x, err := explain.Explain(m.src, e, msg, keywordNames(msg.Keywords, words), o)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // else expunged since the listing
				fmt.Fprintf(c.App.ErrWriter, "mailbench: uid %d: %v\n", msg.UID, err)
				unread = errors.New("explain: messages that cannot be read were left out")
			}
			return true
		}
		x.Put(places[msg.UID])
		bad = enc.Encode(x)
		return bad == nil
	})
	if err = cmp.Or(err, bad, w.Flush(), unread); err != nil {
		return err
	}
	for uid := range want {
		return fmt.Errorf("explain: %s has no UID %d", m.src.Path(), uid)
	}
	return nil
}

// placesIn asks for THREAD REFERENCES and says where it has put the wanted
// messages, all of them when none is named.
func placesIn(m *mailbox, entries map[string]*index.Entry, want map[uint32]bool, compat index.Compat) (map[uint32]explain.Place, error) {
	byUID := make(map[uint32]*index.Entry, len(entries))
	if err := m.mb.Messages(func(msg index.Message) bool {
		if e := entries[msg.Key]; e != nil {
			byUID[msg.UID] = e
		}
		return true
	}); err != nil {
		return nil, err
	}
	ans, err := m.mb.Thread(thread.References, index.Search{})
	if err != nil {
		return nil, err
	}
	if len(want) == 0 {
		want = nil
	}
	return explain.Places(m.src, ans, want, func(uid uint32) *index.Entry { return byUID[uid] }, compat)
}

// keywordNames gives the names of the keyword letters in bits, the letter
// itself where dovecot-keywords does not know it.
func keywordNames(bits uint32, words map[byte]string) []string {
	names := []string{}
	for i := range 26 {
		if bits>>i&1 == 0 {
			continue
		}
		letter := byte('a' + i)
		if name := words[letter]; name != "" {
			names = append(names, name)
		} else {
			names = append(names, string(letter))
		}
	}
	return names
}
