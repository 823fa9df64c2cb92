package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/index/tier"
	"mailbench/internal/temp"
)

// A reading is what clients ask by FETCH in one sample.
type reading struct {
	op     string // a value of readingOps
	key    string // of op header: the field
	pass   string // first: nothing is cached; again: the whole mailbox was asked for before
	fields string // Options.Fields
	index  string
	tier   string // kind of tier in front, "" without one
	share  int    // its size, in percent of all records
}

// fields are those that are asked for.
func (q reading) asked() []string {
	if q.op == "header" {
		return []string{q.key}
	}
	return index.EnvelopeFields
}

func (q reading) flags() bool { return q.op == "window" }

// A scene is a mailbox and the files of an index of it, for rows that only
// read it.
type scene struct {
	src   index.Source
	st    *stage
	files *temp.Set
	box   []uint32                          // UIDs that are there, ascending
	flags func() (map[uint32]string, error) // maildir letters by UID
	close func() error
}

// fresh is the corpus with an index that was made by one SELECT, then asked
// what prime asks.
func (r *Runner) freshScene(f *fixture, d index.Design, o index.Options, prime func(index.Mailbox) error) (*scene, error) {
	src, err := f.source(r.scratch)
	if err != nil {
		return nil, err
	}
	st, err := r.newStage("fetch")
	if err != nil {
		return nil, err
	}
	if err := settle(src); err != nil {
		return nil, err
	}
	if err := r.fill(d, src, st.dir, o, prime); err != nil {
		return nil, err
	}
	s := &scene{src: src, st: st, files: f.files, box: upTo(f.messages), flags: f.flagLetters}
	s.close = func() error { return joinClose(src.Close, st.close) }
	return s, st.reset()
}

// fetch: open, sync, then the calls of a sample, each answer put into a reply
// as a server does.
func fetch(d index.Design, q reading) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		o := index.Options{Fields: q.fields}
		s, err := r.freshScene(f, d, o, q.prime(f))
		if err != nil {
			return nil, err
		}
		return fetchJob(r, f, d, q, o, s)
	}
}

// prime asks for all that the row will ask for, after a THREAD. Clients come
// again: designs that keep a field only once it was asked for twice get both.
func (q reading) prime(f *fixture) func(index.Mailbox) error {
	if q.pass == "first" {
		return nil
	}
	return func(mb index.Mailbox) error {
		if _, err := threadLine(mb, "references", index.Search{}, nil); err != nil {
			return err
		}
		for range 2 {
			if err := fetchAgain(mb, q.asked()); err != nil {
				return err
			}
		}
		return nil
	}
}

// fetchAgain asks for fields of every message.
func fetchAgain(mb index.Mailbox, fields []string) error {
	var uids []uint32
	if err := mb.Messages(func(m index.Message) bool { uids = append(uids, m.UID); return true }); err != nil {
		return err
	}
	f, err := fetcher(mb)
	if err != nil {
		return err
	}
	return f.Fetch(uids, fields, func(uint32, [][]byte) error { return nil })
}

func fetcher(mb index.Mailbox) (index.Fetcher, error) {
	f, ok := mb.(index.Fetcher)
	if !ok {
		return nil, errors.New("the design says that it fetches, and its mailbox does not")
	}
	return f, nil
}

// fetchJob makes the row of a scene, which it closes.
func fetchJob(r *Runner, f *fixture, d index.Design, q reading, o index.Options, s *scene) (*job, error) {
	before, calls := q.calls(s.box)
	p := &player{q: q, calls: calls, last: s.box[len(s.box)-1], clocked: r.cfg.Metrics == "all"}
	want, err := wantFetched(r, f, p, s)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	j := &job{
		design: d.Name(), op: "fetch-" + q.op, messages: len(s.box), works: p.messages(),
		mails: temp.Warm, files: s.files, index: q.index, dir: s.st.work,
		check:   func() error { return wantDigest("FETCH "+q.op, corpus.AnswerDigest(p.reply), want) },
		metrics: func(*result) []metric { return p.percentiles() },
		close:   s.close,
	}
	var mb index.Mailbox
	if q.index == indexOpen {
		if mb, err = openDesign(d, s.src, s.st.work, o); err != nil {
			return nil, errors.Join(err, s.close())
		}
		j.close = func() error { return joinClose(mb.Close, s.close) }
		if q.tier != "" {
			return tierJob(j, p, mb, before)
		}
		if err := q.prime(f)(mb); err != nil {
			return nil, errors.Join(err, j.close())
		}
		j.run = func() error { return p.play(mb) }
		return j, nil
	}
	j.stage, j.reset = s.st, s.st.reset
	j.run = func() (err error) {
		if mb, err = openDesign(d, s.src, s.st.work, o); err != nil {
			return err
		}
		return p.play(mb)
	}
	j.after = func() error { return mb.Close() }
	return j, nil
}

// A player makes the calls of a sample and gathers the reply.
type player struct {
	q       reading
	calls   []tier.Call
	last    uint32 // the highest UID that can be asked for
	reply   []byte
	flags   []index.Flags // by UID
	clocked bool
	took    []time.Duration // of each call
}

// messages is how many are asked for in a sample.
func (p *player) messages() int {
	n := 0
	for _, c := range p.calls {
		n += len(c.UIDs)
	}
	return n
}

// play syncs and makes every call.
func (p *player) play(mb index.Mailbox) error {
	if _, err := mb.Sync(); err != nil {
		return err
	}
	f, err := fetcher(mb)
	if err != nil {
		return err
	}
	if p.q.flags() {
		if err := p.readFlags(mb); err != nil {
			return err
		}
	}
	p.reply = p.reply[:0]
	add := func(uid uint32, values [][]byte) error {
		letters := ""
		if p.q.flags() && int(uid) < len(p.flags) {
			letters = p.flags[uid].String()
		}
		p.reply = appendFetched(p.reply, uid, letters, values)
		return nil
	}
	var begin time.Time
	for _, c := range p.calls {
		if p.clocked {
			begin = time.Now()
		}
		if err := f.Fetch(c.UIDs, c.Fields, add); err != nil {
			return err
		}
		if p.clocked {
			p.took = append(p.took, time.Since(begin))
		}
	}
	return nil
}

// readFlags makes the view of the mailbox that a server makes at SELECT.
func (p *player) readFlags(mb index.Mailbox) error {
	if p.flags == nil {
		p.flags = make([]index.Flags, p.last+1)
	}
	return mb.Messages(func(m index.Message) bool {
		if m.UID > p.last {
			return false
		}
		p.flags[m.UID] = m.Flags
		return true
	})
}

// appendFetched appends a message of a reply: its values as IMAP literals.
func appendFetched(dst []byte, uid uint32, letters string, values [][]byte) []byte {
	dst = append(dst, "* FETCH (UID "...)
	dst = strconv.AppendUint(dst, uint64(uid), 10)
	dst = append(append(append(dst, " FLAGS ("...), letters...), ") ENVELOPE ("...)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if v == nil {
			dst = append(dst, "NIL"...)
			continue
		}
		dst = strconv.AppendInt(append(dst, '{'), int64(len(v)), 10)
		dst = append(append(dst, "}\r\n"...), v...)
	}
	return append(dst, "))\r\n"...)
}

// percentiles are those of single calls, of all samples together.
func (p *player) percentiles() []metric {
	if len(p.took) == 0 {
		return nil
	}
	slices.Sort(p.took)
	at := func(pct int) float64 { return float64(p.took[(len(p.took)-1)*pct/100].Nanoseconds()) }
	return []metric{{"p50-ns/fetch", at(50)}, {"p99-ns/fetch", at(99)}}
}

// wantFetched is the digest of the right reply to the player's calls.
func wantFetched(r *Runner, f *fixture, p *player, s *scene) (string, error) {
	var flags map[uint32]string
	if p.q.flags() {
		var err error
		if flags, err = s.flags(); err != nil {
			return "", err
		}
	}
	return f.truth.keep(callsName(p.calls, flags), func() (string, error) {
		plain, err := readPlainly(r, f)
		if err != nil {
			return "", err
		}
		defer plain.close()
		var reply []byte
		for _, c := range p.calls {
			for _, uid := range c.UIDs {
				values, err := plain.values(uid, c.Fields)
				if err != nil {
					return "", fmt.Errorf("uid %d: %w", uid, err)
				}
				reply = appendFetched(reply, uid, flags[uid], values)
			}
		}
		return corpus.AnswerDigest(reply), nil
	})
}
