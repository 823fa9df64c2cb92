package session

import (
	"mailbench/index"
)

// selectMailbox is SELECT, or EXAMINE.
func (c *conn) selectMailbox(name string, examine bool) error {
	c.leave() // also if it fails (RFC 3501 section 6.3.1)
	f, err := c.m.folder(name)
	if err != nil {
		return lacks(err)
	}
	var v *view
	f.selected.Add(1)
	err = f.ask(lookFully, func(index.Mailbox) error {
		v = newView(f, examine || !c.m.cfg.Write)
		return f.readKeywords()
	})
	if err != nil {
		f.selected.Add(-1)
		return lacks(err)
	}
	c.view = v
	c.tellFlags()
	c.print("* ", v.exists, " EXISTS\r\n* 0 RECENT\r\n")
	if n := v.firstUnseen(); n > 0 {
		c.print("* OK [UNSEEN ", n, "] first unseen\r\n")
	}
	c.print("* OK [UIDVALIDITY ", v.status.UIDValidity, "] UIDs valid\r\n",
		"* OK [UIDNEXT ", v.status.UIDNext, "] predicted next UID\r\n")
	if v.status.HighestModSeq > 0 {
		c.print("* OK [HIGHESTMODSEQ ", v.status.HighestModSeq, "] highest\r\n")
	}
	return nil
}

// leave unselects, if anything is selected.
func (c *conn) leave() {
	if v := c.view; v != nil {
		v.f.selected.Add(-1)
		c.view = nil
	}
}

// tellFlags tells which flags and keywords there are, and which can be changed.
func (c *conn) tellFlags() {
	v := c.view
	v.f.mu.Lock()
	words := v.f.words
	v.f.mu.Unlock()
	c.words = words
	all := words.appendFlags(nil, index.FlagSeen|index.FlagAnswered|index.FlagFlagged|index.FlagDeleted|index.FlagDraft|index.FlagForwarded, 1<<numKeywords-1)
	c.print("* FLAGS ", all, "\r\n* OK [PERMANENTFLAGS ")
	switch {
	case v.readOnly:
		c.print("()] read-only mailbox\r\n")
	case words.full():
		c.print(all, "] flags permitted\r\n")
	default:
		c.print(all[:len(all)-1], ` \*)] flags permitted`, "\r\n")
	}
}

// firstUnseen is the sequence number of the first message without \Seen, 0 when
// there is none, or when it would have to be looked for in the index.
func (v *view) firstUnseen() uint32 {
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	r := &v.f.rows
	if !v.loaded || v.behind || v.status.Unseen == 0 {
		return 0
	}
	for i, fl := range r.flags[:min(len(r.flags), len(v.uid))] {
		if fl&index.FlagSeen == 0 {
			return uint32(i + 1)
		}
	}
	return 0
}

// statusItem is what STATUS tells of a name, -1 for one that is not known.
func statusItem(name string, st *index.Status) int64 {
	switch name {
	case "MESSAGES":
		return int64(st.Messages)
	case "RECENT":
		return 0
	case "UIDNEXT":
		return int64(st.UIDNext)
	case "UIDVALIDITY":
		return int64(st.UIDValidity)
	case "UNSEEN":
		return int64(st.Unseen)
	case "DELETED":
		return int64(st.Deleted)
	case "HIGHESTMODSEQ":
		return int64(st.HighestModSeq)
	}
	return -1
}

// status is STATUS.
func (c *conn) status(name string, items []string) error {
	f, err := c.m.folder(name)
	if err != nil {
		return lacks(err)
	}
	var st index.Status
	if err := f.ask(lookFully, func(index.Mailbox) error { st = f.status; return nil }); err != nil {
		return lacks(err)
	}
	c.print("* STATUS ", appendName(nil, name), " (")
	for i, item := range items {
		if i > 0 {
			c.print(" ")
		}
		c.print(item, " ", uint64(statusItem(item, &st)))
	}
	c.print(")\r\n")
	return nil
}
