package box

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/store"
	"mailbench/thread"
)

// A client knows what it has done: the mailbox must agree, whatever the others
// do meanwhile. Each client changes its own messages only, so its knowledge is
// exact.
type client struct {
	b      *Box
	r      *rand.Rand
	serial *atomic.Int64
	mine   map[uint32]*sent
	gone   map[uint32]bool
	last   uint32
}

type sent struct {
	serial   int
	flags    index.Flags
	keywords uint32
}

func newClient(b *Box, serial *atomic.Int64, seed uint64) *client {
	return &client{b: b, r: rand.New(rand.NewPCG(seed, 0xc11e27)), serial: serial, mine: map[uint32]*sent{}, gone: map[uint32]bool{}}
}

func (c *client) append() error {
	s := &sent{serial: int(c.serial.Add(1)), flags: index.Flags(c.r.IntN(64)), keywords: c.r.Uint32N(4)}
	uid, err := c.b.Append(store.Message{Body: letter(s.serial), Flags: s.flags, Keywords: s.keywords, Date: 1_600_000_000 + int64(s.serial)})
	if err != nil {
		return err
	}
	if uid <= c.last {
		return fmt.Errorf("uid %d after %d", uid, c.last)
	}
	c.last = uid
	c.mine[uid] = s
	return nil
}

// some draws one to three messages of its own.
func (c *client) some() []uint32 {
	uids := make([]uint32, 0, len(c.mine))
	for uid := range c.mine {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	c.r.Shuffle(len(uids), func(i, j int) { uids[i], uids[j] = uids[j], uids[i] })
	return uids[:min(len(uids), 1+c.r.IntN(3))]
}

func (c *client) flag() error {
	uids, flags := c.some(), index.Flags(c.r.IntN(64))
	var wrong error
	err := c.b.SetFlags(uids, func(uid uint32, old index.Flags, keywords uint32) (index.Flags, uint32) {
		s := c.mine[uid]
		if s.flags != old || s.keywords != keywords {
			wrong = fmt.Errorf("uid %d has flags %v and keywords %d, they were set to %v and %d", uid, old, keywords, s.flags, s.keywords)
		}
		s.flags, s.keywords = flags, keywords^1
		return s.flags, s.keywords
	})
	if err == nil {
		err = wrong
	}
	return err
}

func (c *client) expunge() error {
	uids := c.some()
	if err := c.b.Expunge(uids); err != nil {
		return err
	}
	for _, uid := range uids {
		delete(c.mine, uid)
		c.gone[uid] = true
	}
	return nil
}

func (c *client) read() error {
	for _, uid := range c.some() {
		body, err := c.b.Read(uid, nil)
		if err != nil {
			return err
		}
		if got := serialOf(body); got != c.mine[uid].serial {
			return fmt.Errorf("uid %d: read message %d, it was %d", uid, got, c.mine[uid].serial)
		}
	}
	return nil
}

// query asks the index for everything and holds it against what is known.
func (c *client) query() error {
	return c.b.Query(func(m index.Mailbox) error {
		found, last := 0, uint32(0)
		var wrong error
		err := m.Messages(func(msg index.Message) bool {
			s := c.mine[msg.UID]
			switch {
			case msg.UID <= last:
				wrong = fmt.Errorf("uid %d after %d", msg.UID, last)
			case c.gone[msg.UID]:
				wrong = fmt.Errorf("uid %d was expunged", msg.UID)
			case s != nil && (s.flags != msg.Flags || s.keywords != msg.Keywords):
				wrong = fmt.Errorf("uid %d has %v %d, want %v %d", msg.UID, msg.Flags, msg.Keywords, s.flags, s.keywords)
			case s != nil:
				found++
			}
			last = msg.UID
			return wrong == nil
		})
		if err == nil {
			err = wrong
		}
		if err == nil && found != len(c.mine) {
			err = fmt.Errorf("%d of %d messages found", found, len(c.mine))
		}
		if err != nil {
			return err
		}
		order, err := m.Sort([]mailsort.Criterion{{Key: mailsort.Date}}, index.Search{})
		if err == nil && len(order) != m.Status().Messages {
			err = fmt.Errorf("SORT gives %d of %d messages", len(order), m.Status().Messages)
		}
		if err != nil {
			return err
		}
		a, err := m.Thread(thread.References, index.Search{})
		if err == nil && len(a.UID) != m.Status().Messages {
			err = fmt.Errorf("THREAD gives %d of %d messages", len(a.UID), m.Status().Messages)
		}
		return err
	})
}

// run does ops at random, an append more often than the rest.
func (c *client) run(ops int) error {
	for range ops {
		do := c.append
		switch p := c.r.IntN(100); {
		case len(c.mine) == 0 || p < 50:
		case p < 70:
			do = c.flag
		case p < 82:
			do = c.expunge
		case p < 94:
			do = c.read
		default:
			do = c.query
		}
		if err := do(); err != nil {
			return err
		}
	}
	return c.query()
}

// together runs clients and holds the mailbox against all of them.
func together(t *testing.T, b *Box, clients, ops int) {
	t.Helper()
	var serial atomic.Int64
	var wg sync.WaitGroup
	cs := make([]*client, clients)
	for i := range cs {
		cs[i] = newClient(b, &serial, uint64(i))
		wg.Go(func() {
			if err := cs[i].run(ops); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	want := map[uint32]*sent{}
	for _, c := range cs {
		for uid, s := range c.mine {
			if want[uid] != nil {
				t.Errorf("uid %d was given twice", uid)
			}
			want[uid] = s
		}
	}
	agree(t, b, want)
}

// agree holds the mailbox against what it should hold, bytes and flags.
func agree(t *testing.T, b *Box, want map[uint32]*sent) {
	t.Helper()
	n := 0
	err := b.Query(func(m index.Mailbox) error {
		return m.Messages(func(msg index.Message) bool {
			n++
			s := want[msg.UID]
			if s == nil {
				t.Errorf("uid %d: nobody has it", msg.UID)
			} else if s.flags != msg.Flags || s.keywords != msg.Keywords {
				t.Errorf("uid %d has %v %d, want %v %d", msg.UID, msg.Flags, msg.Keywords, s.flags, s.keywords)
			}
			return !t.Failed()
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n != len(want) {
		t.Errorf("%d messages, want %d", n, len(want))
	}
	for uid, s := range want {
		body, err := b.Read(uid, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := serialOf(body); got != s.serial {
			t.Errorf("uid %d is message %d, want %d", uid, got, s.serial)
		}
	}
	check(t, b)
}

// everyFormat is each that there is, and one of this test's own.
func everyFormat() []store.Format {
	return append([]store.Format{&memory{spool: true}}, realFormats()...)
}

// waiting is p where the file layer decides whether the disk is waited for, and
// Never for a store whose engine does: tests of what is answered need not wait.
func waiting(f store.Format, p Fsync) Fsync {
	if f.Name() == "sql" {
		return Never
	}
	return p
}

// TestClients_200 is 200 clients that append, flag, expunge, read and ask.
func TestClients_200(t *testing.T) {
	design := everyDesign[0]
	for i, f := range everyFormat() {
		p, ops := waiting(f, policies[i%2]), 6 // always and group; never is group without waiting
		if long() {
			ops = 30
		}
		t.Run(f.Name()+"/"+p.String(), func(t *testing.T) {
			b := open(t, Config{Store: f, Design: design, FS: fsys.Unsynced(fsys.OS), Fsync: p, Cache: true})
			together(t, b, 200, ops)
		})
	}
}

// TestClients_one is one client at every store and design, the same each time.
func TestClients_one(t *testing.T) {
	for _, f := range everyFormat() {
		for _, d := range everyDesign {
			t.Run(f.Name()+"+"+d.Name(), func(t *testing.T) {
				b := open(t, Config{Store: f, Design: d, FS: quick, Fsync: Never, Cache: true})
				together(t, b, 1, 60)
			})
		}
	}
}

// TestClients_designs is fewer clients, at every design.
func TestClients_designs(t *testing.T) {
	for _, d := range everyDesign {
		for _, p := range policies {
			t.Run(d.Name()+"/"+p.String(), func(t *testing.T) {
				b := open(t, Config{Store: newMemory(), Design: d, FS: fsys.Unsynced(fsys.OS), Fsync: p, Cache: true, Options: unsynced(d, index.Options{})})
				together(t, b, 20, 10)
			})
		}
	}
}
