package suite

import (
	"cmp"
	"fmt"
	"strings"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
	"mailbench/thread"
)

// What a grown index has seen after its bulk load, half of a small mailbox's
// messages: two deliveries and two changes of flags for each expunge, in so
// many syncs.
const (
	grownEvents = 10_000
	grownSyncs  = 100
)

// aged gives a row the mailbox and index of age=grown: loaded with a part of
// the corpus by one SELECT and THREAD, then in use: mail came, was read and
// expunged, queries came in between, and twice a query asked for fields that
// the older records did not have. In the end everything was asked for that
// the rows ask again.
func (r *Runner) aged(f *fixture, d index.Design, o index.Options) (*scene, error) {
	s, _, err := r.pastOf(f, strings.Join([]string{"grown", d.Name(), o.Fields, o.Answers}, " "), func(m *live, p *past) error {
		return r.age(d, o, m, p)
	})
	return s, err
}

func (r *Runner) age(d index.Design, o index.Options, m *live, p *past) error {
	n := len(m.home)
	events := max(1, min(grownEvents, n/2))
	come, leave := events*2/5, events/5
	for i := n - come; i < n; i++ {
		if err := m.put(i, ""); err != nil {
			return err
		}
	}
	clone := &fixture{path: m.path, kind: "maildir"}
	src, err := clone.source(r.scratch)
	if err != nil {
		return err
	}
	defer src.Close()
	h := newHistory(m, 31)
	if err := r.fill(d, src, p.dir, o, askThread); err != nil {
		return err
	}
	next := n - come
	part := func(total, k int) int { return total*(k+1)/grownSyncs - total*k/grownSyncs }
	for k := range grownSyncs {
		for _, i := range h.draw(part(events-come-leave, k)) {
			if err := h.flag(i); err != nil {
				return err
			}
		}
		for _, i := range h.draw(min(part(leave, k), len(h.there)-1)) {
			if err := h.expunge(i); err != nil {
				return err
			}
		}
		// Last: what comes and goes between two looks never has a UID.
		for range part(come, k) {
			if err := h.deliver(next); err != nil {
				return err
			}
			next++
		}
		if err := r.visit(d, src, p.dir, o, h, grownQuery(d, k)); err != nil {
			return err
		}
	}
	if err := h.keep(p); err != nil {
		return err
	}
	if err := settle(src); err != nil {
		return err
	}
	return r.visit(d, src, p.dir, o, h, func(mb index.Mailbox) error { return askAll(d, mb) })
}

// visit opens the index, syncs, asks and closes: a session.
func (r *Runner) visit(d index.Design, src index.Source, dir string, o index.Options, h *history, ask func(index.Mailbox) error) error {
	mb, err := openDesign(d, src, dir, o)
	if err != nil {
		return err
	}
	if err = h.sync(mb); err == nil && ask != nil {
		err = ask(mb)
	}
	return joinClose(func() error { return err }, mb.Close)
}

// grownQuery is what session k of a grown index asks.
func grownQuery(d index.Design, k int) func(index.Mailbox) error {
	switch {
	case k == grownSyncs/3: // a client that sorts
		return primeAll
	case k == grownSyncs*2/3 && index.AxesOf(d).Fetches: // and one that shows lists
		return func(mb index.Mailbox) error { return fetchAgain(mb, index.EnvelopeFields) }
	case k%10 == 9:
		return askThread
	}
	return nil
}

func askThread(mb index.Mailbox) error {
	_, err := mb.Thread(thread.References, index.Search{})
	return err
}

func askAll(d index.Design, mb index.Mailbox) error {
	err := primeAll(mb)
	if err == nil && index.AxesOf(d).Fetches {
		err = fetchAgain(mb, index.EnvelopeFields)
	}
	return err
}

// ageRows are rows of age=grown. A row without the axis is fresh.
func ageRows(d index.Design, ax index.Axes) []Row {
	var rows []Row
	add := func(bench string, prepare func(*Runner, *fixture) (*job, error), kv ...string) {
		rows = append(rows, Row{bench, params(append(kv, "design", d.Name(), "age", "grown", "mails", "warm", "index", indexWarm)...), false, prepare})
	}
	add("SelectAgain", grownSelect(d))
	answers := orNone(ax.Answers)[0]
	q := query{delta: "none", search: "all", answers: answers, index: indexWarm, pass: "again"}
	q.alg = "references"
	add("ThreadAgain", grownAnswer(d, q), "delta", q.delta, "search", q.search, "answers", answers)
	q.alg, q.keys = "", "date"
	add("SortDate", grownAnswer(d, q), "pass", q.pass, "delta", q.delta, "search", q.search, "answers", answers)
	if ax.Compacts {
		add("Compact", grownCompact(d))
	}
	if ax.Fetches {
		q := reading{op: "window", pass: "again", fields: envelopeFirst(ax.Fields)[0], index: indexWarm}
		add("Fetch", grownFetch(d, q), "op", q.op, "fields", q.fields, "pass", q.pass)
	}
	return rows
}

func grownSelect(d index.Design) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		s, err := r.aged(f, d, index.Options{})
		if err != nil {
			return nil, err
		}
		flags, err := s.flags()
		if err != nil {
			return nil, err
		}
		var mb index.Mailbox
		var change index.Changes
		return &job{
			design: d.Name(), op: "select-again", messages: len(s.box),
			mails: temp.Warm, files: s.files, index: indexWarm, dir: s.st.work, reset: s.st.reset,
			run: func() (err error) {
				if mb, err = openDesign(d, s.src, s.st.work, index.Options{}); err != nil {
					return err
				}
				change, err = mb.Sync()
				_ = mb.Status()
				return err
			},
			check: func() error {
				st := mb.Status()
				if st.Messages != len(s.box) || int(st.UIDNext) != f.messages+1 || change.Added+change.Removed+change.Flagged+change.Moved != 0 || change.Rebuilt {
					return fmt.Errorf("select again: %+v after %+v; want %d messages, UIDNEXT %d and no change", st, change, len(s.box), f.messages+1)
				}
				return sameMessages(mb, s.box, flags)
			},
			after: func() error { return mb.Close() },
			close: s.close,
		}, nil
	}
}

// sameMessages compares UIDs and flags with what the files are.
func sameMessages(mb index.Mailbox, box []uint32, flags map[uint32]string) error {
	i := 0
	var bad error
	err := mb.Messages(func(m index.Message) bool {
		switch {
		case i >= len(box) || m.UID != box[i]:
			bad = fmt.Errorf("message %d has UID %d, want %d", i+1, m.UID, box[min(i, len(box)-1)])
		case m.Flags.String() != flags[m.UID]:
			bad = fmt.Errorf("UID %d has flags %v, want %s", m.UID, m.Flags, flags[m.UID])
		}
		i++
		return bad == nil
	})
	if err = cmp.Or(err, bad); err == nil && i != len(box) {
		err = fmt.Errorf("%d messages, want %d", i, len(box))
	}
	return err
}

func grownAnswer(d index.Design, q query) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		o := index.Options{Answers: q.answers}
		s, err := r.aged(f, d, o)
		if err != nil {
			return nil, err
		}
		want, err := q.want(f, s.box)
		if err != nil {
			return nil, joinClose(func() error { return err }, s.close)
		}
		older := *f
		older.files, older.messages = s.files, len(s.box)
		j, err := againJob(&older, d, q, s.src, s.st, o, want)
		if err != nil {
			return nil, joinClose(func() error { return err }, s.close)
		}
		j.stage, j.close = nil, s.close // a process of its own would need the whole past
		return j, nil
	}
}

func grownCompact(d index.Design) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		s, err := r.aged(f, d, index.Options{})
		if err != nil {
			return nil, err
		}
		want, err := f.truth.thread("references", s.box)
		if err != nil {
			return nil, joinClose(func() error { return err }, s.close)
		}
		var mb index.Mailbox
		var line []byte
		return &job{
			design: d.Name(), op: "compact", messages: len(s.box), mails: temp.Warm, index: indexWarm, dir: s.st.work, reset: s.st.reset,
			run: func() (err error) {
				if mb, err = openDesign(d, s.src, s.st.work, index.Options{}); err != nil {
					return err
				}
				return mb.Compact()
			},
			check: func() (err error) {
				if line, err = threadLine(mb, "references", index.Search{}, line); err != nil {
					return err
				}
				return wantDigest("THREAD after compaction", corpus.AnswerDigest(line), want)
			},
			after: func() error { return mb.Close() },
			floor: func() (floor.Work, error) { return writeFloor(r.index, s.st.work) },
			close: s.close,
		}, nil
	}
}

func grownFetch(d index.Design, q reading) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		o := index.Options{Fields: q.fields}
		s, err := r.aged(f, d, o)
		if err != nil {
			return nil, err
		}
		j, err := fetchJob(r, f, d, q, o, s)
		if err == nil {
			j.stage = nil // a process of its own would need the whole past
		}
		return j, err
	}
}
