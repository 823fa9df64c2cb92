package box

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mailbench/corpus"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/store"
	"mailbench/thread"
)

// answer is the line that answers a question of the corpus's.
func answer(m index.Mailbox, question string) (string, error) {
	kind, keys, _ := strings.Cut(question, " ")
	if kind == "thread" {
		alg, err := thread.ParseAlg(keys)
		if err != nil {
			return "", err
		}
		a, err := m.Thread(alg, index.Search{})
		if err != nil {
			return "", err
		}
		return string(a.AppendIMAP(nil)), nil
	}
	crit, err := mailsort.ParseCriteria(keys)
	if err != nil {
		return "", err
	}
	uids, err := m.Sort(crit, index.Search{})
	return string(mailsort.AppendIMAP(nil, uids)), err
}

// mails are a corpus and the right answers.
type mails struct {
	mails []store.Message
	truth *corpus.Truth
}

func newMails(t *testing.T, n int) *mails {
	t.Helper()
	spec := corpus.Spec{Seed: 4, Messages: n}
	truth, err := corpus.NewTruth(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := &mails{truth: truth}
	g := corpus.Generate(spec)
	for m := (corpus.Message{}); g.Next(&m); {
		in := store.Message{Body: slices.Clone(m.Data), Date: m.Internal}
		for _, letter := range m.Flags {
			in.Flags |= 1 << strings.IndexRune("DFPRST", letter)
		}
		c.mails = append(c.mails, in)
	}
	return c
}

// TestCorpus_sameAnswers: the same mail gives the same thread tree and the same
// orders from every store, and they are the corpus's own truth; also when some
// of it has been expunged and the mailbox is opened again.
func TestCorpus_sameAnswers(t *testing.T) {
	many, few := newMails(t, 500), newMails(t, 120)
	switch {
	case testing.Short():
		many = few
	case long():
		many = newMails(t, 2000)
		few = many
	}
	for i, f := range everyFormat() {
		for j, d := range everyDesign {
			if !long() && i > 0 && j > 0 {
				continue // every store with the first design, every design with the first store
			}
			c := few
			if j == 0 {
				c = many
			}
			for _, cache := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s+%s/cache=%t", f.Name(), d.Name(), cache), func(t *testing.T) {
					t.Parallel()
					cfg := Config{Store: f, Design: d, Dir: t.TempDir(), FS: quick, Fsync: waiting(f, Group), Cache: cache, Options: unsynced(d, index.Options{})}
					b := open(t, cfg)
					var all, gone []uint32
					for k, m := range c.mails {
						uid, err := b.Append(m)
						if err != nil || uid != uint32(k+1) {
							t.Fatalf("message %d: uid %d, %v", k+1, uid, err)
						}
						if k%7 == 3 {
							gone = append(gone, uid)
						} else {
							all = append(all, uid)
						}
					}
					ask := func(when string, uids []uint32) {
						t.Helper()
						err := b.Query(func(m index.Mailbox) error {
							for _, q := range corpus.Questions {
								want, err := c.truth.Answer(q, uids)
								if err != nil {
									return err
								}
								got, err := answer(m, q)
								if err != nil {
									return err
								}
								if got != string(want) {
									t.Errorf("%s, %s: %.200s, want %.200s", when, q, got, want)
								}
							}
							return nil
						})
						if err != nil {
							t.Fatal(err)
						}
					}
					ask("all", nil)
					for k, m := range c.mails {
						if got, err := b.Read(uint32(k+1), nil); err != nil || string(got) != string(m.Body) {
							t.Fatalf("uid %d is read back otherwise: %v", k+1, err)
						}
					}
					if err := b.Expunge(gone); err != nil {
						t.Fatal(err)
					}
					ask("after EXPUNGE", all)
					if err := b.Purge(); err != nil {
						t.Fatal(err)
					}
					if err := b.Close(); err != nil {
						t.Fatal(err)
					}
					b = open(t, cfg)
					ask("opened again", all)
					check(t, b)
				})
			}
		}
	}
}
