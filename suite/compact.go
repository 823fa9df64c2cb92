package suite

import (
	"math/rand/v2"
	"os"
	"strings"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
	"mailbench/thread"
)

// compact: dead percent of the cached messages have been expunged, those that
// shape says. Rewrite the files without them; timed until that is on disk.
func compact(d index.Design, dead int, shape string) func(*Runner, *fixture) (*job, error) {
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
		var threads [][]uint32
		prime := func(mb index.Mailbox) (err error) {
			if err = primeAll(mb); err == nil && shape == "threads" {
				threads, err = threadsOf(mb)
			}
			return err
		}
		if err := r.fill(d, src, st.dir, index.Options{}, prime); err != nil {
			return nil, err
		}
		for _, i := range deadOnes(shape, len(m.home), dead, threads) {
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

// deadShapes are the values of shape= of compactions: which messages go.
var deadShapes = strings.Fields("random oldest threads")

// deadOnes draws dead percent of n messages: at random, the oldest, or whole
// threads, of which as many as fit. They are rows, counted from 0.
func deadOnes(shape string, n, dead int, threads [][]uint32) []int {
	k := n * dead / 100
	rnd := rand.New(rand.NewPCG(uint64(n), 11))
	switch shape {
	case "oldest":
		rows := make([]int, k)
		for i := range rows {
			rows[i] = i
		}
		return rows
	case "threads":
		var rows []int
		for _, t := range rnd.Perm(len(threads)) {
			if len(rows)+len(threads[t]) > k {
				continue
			}
			for _, uid := range threads[t] {
				rows = append(rows, int(uid)-1)
			}
		}
		return rows
	}
	return rnd.Perm(n)[:k]
}

// threadsOf lists the UIDs of each thread. They are the design's own answer,
// which other rows check: here it only says which mail goes together.
func threadsOf(mb index.Mailbox) ([][]uint32, error) {
	ans, err := mb.Thread(thread.References, index.Search{})
	if err != nil {
		return nil, err
	}
	var out [][]uint32
	open := int32(0) // nodes of the thread that are still to come
	for i, row := range ans.Forest.Row {
		if open == 0 {
			out, open = append(out, nil), 1
		}
		open += ans.Forest.Kids[i] - 1
		if row >= 0 {
			out[len(out)-1] = append(out[len(out)-1], ans.UID[row])
		}
	}
	return out, nil
}
