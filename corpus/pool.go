package corpus

import (
	"encoding/base64"
	"encoding/binary"
	"sync"
)

// pools are texts that bodies are cut from: writing is then mostly copying.
// They do not depend on the seed.
type pools struct {
	prose, quote, diff, base64 lines
	letters                    []byte // base64 without line ends, for signatures
}

// lines is text with the offsets of its lines; starts has one more entry, the
// length.
type lines struct {
	text   []byte
	starts []int
}

const poolSize = 256 << 10

var thePools = sync.OnceValue(func() *pools {
	p := &pools{}
	r := rng(0x706f6f6c)
	p.prose = makeProse(&r, "", 72)
	p.quote = makeProse(&r, "> ", 74)
	p.diff = makeDiff(&r)
	raw := make([]byte, poolSize)
	for i := 0; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], r.next())
	}
	p.letters = base64.StdEncoding.AppendEncode(nil, raw[:poolSize/4*3])
	for i := 0; i+57 <= len(raw); i += 57 {
		p.base64.add(append(base64.StdEncoding.AppendEncode(nil, raw[i:i+57]), '\n'))
	}
	p.base64.end()
	return p
})

func (l *lines) add(line []byte) {
	l.starts = append(l.starts, len(l.text))
	l.text = append(l.text, line...)
}

func (l *lines) end() { l.starts = append(l.starts, len(l.text)) }

// makeProse writes sentences in paragraphs, wrapped. No line begins with From.
func makeProse(r *rng, prefix string, width int) lines {
	var l lines
	var line []byte
	left := 0
	for len(l.text) < poolSize {
		if left == 0 {
			if len(line) > 0 {
				l.add(append(line, '\n'))
			}
			l.add(append([]byte(prefix), '\n'))
			left = r.between(12, 70)
			line = append(line[:0], prefix...)
		}
		w := proseWords[r.skewed(len(proseWords))]
		if len(line)+1+len(w) > width {
			l.add(append(line, '\n'))
			line = append(line[:0], prefix...)
		}
		if len(line) > len(prefix) {
			line = append(line, ' ')
		}
		line = append(line, w...)
		if left--; left == 0 {
			line = append(line, '.')
		} else if r.intn(11) == 0 {
			line = append(line, ',')
		}
	}
	l.end()
	return l
}

// makeDiff writes something that looks like a patch.
func makeDiff(r *rng) lines {
	var l lines
	for len(l.text) < poolSize {
		if r.intn(14) == 0 {
			var line []byte
			line = append2(append(line, "@@ -"...), r.intn(100))
			line = append2(append(line, ",7 +"...), r.intn(100))
			l.add(append(line, ",9 @@\n"...))
		}
		line := []byte{" +- "[r.intn(4)], '\t'}
		for range r.intn(3) {
			line = append(line, '\t')
		}
		line = append(append(append(line, nouns[r.intn(len(nouns))]...), '_'), verbs[r.skewed(7)]...)
		line = append(append(append(line, '('), nouns[r.intn(len(nouns))]...), "->"...)
		l.add(append(append(line, nouns[r.intn(len(nouns))]...), ");\n"...))
	}
	l.end()
	return l
}

// appendLines copies whole lines, from a random place on, until at least want
// bytes are there.
func (l *lines) appendLines(dst []byte, r *rng, want int) []byte {
	for want > 0 {
		i := r.intn(len(l.starts) - 1)
		from := l.starts[i]
		to := from + want
		if to >= len(l.text) {
			to = len(l.text)
		} else {
			for l.text[to-1] != '\n' {
				to++
			}
		}
		dst = append(dst, l.text[from:to]...)
		want -= to - from
	}
	return dst
}

// appendLetters copies n characters of base64 in lines of the given width,
// each begun by fold.
func (p *pools) appendLetters(dst []byte, r *rng, n, width int, fold string) []byte {
	at := r.intn(len(p.letters) - n)
	for n > 0 {
		w := min(n, width)
		dst = append(append(dst, fold...), p.letters[at:at+w]...)
		at, n = at+w, n-w
	}
	return dst
}
