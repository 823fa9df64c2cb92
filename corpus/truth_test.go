package corpus

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mailbench/internal/oracle"
)

var seedFlag = flag.Uint64("seed", 0, "replay a failure (0: a fresh seed)")

func freshSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", seed)
	return seed
}

// parsed reads a corpus the literal way.
func parsed(spec Spec) []oracle.Message {
	var msgs []oracle.Message
	g := Generate(spec)
	var m Message
	for g.Next(&m) {
		header := m.Data
		if i := bytes.Index(header, []byte("\n\n")); i >= 0 {
			header = header[:i+2]
		}
		msgs = append(msgs, oracle.Message{UID: uint32(m.N), Header: bytes.Clone(header), InternalDate: m.Internal, RFC822Size: m.VSize})
	}
	return msgs
}

var sortQuestions = []string{"arrival", "date", "subject", "from", "to", "cc", "size", "displayfrom", "displayto",
	"reverse date", "subject reverse date", "reverse from subject reverse size"}

// diffThreads names the first thread that differs.
func diffThreads(got, want string) string {
	g, w := strings.Split(got, ")("), strings.Split(want, ")(")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("%d and %d parts, part %d: truth %q, oracle %q", len(g), len(w), i, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d and %d parts", len(g), len(w))
}

func compareWithOracle(t *testing.T, spec Spec, uids []uint32) {
	t.Helper()
	truth, err := NewTruth(spec)
	if err != nil {
		t.Fatal(err)
	}
	msgs := parsed(spec)
	if uids != nil {
		msgs = slices.DeleteFunc(msgs, func(m oracle.Message) bool { return !slices.Contains(uids, m.UID) })
	}
	box := oracle.New(msgs, oracle.RFC)
	for alg, want := range map[string]string{"references": box.References(), "refs": box.Refs(), "orderedsubject": box.OrderedSubject()} {
		got, err := truth.Thread(alg, uids)
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.TrimRight("* THREAD "+want, " "); got != want {
			t.Errorf("%s: thread %s: %s", spec, alg, diffThreads(got, want))
		}
	}
	for _, keys := range sortQuestions {
		got, err := truth.Sort(keys, uids)
		if err != nil {
			t.Fatal(err)
		}
		if want := box.Sort(keys); !slices.Equal(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s: sort %s: place %d: truth %d, oracle %d", spec, keys, i, got[i], want[i])
					break
				}
			}
		}
	}
}

func TestTruthMatchesOracle(t *testing.T) {
	seed := freshSeed(t)
	n, seeds := 5000, uint64(2)
	if os.Getenv("MAILBENCH_LONG") != "" {
		n, seeds = 20_000, 20
	}
	if testing.Short() {
		n, seeds = 1000, 1
	}
	for i := range seeds {
		compareWithOracle(t, Spec{Seed: seed + i, Messages: n, Body: BodyNone}, nil)
	}
	compareWithOracle(t, Spec{Seed: seed, Messages: 3000, Clean: true}, nil)
	for _, n := range []int{Empty, 1, 2, 3, 10} {
		compareWithOracle(t, Spec{Seed: seed, Messages: n}, nil)
	}
}

func TestTruthMatchesOracle_shapes(t *testing.T) {
	seed := freshSeed(t)
	for _, shape := range Shapes()[1:] {
		for _, n := range []int{1, 7, 1200} {
			compareWithOracle(t, Spec{Seed: seed, Messages: n, Shape: shape}, nil)
		}
	}
}

func TestTruthMatchesOracle_subsets(t *testing.T) {
	seed := freshSeed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, spec := range []Spec{{Seed: seed, Messages: 3000}, {Seed: seed, Messages: 600, Shape: Cycles}, {Seed: seed, Messages: 600, Shape: Absent}} {
		for _, share := range []float64{0.9, 0.5, 0.05} {
			uids := []uint32{}
			for uid := range uint32(spec.Count()) {
				if r.Float64() < share {
					uids = append(uids, uid+1)
				}
			}
			compareWithOracle(t, spec, uids)
		}
	}
}
