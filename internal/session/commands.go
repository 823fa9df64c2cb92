package session

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// lookup finds a command. A switch, not a map: nothing is made at start.
func lookup(name string) (cmd command, ok bool) {
	uid := false
	if rest, is := strings.CutPrefix(name, "UID "); is {
		uid, name = true, rest
		switch name {
		case "FETCH", "STORE", "SEARCH", "SORT", "THREAD", "EXPUNGE", "COPY":
		default:
			return command{}, false
		}
	}
	switch name {
	case "CAPABILITY":
		return command{do: func(c *conn, p *parser) (string, error) {
			c.print("* CAPABILITY ", capabilities, "\r\n")
			return "", p.end()
		}, quiet: true}, true
	case "NOOP":
		return command{do: func(_ *conn, p *parser) (string, error) { return "", p.end() }}, true
	case "CHECK":
		return command{do: func(_ *conn, p *parser) (string, error) { return "", p.end() }, selected: true}, true
	case "LOGOUT":
		return command{do: (*conn).logout, quiet: true}, true
	case "ID":
		return command{do: (*conn).id, quiet: true}, true
	case "NAMESPACE":
		return command{do: func(c *conn, p *parser) (string, error) {
			c.print("* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n")
			return "", p.end()
		}, quiet: true}, true
	case "LIST", "LSUB":
		return command{do: func(c *conn, p *parser) (string, error) { return c.list(p, name) }, quiet: true}, true
	case "STATUS":
		return command{do: (*conn).parseStatus}, true
	case "SELECT", "EXAMINE":
		return command{do: func(c *conn, p *parser) (string, error) {
			p.sp()
			box := p.astring()
			if err := p.end(); err != nil {
				return "", err
			}
			if err := c.selectMailbox(box, name == "EXAMINE"); err != nil {
				return "", err
			}
			if c.view.readOnly {
				return "OK [READ-ONLY] ", nil
			}
			return "OK [READ-WRITE] ", nil
		}, quiet: true}, true
	case "CLOSE", "UNSELECT":
		return command{do: func(c *conn, p *parser) (string, error) { return c.unselect(p, name == "CLOSE") }, selected: true, quiet: true}, true
	case "FETCH":
		return command{do: func(c *conn, p *parser) (string, error) {
			p.sp()
			set := p.set()
			p.sp()
			items := p.fetchItems()
			if err := p.end(); err != nil {
				return "", err
			}
			uids, err := c.chosen(set, uid)
			if err != nil {
				return "", err
			}
			return "", c.fetch(uids, items, uid)
		}, selected: true}, true
	case "STORE":
		return command{do: func(c *conn, p *parser) (string, error) { return c.parseStore(p, uid) }, selected: true}, true
	case "SEARCH":
		return command{do: func(c *conn, p *parser) (string, error) {
			p.sp()
			if at := p.at; len(p.b)-at > 8 && strings.EqualFold(string(p.b[at:at+8]), "CHARSET ") {
				p.at += 8
				p.charset()
				p.sp()
			}
			plan, err := c.program(p)
			if err != nil {
				return "", err
			}
			return "", c.answerSearch(plan, uid)
		}, selected: true}, true
	case "SORT":
		return command{do: func(c *conn, p *parser) (string, error) { return c.parseSort(p, uid) }, selected: true}, true
	case "THREAD":
		return command{do: func(c *conn, p *parser) (string, error) { return c.parseThread(p, uid) }, selected: true}, true
	case "EXPUNGE":
		return command{do: func(c *conn, p *parser) (string, error) {
			set := []span{{1, math.MaxUint32}}
			if uid {
				p.sp()
				set = p.set()
			}
			if err := p.end(); err != nil {
				return "", err
			}
			uids, err := c.chosen(set, true)
			if err != nil {
				return "", err
			}
			return "", c.expunge(uids, false)
		}, selected: true}, true
	case "APPEND":
		return command{do: (*conn).parseAppend}, true
	case "CREATE", "DELETE":
		return command{do: func(c *conn, p *parser) (string, error) {
			p.sp()
			box := p.astring()
			if err := p.end(); err != nil {
				return "", err
			}
			if name == "CREATE" {
				return "", c.m.create(box)
			}
			return "", c.m.remove(box)
		}}, true
	case "COPY":
		return command{do: func(c *conn, p *parser) (string, error) { return c.parseCopy(p, uid) }, selected: true}, true
	case "IDLE":
		return command{do: (*conn).idle}, true
	}
	return command{}, false
}

func (c *conn) logout(p *parser) (string, error) {
	if err := p.end(); err != nil {
		return "", err
	}
	c.bye = true
	c.print("* BYE logging out\r\n")
	return "", nil
}

func (c *conn) id(p *parser) (string, error) {
	p.at = len(p.b) // whatever the client is
	c.print("* ID (\"name\" \"mailbench\")\r\n")
	return "", nil
}

// list is LIST, and LSUB: everything is subscribed to.
func (c *conn) list(p *parser, name string) (string, error) {
	p.sp()
	reference := p.astring()
	p.sp()
	var patterns []string
	if p.peek() == '(' {
		p.list(func() { patterns = append(patterns, p.pattern()) })
	} else {
		patterns = []string{p.pattern()}
	}
	if err := p.end(); err != nil {
		return "", err
	}
	if len(patterns) == 0 || len(patterns) > 100 || len(reference) > 4096 || slices.ContainsFunc(patterns, func(s string) bool { return len(s) > 4096 }) {
		return "", bad("no patterns, too many or too long ones")
	}
	if len(patterns) == 1 && patterns[0] == "" {
		c.print("* ", name, " (\\Noselect) \"/\" \"\"\r\n")
		return "", nil
	}
	for i := range patterns {
		patterns[i] = reference + patterns[i]
	}
	list, err := c.m.listed(patterns)
	if err != nil {
		return "", err
	}
	for _, l := range list {
		attributes := "\\HasNoChildren"
		if l.children {
			attributes = "\\HasChildren"
		}
		if !l.exists {
			attributes = "\\Noselect " + attributes
		}
		c.print("* ", name, " (", attributes, ") \"/\" ", appendName(nil, l.name), "\r\n")
	}
	return "", nil
}

func (c *conn) parseStatus(p *parser) (string, error) {
	p.sp()
	name := p.astring()
	p.sp()
	var items []string
	p.list(func() { items = append(items, p.upper()) })
	if err := p.end(); err != nil {
		return "", err
	}
	for _, item := range items {
		if statusItem(item, &index.Status{}) < 0 {
			return "", bad("nothing is known of status item " + item)
		}
	}
	if len(items) == 0 || len(items) > 32 {
		return "", bad("no status items, or too many")
	}
	return "", c.status(name, items)
}

// unselect is UNSELECT, and CLOSE, which expunges first.
func (c *conn) unselect(p *parser, expunge bool) (string, error) {
	if err := p.end(); err != nil {
		return "", err
	}
	if expunge && !c.view.readOnly {
		uids, err := c.chosen([]span{{1, math.MaxUint32}}, true)
		if err == nil {
			err = c.expunge(uids, true)
		}
		if err != nil {
			return "", err
		}
	}
	c.leave()
	return "", nil
}

// chosen are the UIDs of a set, ascending: of sequence numbers that there must
// be, or of UIDs that may be missing.
func (c *conn) chosen(set []span, uid bool) ([]uint32, error) {
	v := c.view
	var uids []uint32
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		uids = uids[:0]
		if !uid {
			for _, s := range starred(set, uint32(len(v.uid))) {
				if s.hi > uint32(len(v.uid)) || s.lo == 0 {
					return bad("there is no message of that number")
				}
				uids = append(uids, v.uid[s.lo-1:s.hi]...)
			}
			if len(v.uid) == 0 {
				return bad("there is no message of that number")
			}
			return nil
		}
		last := uint32(0)
		if n := len(v.uid); n > 0 {
			last = v.uid[n-1]
		}
		for _, s := range starred(set, last) {
			lo, _ := v.seq(s.lo)
			for i := int(lo) - 1; i < len(v.uid) && v.uid[i] <= s.hi; i++ {
				uids = append(uids, v.uid[i])
			}
		}
		return nil
	})
	return uids, err
}

func (c *conn) parseStore(p *parser, uid bool) (string, error) {
	p.sp()
	set := p.set()
	p.sp()
	how := setFlags
	switch {
	case p.is('+'):
		how = addFlags
	case p.is('-'):
		how = removeFlags
	}
	word := p.upper()
	silent := word == "FLAGS.SILENT"
	if p.err == nil && word != "FLAGS" && !silent {
		return "", bad("nothing is known of " + word)
	}
	p.sp()
	var names []string
	if p.peek() == '(' {
		p.list(func() { names = append(names, p.flag()) })
	} else {
		names = append(names, p.flag())
		for p.is(' ') {
			names = append(names, p.flag())
		}
	}
	if err := p.end(); err != nil {
		return "", err
	}
	uids, err := c.chosen(set, uid)
	if err != nil {
		return "", err
	}
	return "", c.store(uids, how, names, silent, uid)
}

// program reads a search program for the selected mailbox.
func (c *conn) program(p *parser) (*plan, error) {
	v := c.view
	s := &searcher{parser: p, f: v.f, greatest: v.exists}
	// * as a UID is that of the last message; what is above it is in no set.
	v.f.mu.Lock()
	s.uid = v.next - 1
	if v.loaded && len(v.uid) > 0 {
		s.uid = v.uid[len(v.uid)-1]
	}
	v.f.mu.Unlock()
	if !v.loaded && strings.IndexByte(string(p.b[p.at:min(len(p.b), p.at+4096)]), '*') >= 0 {
		if err := v.f.ask(lookNot, v.load); err != nil {
			return nil, err
		}
		if len(v.uid) > 0 {
			s.uid = v.uid[len(v.uid)-1]
		}
	}
	plan := s.program()
	return plan, p.end()
}

func (c *conn) parseSort(p *parser, uid bool) (string, error) {
	p.sp()
	var keys []string
	p.list(func() { keys = append(keys, p.atom()) })
	p.sp()
	p.charset()
	p.sp()
	if p.err != nil {
		return "", p.err
	}
	crit, err := mailsort.ParseCriteria(strings.Join(keys, " "))
	if err != nil {
		return "", bad(line(err))
	}
	plan, err := c.program(p)
	if err != nil {
		return "", err
	}
	return "", c.answerSort(crit, plan, uid)
}

func (c *conn) parseThread(p *parser, uid bool) (string, error) {
	p.sp()
	name := p.atom()
	p.sp()
	p.charset()
	p.sp()
	if p.err != nil {
		return "", p.err
	}
	alg, err := thread.ParseAlg(strings.ToLower(name))
	if err != nil {
		return "", bad(line(err))
	}
	plan, err := c.program(p)
	if err != nil {
		return "", err
	}
	return "", c.answerThread(alg, plan, uid)
}

func (c *conn) parseAppend(p *parser) (string, error) {
	p.sp()
	name := p.astring()
	p.sp()
	var names []string
	if p.peek() == '(' {
		p.list(func() { names = append(names, p.flag()) })
		p.sp()
	}
	date := int64(0)
	if p.peek() == '"' {
		date = p.dateTime()
		p.sp()
	}
	body := p.literal()
	if err := p.end(); err != nil {
		return "", err
	}
	if len(body) == 0 {
		return "", refusal("an empty message")
	}
	uid, validity, err := c.appendMail(name, names, date, body)
	if err != nil {
		return "", err
	}
	code := appendUint([]byte("OK [APPENDUID "), uint64(validity))
	code = append(code, ' ')
	code = appendUint(code, uint64(uid))
	return string(append(code, "] "...)), nil
}

func (c *conn) parseCopy(p *parser, uid bool) (string, error) {
	p.sp()
	set := p.set()
	p.sp()
	name := p.astring()
	if err := p.end(); err != nil {
		return "", err
	}
	uids, err := c.chosen(set, uid)
	if err != nil || len(uids) == 0 {
		return "", err
	}
	validity, from, to, err := c.copyTo(uids, name)
	if err != nil || len(to) == 0 {
		return "", err
	}
	code := appendUint([]byte("OK [COPYUID "), uint64(validity))
	code = appendSet(append(code, ' '), from)
	code = appendSet(append(code, ' '), to)
	return string(append(code, "] "...)), nil
}

// appendSet appends numbers as a set in their order.
func appendSet(dst []byte, n []uint32) []byte {
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst = appendUint(dst, uint64(n[i])); j > i {
			dst = appendUint(append(dst, ':'), uint64(n[j]))
		}
		i = j + 1
	}
	return dst
}

// idlePoll is how often IDLE looks at the mail.
const idlePoll = 500 * time.Millisecond

// idle is IDLE (RFC 2177): it tells what happens until the client says DONE.
func (c *conn) idle(p *parser) (string, error) {
	if err := p.end(); err != nil {
		return "", err
	}
	c.print("+ idling\r\n")
	if err := c.w.Flush(); err != nil {
		return "", err
	}
	said := make(chan error, 1)
	go func() {
		line, err := c.r.r.ReadSlice('\n')
		if err == nil && !strings.EqualFold(strings.TrimRight(string(line), "\r\n"), "DONE") {
			err = bad("DONE is wanted")
		}
		said <- err
	}()
	tick := time.NewTicker(idlePoll)
	defer tick.Stop()
	for {
		select {
		case err := <-said:
			var wrong bad
			if err != nil && !errors.As(err, &wrong) {
				c.bye = true
				if errors.Is(err, io.EOF) {
					err = nil
				}
			}
			return "", err
		case <-tick.C:
			if err := c.hear(lookFully, true, nil); err != nil {
				c.w.Flush()
				<-said
				return "", err
			}
			if err := c.w.Flush(); err != nil {
				<-said
				return "", err
			}
		}
	}
}
