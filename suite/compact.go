package suite

import (
	"math/rand/v2"
	"os"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

// compact: dead percent of the cached messages have been expunged, drawn at
// random. Rewrite the files without them; timed until that is on disk.
func compact(d index.Design, dead int) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		m, err := r.live(f)
		if err != nil {
			return nil, err
		}
		clone := &fixture{path: m.path, kind: "maildir"}
		src, err := clone.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("compact")
		if err != nil {
			return nil, err
		}
		if err := r.fill(d, src, st.dir, index.Options{}, primeAll); err != nil {
			return nil, err
		}
		n := len(m.home)
		for _, i := range rand.New(rand.NewPCG(uint64(n), 11)).Perm(n)[:n*dead/100] {
			if err := m.put(i, ""); err != nil {
				return nil, err
			}
		}
		// Without a query in between: the answers are stale when it starts.
		if err := r.fill(d, src, st.dir, index.Options{}, nil); err != nil {
			return nil, err
		}
		left := m.present()
		want, err := f.truth.thread("references", left)
		if err != nil {
			return nil, err
		}
		var mb index.Mailbox
		var line []byte
		j := &job{design: d.Name(), op: "compact", messages: len(left), mails: temp.Warm, index: indexWarm, dir: st.work, reset: st.reset}
		j.run = func() (err error) {
			if mb, err = openDesign(d, src, st.work, index.Options{}); err != nil {
				return err
			}
			return mb.Compact()
		}
		j.check = func() (err error) {
			if line, err = threadLine(mb, "references", index.Search{}, line); err != nil {
				return err
			}
			return wantDigest("THREAD after compaction", corpus.AnswerDigest(line), want)
		}
		j.after = func() error { return mb.Close() }
		j.floor = func() (floor.Work, error) { return writeFloor(r.index, st.work) }
		j.close = func() error { return joinClose(src.Close, st.close, m.restore) }
		return j, nil
	}
}

// writeFloor writes as many bytes as the index directory holds, with one
// fsync.
func writeFloor(dir, like string) (floor.Work, error) {
	n, err := dirBytes(like)
	if err != nil {
		return floor.Work{}, err
	}
	name, w, err := floor.WriteSeq(dir, n, make([]byte, 1<<20))
	if err != nil {
		return w, err
	}
	return w, os.Remove(name)
}

// primeAll asks for everything that a design of the 2003 benchmark caches.
func primeAll(mb index.Mailbox) error {
	for _, q := range []query{{alg: "references", search: "all"}, {keys: "date", search: "all"}, {keys: "subject", search: "all"}} {
		if _, err := q.ask(mb, nil); err != nil {
			return err
		}
	}
	return nil
}
