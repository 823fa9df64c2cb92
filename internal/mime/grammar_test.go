package mime

import (
	"fmt"
	"strconv"
)

// A grammar checks a BODYSTRUCTURE against RFC 9051 section 9 ("body"), as a
// client would read it, and panics with the place where it is wrong.
type grammar struct {
	s     string
	at    int
	parts int
}

// checkGrammar returns what is wrong with s, and how many bodies are in it.
func checkGrammar(s string) (parts int, err error) {
	g := grammar{s: s}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("at %d of %q: %v", g.at, s, r)
		}
	}()
	g.body()
	if g.at != len(s) {
		panic("more follows")
	}
	return g.parts, nil
}

func (g *grammar) peek() byte {
	if g.at == len(g.s) {
		panic("it ends")
	}
	return g.s[g.at]
}

func (g *grammar) lit(want string) {
	if g.at+len(want) > len(g.s) || g.s[g.at:g.at+len(want)] != want {
		panic("want " + want)
	}
	g.at += len(want)
}

func (g *grammar) body() {
	g.parts++
	g.lit("(")
	if g.peek() == '(' {
		for g.peek() == '(' {
			g.body()
		}
		g.lit(" ")
		g.string()
		g.lit(" ")
		g.params()
	} else {
		kind := g.string()
		g.lit(" ")
		sub := g.string()
		g.lit(" ")
		g.params()
		g.lit(" ")
		g.nstring()
		g.lit(" ")
		g.nstring()
		g.lit(" ")
		g.string()
		g.lit(" ")
		g.number()
		switch {
		case kind == "text":
			g.lit(" ")
			g.number()
		case kind == "message" && (sub == "rfc822" || sub == "global"):
			g.lit(" ")
			g.envelope()
			g.lit(" ")
			g.body()
			g.lit(" ")
			g.number()
		}
		g.lit(" ")
		g.nstring()
	}
	g.lit(" ")
	if !g.null() {
		g.lit("(")
		g.string()
		g.lit(" ")
		g.params()
		g.lit(")")
	}
	g.lit(" ")
	if !g.null() {
		g.list(func() { g.string() })
	}
	g.lit(" ")
	g.nstring()
	g.lit(")")
}

func (g *grammar) envelope() {
	g.lit("(")
	g.nstring()
	g.lit(" ")
	g.nstring()
	for range 6 {
		g.lit(" ")
		if g.null() {
			continue
		}
		g.lit("(")
		for g.peek() == '(' {
			g.lit("(")
			g.nstring()
			g.lit(" ")
			g.nstring()
			g.lit(" ")
			g.nstring()
			g.lit(" ")
			g.nstring()
			g.lit(")")
		}
		g.lit(")")
	}
	g.lit(" ")
	g.nstring()
	g.lit(" ")
	g.nstring()
	g.lit(")")
}

func (g *grammar) params() {
	if g.null() {
		return
	}
	g.list(func() {
		g.string()
		g.lit(" ")
		g.string()
	})
}

// list reads one or more items with one space between them.
func (g *grammar) list(item func()) {
	g.lit("(")
	for {
		item()
		if g.peek() == ')' {
			break
		}
		g.lit(" ")
	}
	g.lit(")")
}

func (g *grammar) null() bool {
	if g.peek() != 'N' {
		return false
	}
	g.lit("NIL")
	return true
}

func (g *grammar) nstring() {
	if !g.null() {
		g.string()
	}
}

func (g *grammar) number() int {
	from := g.at
	for g.peek() >= '0' && g.peek() <= '9' {
		g.at++
	}
	n, err := strconv.Atoi(g.s[from:g.at])
	if err != nil {
		panic(err)
	}
	return n
}

func (g *grammar) string() string {
	if g.peek() == '{' {
		g.at++
		n := g.number()
		g.lit("}\r\n")
		from := g.at
		if g.at += n; g.at > len(g.s) {
			panic("literal runs over the end")
		}
		for _, c := range []byte(g.s[from:g.at]) {
			if c == 0 {
				panic("NUL in a literal")
			}
		}
		return g.s[from:g.at]
	}
	g.lit(`"`)
	var b []byte
	for {
		c := g.peek()
		g.at++
		switch {
		case c == '"':
			return string(b)
		case c == '\\':
			if c = g.peek(); c != '"' && c != '\\' {
				panic("odd quoted pair")
			}
			g.at++
		case c == '\r' || c == '\n' || c == 0 || c > 126:
			panic("this cannot be quoted")
		}
		b = append(b, c)
	}
}
