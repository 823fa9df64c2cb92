package session

import (
	"time"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/box"
)

// A mode is what STORE does with the flags that it names.
type mode uint8

const (
	setFlags mode = iota
	addFlags
	removeFlags
)

// store is STORE.
func (c *conn) store(uids []uint32, how mode, names []string, silent, uid bool) error {
	v := c.view
	if v.readOnly {
		return refusal(errReadOnly.Error())
	}
	flags, words, err := v.f.parseFlags(names)
	if err != nil {
		return lacks(err)
	}
	wanted := make(map[uint32]bool, len(uids))
	for _, u := range uids {
		wanted[u] = true
	}
	type state struct {
		flags index.Flags
		words uint32
	}
	made := make(map[uint32]state, len(uids))
	err = v.f.setFlags(uids, func(u uint32, old index.Flags, had uint32) (index.Flags, uint32) {
		s := state{flags, words}
		switch how {
		case addFlags:
			s = state{old | flags, had | words}
		case removeFlags:
			s = state{old &^ flags, had &^ words}
		}
		made[u] = s
		return s.flags, s.words
	})
	if err != nil {
		return lacks(err)
	}
	c.hearWords()
	return c.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		r := &v.f.rows
		if !silent {
			for _, u := range uids {
				i, ok := r.find(u)
				seq, known := v.seq(u)
				if !ok || !known {
					continue
				}
				c.tellChanged(seq, u, r.flags[i], r.keywords[i], uid)
			}
		}
		return v.update(m, c, uid, func(u uint32) bool {
			if !silent {
				return wanted[u]
			}
			i, ok := r.find(u)
			s, did := made[u]
			return ok && did && s == state{r.flags[i], r.keywords[i]}
		})
	})
}

// hearWords tells the client of keywords that are new to it.
func (c *conn) hearWords() {
	c.view.f.mu.Lock()
	now := c.view.f.words
	c.view.f.mu.Unlock()
	if now != c.words {
		c.tellFlags()
	}
}

// expunge is EXPUNGE, or UID EXPUNGE of uids; quiet: CLOSE.
func (c *conn) expunge(uids []uint32, quiet bool) error {
	v := c.view
	if v.readOnly {
		return refusal(errReadOnly.Error())
	}
	var deleted []uint32
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		deleted = deleted[:0]
		r := &v.f.rows
		at := 0
		for _, u := range uids {
			for at < len(r.uid) && r.uid[at] < u {
				at++
			}
			if at < len(r.uid) && r.uid[at] == u && r.flags[at]&index.FlagDeleted != 0 {
				deleted = append(deleted, u)
			}
		}
		return nil
	})
	if err != nil {
		return lacks(err)
	}
	if len(deleted) > 0 {
		if err := v.f.write(func(b *box.Box) error { return b.Expunge(deleted) }); err != nil {
			return lacks(err)
		}
	}
	if quiet {
		return nil
	}
	return c.hear(lookNot, true, nil)
}

// appendMail is APPEND. date 0: now.
func (c *conn) appendMail(name string, names []string, date int64, body []byte) (uid, validity uint32, err error) {
	f, err := c.m.folder(name)
	if err != nil {
		if err == errNoSuch {
			return 0, 0, refusal("[TRYCREATE] " + errNoSuch.Error())
		}
		return 0, 0, lacks(err)
	}
	if !c.m.cfg.Write {
		return 0, 0, refusal(errReadOnly.Error())
	}
	msg := store.Message{Body: body, Date: date}
	if len(names) > 0 {
		if err := f.haveWords(); err != nil {
			return 0, 0, lacks(err)
		}
		if msg.Flags, msg.Keywords, err = f.parseFlags(names); err != nil {
			return 0, 0, lacks(err)
		}
	}
	if date == 0 {
		msg.Date = time.Now().Unix()
	}
	if uid, validity, err = f.append(msg); err != nil {
		return 0, 0, lacks(err)
	}
	return uid, validity, nil
}

// haveWords reads the keywords' names of a folder that nobody has selected.
func (f *folder) haveWords() error {
	if err := f.ready(false); err != nil {
		return err
	}
	defer f.life.RUnlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.worded {
		return nil
	}
	return f.readKeywords()
}
