package oracle

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var encodedWord = regexp.MustCompile(`^=\?([^?]*)\?([bBqQ])[^?]*\?([^?]*)\?=`)

// TestWord compares word with the expression that says what it cuts.
func TestWord(t *testing.T) {
	const seed = 17
	r := rand.New(rand.NewPCG(seed, 0))
	words := 0
	for range 200_000 {
		var b strings.Builder
		b.WriteString([]string{"=?", "=?a?", "=?a?Q?", ""}[r.IntN(4)])
		for range r.IntN(12) {
			b.WriteString([]string{"=?", "?=", "?", "=", "b", "Q", "x", "*", " ", "\n", "\xe9", "\u00e9"}[r.IntN(12)])
		}
		s := b.String()
		charset, encoding, text, size := word(s)
		m := encodedWord.FindStringSubmatch(s)
		if m == nil {
			if size != 0 {
				t.Fatalf("%q: a word of %d bytes", s, size)
			}
			continue
		}
		words++
		if charset != m[1] || encoding != m[2] || text != m[3] || size != len(m[0]) {
			t.Fatalf("%q: %q %q %q of %d bytes, want %q", s, charset, encoding, text, size, m)
		}
	}
	if words < 1000 {
		t.Errorf("only %d words", words)
	}
}
