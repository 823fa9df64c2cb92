package session

import (
	"slices"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A plan is a search program, and the fields that its header keys want.
type plan struct {
	root   *node
	fields []string
}

// results are the messages that a program finds: their UIDs, ascending.
func (c *conn) search(p *plan) ([]uint32, error) {
	v := c.view
	var found []uint32
	var open []candidate
	// What the rows decide.
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		found, open = found[:0], open[:0]
		r := &v.f.rows
		at := 0
		for i, uid := range v.uid {
			for at < len(r.uid) && r.uid[at] < uid {
				at++
			}
			if at == len(r.uid) || r.uid[at] != uid {
				continue
			}
			cand := candidate{mail: mail{seq: uint32(i + 1), uid: uid, flags: r.flags[at], words: r.keywords[at]}, size: -1}
			switch verdict, _ := p.root.judge(&cand, levelRow); verdict {
			case yes:
				found = append(found, uid)
			case unknown:
				open = append(open, cand)
			}
		}
		return nil
	})
	if err != nil || len(open) == 0 {
		return found, err
	}
	for len(open) > 0 {
		n := min(chunk, len(open))
		if found, err = c.decide(p, open[:n], found); err != nil {
			return nil, err
		}
		open = open[n:]
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}

// decide appends the UIDs of those among open that are found.
func (c *conn) decide(p *plan, open []candidate, found []uint32) ([]uint32, error) {
	v := c.view
	var left []candidate
	before := len(found)
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		left, found = left[:0], found[:before]
		uids := make([]uint32, 0, len(open))
		for i := range open {
			row, ok := v.f.rows.find(open[i].uid)
			if !ok {
				continue
			}
			left = append(left, open[i])
			if err := v.f.entryOf(row, &left[len(left)-1].mail); err != nil {
				return err
			}
			uids = append(uids, open[i].uid)
		}
		f, ok := m.(index.Fetcher)
		if !ok || len(p.fields) == 0 {
			return nil
		}
		rest, at := left[:0], 0
		err := f.Fetch(uids, p.fields, func(uid uint32, values [][]byte) error {
			for left[at].uid != uid { // it has no fields: it is gone
				rest = append(rest, left[at])
				at++
			}
			cand := left[at]
			at++
			cand.values, cand.s = values, &c.mail
			switch verdict, _ := p.root.judge(&cand, levelFields); verdict {
			case yes:
				found = append(found, uid)
			case unknown:
				cand.values = nil // valid until here
				rest = append(rest, cand)
			}
			return nil
		})
		left = append(rest, left[at:]...)
		return err
	})
	if err != nil || len(left) == 0 {
		return found, err
	}
	if err := v.f.ready(false); err != nil {
		return nil, err
	}
	defer v.f.life.RUnlock()
	src := v.f.source()
	learnt := map[uint32]int64{}
	defer func() { v.f.learn(learnt) }()
	for i := range left {
		cand := &left[i]
		cand.src, cand.s, cand.size = src, &c.mail, cand.vsize
		verdict, err := p.root.judge(cand, levelMail)
		if err != nil {
			return nil, err
		}
		if cand.size >= 0 && cand.vsize < 0 && cand.entry.VSize < 0 {
			learnt[cand.uid] = cand.size
		}
		if verdict == yes {
			found = append(found, cand.uid)
		}
	}
	return found, nil
}

// answerSearch is SEARCH.
func (c *conn) answerSearch(p *plan, uid bool) error {
	found, err := c.search(p)
	if err != nil {
		return err
	}
	out := append(c.out[:0], "* SEARCH"...)
	at := 0
	for _, u := range found {
		if !uid {
			for at < len(c.view.uid) && c.view.uid[at] < u {
				at++
			}
			u = uint32(at + 1)
		}
		out = append(out, ' ')
		out = appendUint(out, uint64(u))
	}
	c.out = append(out, "\r\n"...)
	c.w.Write(c.out)
	return nil
}

// selection is what the index is asked about: everything when the view is what
// the index says, else the messages that the program finds. ask is called with
// it, alone with the index.
func (c *conn) selection(p *plan, ask func(m index.Mailbox, s index.Search) error) error {
	v := c.view
	if p.root.all() || p.root.undeleted() {
		s := index.Search{Kind: "all"}
		if !p.root.all() {
			s.Kind = "undeleted"
		}
		done := false
		err := v.f.ask(lookNot, func(m index.Mailbox) error {
			if done = v.current(); !done {
				return nil
			}
			return ask(m, s)
		})
		if err != nil || done {
			return err
		}
	}
	found, err := c.search(p)
	if err != nil {
		return err
	}
	return v.f.ask(lookNot, func(m index.Mailbox) error {
		return ask(m, index.Search{Kind: "uids", UIDs: found})
	})
}

// answerThread is THREAD: the index's answer, as it is with uid.
func (c *conn) answerThread(alg thread.Alg, p *plan, uid bool) error {
	err := c.selection(p, func(m index.Mailbox, s index.Search) error {
		ans, err := m.Thread(alg, s)
		if err != nil {
			return err
		}
		if uid {
			c.out = ans.AppendIMAP(c.out[:0])
			return nil
		}
		if err := c.view.load(m); err != nil {
			return err
		}
		c.out = ans.Forest.AppendIMAP(c.out[:0], c.view.seqs(ans.UID))
		return nil
	})
	return c.big(err)
}

// answerSort is SORT.
func (c *conn) answerSort(crit []mailsort.Criterion, p *plan, uid bool) error {
	err := c.selection(p, func(m index.Mailbox, s index.Search) error {
		uids, err := m.Sort(crit, s)
		if err != nil {
			return err
		}
		if !uid {
			if err := c.view.load(m); err != nil {
				return err
			}
			uids = c.view.seqs(uids)
		}
		c.out = mailsort.AppendIMAP(c.out[:0], uids)
		return nil
	})
	return c.big(err)
}

// big writes c.out as a line.
func (c *conn) big(err error) error {
	if err != nil {
		return err
	}
	c.w.Write(c.out)
	c.print("\r\n")
	return nil
}

// seqs are the sequence numbers of UIDs, 0 for one that the view does not have.
// O(UIDs) where they are dense, as they mostly are, else O(UIDs log messages).
func (v *view) seqs(uids []uint32) []uint32 {
	out := make([]uint32, len(uids))
	n := len(v.uid)
	if n == 0 {
		return out
	}
	if last := v.uid[n-1]; len(uids) > n/8 && uint64(last) < 8*uint64(n)+1024 {
		table := make([]uint32, last+1)
		for i, uid := range v.uid {
			table[uid] = uint32(i + 1)
		}
		for i, uid := range uids {
			if uid <= last {
				out[i] = table[uid]
			}
		}
		return out
	}
	for i, uid := range uids {
		if seq, ok := v.seq(uid); ok {
			out[i] = seq
		}
	}
	return out
}
