package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/bar"
	"mailbench/internal/meter"
	"mailbench/internal/temp"
)

// A growSize is a mailbox of BenchmarkGrow: a corpus of its own, list-shaped
// headers with bodies of one line, kept beside the others.
type growSize struct {
	name     string // value of msgs=
	messages int
	fresh    int // in the fresh process
}

var growSizes = []growSize{{"1k", 1000, 100}, {"10k", 10_000, 200}, {"100k", 100_000, 300}, {"1M", 1_000_000, 400}}

// growRows run each operation on mailboxes of growing size, the small ones
// first, all designs of one size before the next: there is one corpus and one
// clone of it at a time.
func growRows(ds []index.Design) []Row {
	var rows []Row
	for _, size := range growSizes {
		for _, d := range ds {
			ax := index.AxesOf(d)
			add := func(op string, prepare func(*Runner, *fixture) (*job, error), ix string) {
				ps := params("design", d.Name(), "op", op, "mails", "warm", "index", ix, "msgs", size.name)
				rows = append(rows, Row{"Grow", ps, false, grow(size, op, prepare)})
			}
			again := func(q query) func(*Runner, *fixture) (*job, error) {
				q.delta, q.search, q.index = "none", "all", indexWarm
				return answerAgain(d, q)
			}
			add("select-first", selectFirst(d, temp.Warm), indexNone)
			add("select-again", selectAgain(d, indexWarm), indexWarm)
			add("resync-deliver", resync(d, "deliver"), indexWarm)
			add("thread-first", threadFirst(d, "", temp.Warm), indexWarm)
			add("thread-again", again(query{alg: "references"}), indexWarm)
			add("sort-date", again(query{keys: "date", pass: "first"}), indexWarm)
			add("sort-subject", again(query{keys: "subject", pass: "first"}), indexWarm)
			if ax.Compacts {
				add("compact", compact(d, 30, "random"), indexWarm)
			}
			if ax.Fetches {
				add("fetch", fetch(d, reading{op: "all", pass: "again", fields: envelopeFirst(ax.Fields)[0], index: indexWarm}), indexWarm)
			}
		}
	}
	return rows
}

// grow makes a row of a mailbox of that size out of an operation's row.
func grow(size growSize, op string, prepare func(*Runner, *fixture) (*job, error)) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, _ *fixture) (*job, error) {
		f, err := r.growCorpus(size)
		if errors.Is(err, corpus.ErrNoSpace) {
			return nil, skip("%s", strings.TrimPrefix(err.Error(), "corpus: "))
		}
		if err != nil {
			return nil, err
		}
		j, err := prepare(r, f)
		f.truth.drop()
		if j == nil {
			return nil, err
		}
		j.stage = nil // the rows of the corpus show that nothing is remembered
		key := "BenchmarkGrow/design=" + j.design + "/op=" + op
		j.metrics = func(res *result) []metric { return r.growth.add(key, size, j, res) }
		return j, err
	}
}

// growCorpus opens the corpus of that size, and lets go of another.
func (r *Runner) growCorpus(size growSize) (*fixture, error) {
	spec := corpus.Spec{Messages: size.messages, Body: corpus.BodyNone}
	if isFresh() {
		spec.Messages, spec.Seed = size.fresh, r.seed()
	}
	if r.grown != nil && r.grown.name == spec.Name() {
		return r.grown, nil
	}
	if err := r.shrink(); err != nil {
		return nil, err
	}
	f, err := r.ownCorpus(spec)
	if err != nil {
		return nil, err
	}
	r.grown = f
	return f, nil
}

// seed is that of the run's corpus, 0 of a user's.
func (r *Runner) seed() uint64 {
	spec, err := corpus.Parse(r.cfg.Corpus)
	if err != nil {
		return 0
	}
	return spec.Seed
}

// ownCorpus makes or opens a synthetic corpus that is not the run's own. Its
// clones are hard links.
func (r *Runner) ownCorpus(spec corpus.Spec) (*fixture, error) {
	made, err := corpus.Cached(context.Background(), filepath.Join(r.cfg.CacheDir, "corpus"), spec, "maildir", bar.New())
	if err != nil {
		return nil, err
	}
	f := &fixture{name: spec.Name(), digest: made.Digest, path: made.Path, kind: "maildir", messages: made.Messages, bytes: made.Bytes, own: true}
	if f.files, err = mailFiles(made.Path, "maildir"); err != nil {
		return nil, err
	}
	f.truth = newTruth(r.cfg.CacheDir, corpus.Sources, made.Digest, func() (answerer, error) { return corpus.NewTruth(spec) })
	return f, nil
}

// shrink lets go of the corpus of BenchmarkGrow and of its clone.
func (r *Runner) shrink() error {
	f := r.grown
	r.grown = nil
	if f == nil || f.clone == nil {
		return nil
	}
	return os.RemoveAll(filepath.Dir(f.clone.path))
}

// A growth is what messages cost in the mailboxes measured so far.
type growth struct {
	keys []string
	cost map[string][]growCost
}

type growCost struct {
	size growSize
	ns   float64 // per message
	cpu  float64 // ns of it
}

// add notes what a row took, and gives its metrics: ns and heap bytes per
// message, and how many times the smallest mailbox's ns a message costs.
func (g *growth) add(key string, size growSize, j *job, res *result) []metric {
	n := float64(j.messages)
	ns := float64(median(wallsOf(res)).Nanoseconds()) / n
	out := []metric{{"ns/msg", ns}, {"B/msg", float64(medianOf(res.samples, heapBytes)) / n}}
	if g.cost == nil {
		g.cost = map[string][]growCost{}
	}
	if !slices.Contains(g.keys, key) {
		g.keys = append(g.keys, key)
	}
	costs := slices.DeleteFunc(g.cost[key], func(c growCost) bool { return c.size == size }) // with -count
	cpu := float64(medianOf(res.samples, func(s meter.Sample) int64 { return int64(s.CPU()) })) / n
	costs = append(costs, growCost{size, ns, cpu})
	slices.SortFunc(costs, func(a, b growCost) int { return a.size.messages - b.size.messages })
	g.cost[key] = costs
	if costs[0].size != size && costs[0].ns > 0 {
		out = append(out, metric{"growth", ns / costs[0].ns})
	}
	return out
}

// notes tells, for each operation, what a message cost in each mailbox and the
// factor from the smallest to the largest: 1 is linear, less is a fixed cost.
// That of CPU time says more on a busy machine.
func (g *growth) notes() []note {
	var out []note
	for _, key := range g.keys {
		costs := g.cost[key]
		if len(costs) < 2 {
			continue
		}
		var b strings.Builder
		for _, c := range costs {
			fmt.Fprintf(&b, "%s %.4g, ", c.size.name, c.ns)
		}
		last := costs[len(costs)-1]
		fmt.Fprintf(&b, "factor %.3g, of CPU time %.3g", last.ns/costs[0].ns, last.cpu/max(costs[0].cpu, 1e-3))
		out = append(out, note{key, b.String()})
	}
	return out
}
