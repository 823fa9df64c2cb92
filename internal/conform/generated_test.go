package conform

import (
	"bytes"
	"fmt"
	"testing"

	"mailbench/corpus"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// TestGenerated_threeAgree holds that on generated mail the generator's truth,
// the oracle and the fast path give the same answers and, message by message,
// the oracle and the fast path the same keys: 20 seeds of 20,000 messages with
// MAILBENCH_LONG=1, and every adversarial shape.
func TestGenerated_threeAgree(t *testing.T) {
	seeds, n := uint64(2), 3000
	if long() {
		seeds, n = 20, 20_000
	}
	var specs []corpus.Spec
	for seed := range seeds {
		specs = append(specs, corpus.Spec{Seed: seed, Messages: n})
	}
	for _, shape := range corpus.Shapes()[1:] {
		specs = append(specs, corpus.Spec{Seed: 1, Messages: n, Shape: shape})
	}
	for _, spec := range specs {
		t.Run(spec.Name(), func(t *testing.T) {
			truth, err := corpus.NewTruth(spec)
			if err != nil {
				t.Fatal(err)
			}
			msgs := generated(spec)
			compareWithOracle(t, msgs, "rfc")
			mem := newMemory(msgs, index.CompatRFC)
			digests := truth.Digests()
			if len(digests) != len(corpus.Questions) {
				t.Fatalf("%d digests of %d questions", len(digests), len(corpus.Questions))
			}
			for question, want := range digests {
				if got := corpus.AnswerDigest(mem.answer(t, question)); got != want {
					t.Errorf("%s: the fast path's digest is %s, the truth's %s", question, got, want)
				}
			}
		})
	}
}

// generated makes the messages of spec in memory.
func generated(spec corpus.Spec) []message {
	var msgs []message
	var m corpus.Message
	for g := corpus.Generate(spec); g.Next(&m); {
		data := bytes.Clone(m.Data)
		msg := message{Stored: data, Header: data, Unquoted: data, Date: m.Internal, Size: crlfSize(data)}
		if end := headerEnd(data); end >= 0 {
			msg.Header = data[:end]
		}
		msgs = append(msgs, msg)
	}
	return msgs
}

// answer gives the whole untagged line to one of corpus.Questions.
func (m *memory) answer(t testing.TB, question string) []byte {
	t.Helper()
	var verb, what string
	if _, err := fmt.Sscanf(question, "%s %s", &verb, &what); err != nil {
		t.Fatal(err)
	}
	what = question[len(verb)+1:]
	if verb == "sort" {
		return mailsort.AppendIMAP(nil, m.sort(t, what))
	}
	alg, err := thread.ParseAlg(what)
	if err != nil {
		t.Fatal(err)
	}
	return []byte("* THREAD " + m.thread(alg))
}
