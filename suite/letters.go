package suite

import (
	"bytes"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/store"
)

// A letter is a message that is written.
type letter struct {
	store.Message
	sum uint64 // digest of its bytes
}

// letters are list-shaped synthetic messages in memory, made before anything
// is timed, the same for every row of a run.
type letters struct {
	seed uint64
	list []letter
}

// Seeds of the messages that are written: none of them is in the corpus.
const (
	letterSeed  = 0x6c65747465720000
	fillingSeed = 0x66696c6c00000000
)

// letterPool bounds how many messages one sample appends.
const letterPool = 6000

// letters gives n messages, at most letterPool.
func (r *Runner) letters(n int) []letter {
	if r.pool == nil {
		r.pool = &letters{seed: r.seed() ^ letterSeed}
	}
	if len(r.pool.list) < n {
		// The corpus of another size has other messages: always the same one.
		g := corpus.Generate(corpus.Spec{Seed: r.pool.seed, Messages: letterPool})
		list := make([]letter, 0, n)
		var m corpus.Message
		for len(list) < n && g.Next(&m) {
			list = append(list, newLetter(&m, bytes.Clone(m.Data)))
		}
		r.pool.list = list
	}
	return r.pool.list[:n]
}

func newLetter(m *corpus.Message, body []byte) letter {
	return letter{Message: store.Message{Body: body, Flags: flagsOf(m.Flags), Date: m.Internal}, sum: xxhash.Sum64(body)}
}

// flagsOf reads maildir's letters.
func flagsOf(letters string) (f index.Flags) {
	for i, c := range "DFPRST" {
		if strings.ContainsRune(letters, c) {
			f |= 1 << i
		}
	}
	return f
}

// deliveredBytes is the size of each message of BenchmarkDeliver.
const deliveredBytes = 3072

// parcels gives n new messages of deliveredBytes bytes: a header as lists have
// them, and lines of text.
func (r *Runner) parcels(n int) []letter {
	g := corpus.Generate(corpus.Spec{Seed: r.seed() ^ letterSeed, Messages: letterPool, Body: corpus.BodyNone})
	list := make([]letter, 0, n)
	var m corpus.Message
	for len(list) < n && g.Next(&m) {
		if len(m.Data) > deliveredBytes-1 {
			continue
		}
		body := make([]byte, 0, deliveredBytes)
		body = append(body, m.Data...)
		for len(body) < deliveredBytes {
			line := min(deliveredBytes-len(body), 72)
			body = append(body, bytes.Repeat([]byte{'.'}, line-1)...)
			body = append(body, '\n')
		}
		l := newLetter(&m, body)
		l.Flags, l.Date = 0, 0 // it arrives now, and nobody has seen it
		list = append(list, l)
	}
	return list
}

// filling is the generator of a grown mailbox's messages.
func (r *Runner) filling(n int) *corpus.Generator {
	return corpus.Generate(corpus.Spec{Seed: r.seed() ^ fillingSeed, Messages: n, Body: corpus.BodyNone})
}
