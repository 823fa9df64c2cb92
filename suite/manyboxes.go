package suite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mailbench/corpus"
)

// A manyScale is how many mailboxes BenchmarkMany has, and how large they are.
type manyScale struct {
	shape, msgs string // values of the axes
	boxes       int
	median      int // messages in the middle one
	pool        int // messages there are; none has more
	status      int // mailboxes whose STATUS a sample asks for
}

var (
	manySmall = manyScale{"200boxes", "50median", 200, 50, 2000, 50}
	manyLarge = manyScale{"10kboxes", "200median", 10_000, 200, 20_000, 200}
	manyFresh = manyScale{"20boxes", "10median", 20, 10, 300, 10}
)

// manySigma is the spread of the sizes: their logarithms are normal, so the
// mean is twice the median, one mailbox in twenty has more than seven medians,
// and the largest hundreds.
const manySigma = 1.2

// boxes are the mailboxes of BenchmarkMany: each is a window of one synthetic
// corpus, the pool, whose files they share by hard links. UID u of a box is
// message start+u of the pool.
type boxes struct {
	scale manyScale
	path  string // box i is path/NNNNN
	pool  *fixture
	names []string // "cur/NAME" of each message of the pool in UID order
	start []int
	size  []int
}

func (m *boxes) box(i int) string { return filepath.Join(m.path, boxName(i)) }

func boxName(i int) string { return fmt.Sprintf("%05d", i) }

// manyBoxes makes or opens the mailboxes, kept beside the corpora.
func (r *Runner) manyBoxes(scale manyScale) (*boxes, error) {
	spec := corpus.Spec{Messages: scale.pool, Body: corpus.BodyNone}
	if isFresh() {
		scale = manyFresh
		spec.Messages, spec.Seed = scale.pool, r.seed()
	}
	pool, err := r.ownCorpus(spec)
	if err != nil {
		return nil, err
	}
	order, err := namesInOrder(pool)
	if err != nil {
		return nil, err
	}
	list, err := mailNames(pool.path)
	if err != nil {
		return nil, err
	}
	m := &boxes{scale: scale, pool: pool}
	for _, base := range order {
		m.names = append(m.names, list[base].dir+"/"+list[base].file)
	}
	m.draw(spec.Seed)
	root := filepath.Join(r.cfg.CacheDir, "corpus")
	name := fmt.Sprintf("many.v1.%s.%s.%s", scale.shape, scale.msgs, spec.Name())
	m.path = filepath.Join(root, name)
	if _, err := os.Stat(m.path); err == nil {
		return m, nil
	}
	tmp, err := os.MkdirTemp(root, name+".tmp-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := m.write(tmp); err != nil {
		return nil, skip("mailboxes cannot share their messages by hard links: %v", err)
	}
	// Another process may have been faster: what it made is the same.
	if err := os.Rename(tmp, m.path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return m, nil
}

// draw decides the sizes of the boxes and their windows. One message of the
// pool is left behind each window, to be delivered.
func (m *boxes) draw(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 31))
	for range m.scale.boxes {
		n := int(math.Round(float64(m.scale.median) * math.Exp(manySigma*rnd.NormFloat64())))
		n = min(max(n, 1), len(m.names)-1)
		m.size = append(m.size, n)
		m.start = append(m.start, rnd.IntN(len(m.names)-n))
	}
}

// write makes the boxes below dir.
func (m *boxes) write(dir string) error {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(8)
	for i := range m.size {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			box := filepath.Join(dir, boxName(i))
			for _, sub := range []string{"cur", "new", "tmp"} {
				if err := os.MkdirAll(filepath.Join(box, sub), 0o755); err != nil {
					return err
				}
			}
			for _, name := range m.names[m.start[i] : m.start[i]+m.size[i]] {
				if err := os.Link(filepath.Join(m.pool.path, name), filepath.Join(box, name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// flags counts, in box i, the names without S and those with T.
func (m *boxes) flags(i int) (unseen, deleted int) {
	for _, name := range m.names[m.start[i] : m.start[i]+m.size[i]] {
		_, letters, _ := strings.Cut(name, ":2,")
		if !strings.Contains(letters, "S") {
			unseen++
		}
		if strings.Contains(letters, "T") {
			deleted++
		}
	}
	return unseen, deleted
}

// next is the message of the pool that a delivery brings into box i.
func (m *boxes) next(i int) string { return m.names[m.start[i]+m.size[i]] }

// deliver puts it into new/ of a copy of box i.
func (m *boxes) deliver(i int, copied string) error {
	name := m.next(i)
	base, _, _ := strings.Cut(filepath.Base(name), ":")
	return os.Link(filepath.Join(m.pool.path, name), filepath.Join(copied, "new", base))
}

// pick draws k different boxes for a sample.
func (m *boxes) pick(k, sample int) []int {
	rnd := rand.New(rand.NewPCG(uint64(sample), 29))
	picked := rnd.Perm(len(m.size))[:min(k, len(m.size))]
	slices.Sort(picked)
	rnd.Shuffle(len(picked), func(a, b int) { picked[a], picked[b] = picked[b], picked[a] })
	return picked
}
