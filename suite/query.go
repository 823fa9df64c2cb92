package suite

import (
	"fmt"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
	mailsort "mailbench/sort"
)

// A query is one THREAD or SORT of a filled index.
type query struct {
	alg, keys              string // one of them
	pass                   string // first: asked once before in no process; again
	delta, search, answers string
	index                  string
}

// ask answers q on mb into dst's memory.
func (q query) ask(mb index.Mailbox, dst []byte) ([]byte, error) {
	s := index.Search{Kind: q.search}
	if q.alg != "" {
		return threadLine(mb, q.alg, s, dst)
	}
	crit, err := mailsort.ParseCriteria(q.keys)
	if err != nil {
		return dst, err
	}
	uids, err := mb.Sort(crit, s)
	if err != nil {
		return dst, err
	}
	defer formatting().End()
	return mailsort.AppendIMAP(dst[:0], uids), nil
}

// want is the digest of the right answer on the messages of box that q
// selects; nil is everything.
func (q query) want(f *fixture, box []uint32) (string, error) {
	uids, err := q.selected(f, box)
	if err != nil {
		return "", err
	}
	if q.alg != "" {
		return f.truth.thread(q.alg, uids)
	}
	return f.truth.sort(q.keys, uids)
}

// selected applies q's search to box, by the flags in the file names.
func (q query) selected(f *fixture, box []uint32) ([]uint32, error) {
	if q.search == "all" {
		return box, nil
	}
	if box == nil {
		box = upTo(f.messages)
	}
	if q.search == "recent" {
		return box[max(0, len(box)-1000):], nil
	}
	deleted, err := f.deleted()
	if err != nil {
		return nil, err
	}
	out := make([]uint32, 0, len(box))
	for _, u := range box {
		if !deleted[u] {
			out = append(out, u)
		}
	}
	return out, nil
}

func upTo(n int) []uint32 {
	uids := make([]uint32, n)
	for i := range uids {
		uids[i] = uint32(i + 1)
	}
	return uids
}

// answerAgain: THREAD or SORT of what is cached. Open, sync, answer, format;
// with a delta before it, the sync takes it in and is part of the time.
func answerAgain(d index.Design, q query) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		if q.delta != "none" {
			return answerAfterDelta(r, f, d, q)
		}
		want, err := q.want(f, nil)
		if err != nil {
			return nil, err
		}
		src, err := f.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("again")
		if err != nil {
			return nil, err
		}
		o := index.Options{Answers: q.answers}
		if err := settle(src); err != nil {
			return nil, err
		}
		if err := r.fill(d, src, st.dir, o, q.prime); err != nil {
			return nil, err
		}
		if err := st.reset(); err != nil {
			return nil, err
		}
		return againJob(f, d, q, src, st, o, want)
	}
}

// prime asks what was asked before the row: THREAD REFERENCES, which fills the
// cache, and the row's own query when it is asked again.
func (q query) prime(mb index.Mailbox) error {
	line, err := threadLine(mb, "references", index.Search{}, nil)
	if err == nil && q.pass != "first" {
		_, err = q.ask(mb, line)
	}
	return err
}

func againJob(f *fixture, d index.Design, q query, src index.Source, st *stage, o index.Options, want string) (*job, error) {
	var (
		mb   index.Mailbox
		line []byte
		err  error
	)
	if q.index == indexOpen {
		if mb, err = openDesign(d, src, st.work, o); err != nil {
			return nil, err
		}
		if err := q.prime(mb); err != nil {
			return nil, err
		}
	}
	j := &job{
		design: d.Name(), op: q.op(), messages: f.messages,
		mails: temp.Warm, files: f.files, index: q.index, dir: st.work,
		run: func() (err error) {
			if q.index != indexOpen {
				if mb, err = openDesign(d, src, st.work, o); err != nil {
					return err
				}
			}
			if _, err = mb.Sync(); err != nil {
				return err
			}
			line, err = q.ask(mb, line)
			return err
		},
		check: func() error { return wantDigest(q.what(), corpus.AnswerDigest(line), want) },
	}
	var scratch []byte
	j.floor = func() (floor.Work, error) {
		var w floor.Work
		scratch, w = floor.Format(scratch, q.answerSize(f))
		return w, nil
	}
	if q.index == indexOpen {
		j.handle = func() index.Mailbox { return mb }
		j.close = func() error { return joinClose(mb.Close, src.Close, st.close) }
		return j, nil
	}
	j.stage, j.reset = st, st.reset
	j.after = func() error { return mb.Close() }
	j.close = func() error { return joinClose(src.Close, st.close) }
	return j, nil
}

func (q query) answerSize(f *fixture) int {
	if q.search == "recent" {
		return min(1000, f.messages)
	}
	return f.messages / 2 // undeleted keeps more; a floor must not promise too much
}

func (q query) op() string {
	if q.alg != "" {
		return "thread-again"
	}
	return "sort-" + q.keys
}

func (q query) what() string {
	if q.alg != "" {
		return fmt.Sprintf("THREAD %s search=%s delta=%s", q.alg, q.search, q.delta)
	}
	return fmt.Sprintf("SORT (%s) search=%s delta=%s", q.keys, q.search, q.delta)
}
