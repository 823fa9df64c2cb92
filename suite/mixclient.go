package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/mime"
	mailsort "mailbench/sort"
	"mailbench/store/box"
	"mailbench/thread"
)

// A mixClient is one IMAP session after the other. What it draws depends on
// its own seed alone.
type mixClient struct {
	box    *box.Box
	model  *mixModel
	rnd    *rand.Rand
	dir    string // of the mailbox, whose parent LIST looks at
	target int    // messages that the mailbox is kept at
	logout int    // percent
	state  mixState
	mine   []letter // to append
	used   int

	selected bool
	view     []seen // as of the last look
	next     uint32 // UIDNEXT, which only rises
	modseq   uint64
	last     uint32 // the last UID that an append of its own was given
	buf      []byte
	deleted  []uint32
}

// storeFlags are what STORE sets, takes and adds: all but \Deleted.
const storeFlags = index.FlagSeen | index.FlagAnswered | index.FlagFlagged | index.FlagDraft

// mixFields are the header fields that FETCH asks for, besides ENVELOPE.
var mixFields = []string{"From", "To", "Cc", "Subject", "References", "In-Reply-To", "Message-ID", "Delivered-To"}

// step does the client's next command. done is false if there was nothing to do
// it on. check, which may be nil, compares what was answered with the model: it
// is no part of the command.
func (c *mixClient) step() (state mixState, done bool, check func() error, err error) {
	c.state = nextState(c.rnd, c.state, c.logout)
	state = c.state
	draw := rand.New(rand.NewPCG(c.rnd.Uint64(), c.rnd.Uint64())) // what one command draws moves no other
	if mixStates[state].selected && (!c.selected || len(c.view) == 0) {
		return state, false, nil, nil
	}
	switch state {
	case mixLogin:
		done = true
	case mixLogout:
		c.selected, c.view, done = false, nil, true
	case mixList:
		_, err = os.ReadDir(filepath.Dir(c.dir))
		done = true
	case mixStatus:
		done, check, err = c.status()
	case mixSelect:
		if !c.selected {
			done, check, err = c.look()
			c.selected = err == nil
		}
	case mixFetch:
		done, check, err = c.fetch(draw)
	case mixFetch2:
		done, check, err = c.fetch2(draw)
	case mixSort:
		done, check, err = c.sort(draw)
	case mixThread:
		done, check, err = c.thread()
	case mixStore:
		done, err = c.store(draw)
	case mixDelete:
		done, err = c.delete(draw)
	case mixExpunge:
		done, check, err = c.expunge()
	case mixAppend:
		done, check, err = c.append()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", mixStates[state].short, err)
	}
	return state, done, check, err
}

func (c *mixClient) rising(st index.Status) error {
	if st.UIDNext < c.next || st.HighestModSeq < c.modseq {
		return fmt.Errorf("UIDNEXT %d and HIGHESTMODSEQ %d after %d and %d", st.UIDNext, st.HighestModSeq, c.next, c.modseq)
	}
	c.next, c.modseq = st.UIDNext, st.HighestModSeq
	return nil
}

func (c *mixClient) status() (bool, func() error, error) {
	var st index.Status
	err := c.box.Query(func(m index.Mailbox) error {
		st = m.Status()
		return nil
	})
	return true, func() error { return c.rising(st) }, err
}

// look lists UIDs and flags: what SELECT and a client's first question tell.
func (c *mixClient) look() (bool, func() error, error) {
	begun := c.model.now()
	var st index.Status
	var view []seen
	err := c.box.Query(func(m index.Mailbox) error {
		st = m.Status()
		view = make([]seen, 0, st.Messages)
		return m.Messages(func(msg index.Message) bool {
			view = append(view, seen{msg.UID, msg.Flags, msg.Keywords})
			return true
		})
	})
	c.view = view
	return true, func() error {
		if len(view) != st.Messages {
			return fmt.Errorf("%d messages are listed, the status counts %d", len(view), st.Messages)
		}
		return errors.Join(c.model.listed(view, begun), c.rising(st))
	}, err
}

// some draws at most n different messages of the view, ascending.
func (c *mixClient) some(draw *rand.Rand, n int) []uint32 {
	uids := make([]uint32, 0, n)
	for range n {
		uids = append(uids, c.view[draw.IntN(len(c.view))].uid)
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

// fetch: FETCH of up to 100 messages drawn at random, of one to four things.
func (c *mixClient) fetch(draw *rand.Rand) (bool, func() error, error) {
	uids := c.some(draw, min(len(c.view), 100))
	fields := drawFields(draw)
	probe := uids[draw.IntN(len(uids))]
	var got [][]byte
	var unknown []uint32 // whose BODYSTRUCTURE is not cached
	last := uint32(0)
	err := c.box.Query(func(m index.Mailbox) error {
		got, unknown, last = nil, unknown[:0], 0
		f, ok := m.(index.Fetcher)
		if !ok {
			return errors.New("the design answers no FETCH")
		}
		return f.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
			if uid <= last {
				return fmt.Errorf("UID %d is fetched behind %d", uid, last)
			}
			if last = uid; uid == probe {
				for _, v := range values {
					got = append(got, bytes.Clone(v))
				}
				got = append(got, nil) // fetched, if it has no fields too
			}
			if at := slices.Index(fields, index.BodyStructureField); at >= 0 && values[at] == nil {
				unknown = append(unknown, uid)
			}
			return nil
		})
	})
	if err == nil {
		err = c.structures(unknown)
	}
	return true, func() error {
		l, mayBeGone := c.model.letterOf(probe)
		switch {
		case got == nil && !mayBeGone:
			return fmt.Errorf("UID %d is not fetched", probe)
		case got == nil || l == nil:
			return nil
		}
		header := headerLines(l.Body)
		for i, name := range fields {
			want := plainField(header, name)
			if name == index.BodyStructureField {
				if want = mime.AppendBodyStructure(nil, l.Body); got[i] == nil {
					want = nil
				}
			}
			if !bytes.Equal(got[i], want) || (got[i] == nil) != (want == nil) {
				return fmt.Errorf("UID %d: %s is %q, want %q", probe, name, got[i], want)
			}
		}
		return nil
	}, err
}

// drawFields draws one to four of what FETCH asks for: three of four times one
// of UID, FLAGS, INTERNALDATE, RFC822.SIZE, ENVELOPE, BODY and BODYSTRUCTURE, of
// which the first four need no field of the message, else up to four header
// fields.
func drawFields(draw *rand.Rand) []string {
	var fields []string
	for range 1 + draw.IntN(4) {
		if draw.IntN(4) != 0 {
			switch draw.IntN(7) {
			case 0:
				fields = append(fields, index.EnvelopeFields...)
			case 1, 2:
				fields = append(fields, index.BodyStructureField)
			}
			continue
		}
		for range 1 + draw.IntN(4) {
			fields = append(fields, mixFields[draw.IntN(len(mixFields))])
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// structures reads messages whole and makes their BODYSTRUCTURE, as a server
// does that has it of no cache.
func (c *mixClient) structures(uids []uint32) error {
	var text []byte
	for _, uid := range uids {
		body, err := c.box.Read(uid, c.buf)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		c.buf = body
		text = mime.AppendBodyStructure(text[:0], body)
	}
	return nil
}

// fetch2: FETCH of the whole of one message.
func (c *mixClient) fetch2(draw *rand.Rand) (bool, func() error, error) {
	uid := c.view[draw.IntN(len(c.view))].uid
	body, err := c.box.Read(uid, c.buf)
	if errors.Is(err, fs.ErrNotExist) {
		return true, func() error {
			if _, mayBeGone := c.model.letterOf(uid); !mayBeGone {
				return fmt.Errorf("UID %d cannot be read: %w", uid, err)
			}
			return nil
		}, nil
	}
	if err != nil {
		return true, nil, err
	}
	c.buf = body
	return true, func() error {
		if l, _ := c.model.letterOf(uid); l != nil && xxhash.Sum64(body) != l.sum {
			return fmt.Errorf("UID %d is another message: %d bytes, want %d", uid, len(body), len(l.Body))
		}
		return nil
	}, nil
}

// sort: SORT (SUBJECT) of all or of the flagged messages.
func (c *mixClient) sort(draw *rand.Rand) (bool, func() error, error) {
	flagged := draw.IntN(2) != 0
	var got, among []uint32
	err := c.box.Query(func(m index.Mailbox) error {
		s := index.Search{}
		among = among[:0]
		if err := m.Messages(func(msg index.Message) bool {
			if !flagged || msg.Flags&index.FlagFlagged != 0 {
				among = append(among, msg.UID)
			}
			return true
		}); err != nil {
			return err
		}
		if flagged {
			s = index.Search{Kind: "uids", UIDs: among}
		}
		uids, err := m.Sort([]mailsort.Criterion{{Key: mailsort.Subject}}, s)
		got = slices.Clone(uids)
		return err
	})
	return true, func() error {
		slices.Sort(got)
		if !slices.Equal(got, among) {
			return fmt.Errorf("%d messages in order, want the %d that there are, each once", len(got), len(among))
		}
		return nil
	}, err
}

// thread: THREAD REFERENCES of all messages, formatted.
func (c *mixClient) thread() (bool, func() error, error) {
	var line []byte
	n := 0
	err := c.box.Query(func(m index.Mailbox) error {
		n = m.Status().Messages
		a, err := m.Thread(thread.References, index.Search{})
		if err == nil {
			line = a.AppendIMAP(nil)
		}
		return err
	})
	return true, func() error {
		if got := len(bytes.FieldsFunc(line, func(r rune) bool { return r < '0' || r > '9' })); got != n {
			return fmt.Errorf("%d messages in threads, want %d", got, n)
		}
		return nil
	}, err
}

// store: STORE of up to 50 messages drawn at random, but no more than a fifth
// of all: flags are added, taken, or set.
func (c *mixClient) store(draw *rand.Rand) (bool, error) {
	most := len(c.view)
	if most >= 10 {
		most = min(most/5, 50)
	}
	how, flags, keyword := draw.IntN(3), index.Flags(draw.Uint32())&storeFlags, uint32(1)<<draw.IntN(5)
	n := draw.IntN(most)
	if n == 0 {
		return false, nil
	}
	return true, c.change(c.some(draw, n), func(f index.Flags, k uint32) (index.Flags, uint32) {
		switch how {
		case 0:
			return f | flags, k | keyword
		case 1:
			return f &^ flags, k &^ keyword
		}
		return f&^storeFlags | flags, keyword
	})
}

// delete: STORE +FLAGS \Deleted of some: so many that the mailbox comes back to
// its size if it has outgrown it, else less than five.
func (c *mixClient) delete(draw *rand.Rand) (bool, error) {
	n := draw.IntN(5)
	if over := len(c.view) - c.target; over > 5 {
		n = draw.IntN(over)
	}
	if n == 0 {
		return false, nil
	}
	return true, c.change(c.some(draw, n), func(f index.Flags, k uint32) (index.Flags, uint32) { return f | index.FlagDeleted, k })
}

func (c *mixClient) change(uids []uint32, to func(index.Flags, uint32) (index.Flags, uint32)) error {
	var wrong error
	var touched []uint32
	err := c.box.SetFlags(uids, func(uid uint32, old index.Flags, oldKeywords uint32) (index.Flags, uint32) {
		flags, keywords := to(old, oldKeywords)
		if err := c.model.changing(uid, old, flags, oldKeywords, keywords); err != nil {
			wrong = errors.Join(wrong, err)
		}
		touched = append(touched, uid)
		return flags, keywords
	})
	c.model.changed(touched)
	return errors.Join(err, wrong)
}

// expunge: EXPUNGE of what is \Deleted, and a look at what is left.
func (c *mixClient) expunge() (bool, func() error, error) {
	c.deleted = c.deleted[:0]
	if err := c.box.Query(func(m index.Mailbox) error {
		c.deleted = c.deleted[:0]
		return m.Messages(func(msg index.Message) bool {
			if msg.Flags&index.FlagDeleted != 0 {
				c.deleted = append(c.deleted, msg.UID)
			}
			return true
		})
	}); err != nil {
		return true, nil, err
	}
	if len(c.deleted) > 0 {
		c.model.expunging(c.deleted)
		if err := c.box.Expunge(c.deleted); err != nil {
			return true, nil, err
		}
		c.model.expunged(c.deleted)
	}
	return c.look()
}

// append: APPEND, unless the mailbox has its size.
func (c *mixClient) append() (bool, func() error, error) {
	if c.used == len(c.mine) || c.selected && len(c.view) >= c.target {
		return false, nil, nil
	}
	l := &c.mine[c.used]
	c.used++
	uid, err := c.box.Append(l.Message)
	if err != nil {
		return true, nil, err
	}
	if uid <= c.last {
		return true, nil, fmt.Errorf("UID %d after %d", uid, c.last)
	}
	c.last = uid
	return true, func() error { return c.model.appended(uid, l) }, nil
}
