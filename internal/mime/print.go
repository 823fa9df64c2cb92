package mime

import (
	"slices"
	"strconv"
)

func (p *printer) byte(c byte)  { p.dst = append(p.dst, c) }
func (p *printer) nil()         { p.dst = append(p.dst, "NIL"...) }
func (p *printer) number(n int) { p.dst = strconv.AppendInt(p.dst, int64(n), 10) }

// nstring prints a string, NIL for nil.
func (p *printer) nstring(s []byte) {
	if s == nil {
		p.nil()
		return
	}
	p.string(string(s))
}

// maxQuoted bounds a quoted string: clients have been seen to read lines of
// 1,000 bytes.
const maxQuoted = 512

// string prints a quoted string, or a literal of what cannot be quoted (RFC
// 9051 section 4.3). NUL, which neither may hold, becomes '?'.
func (p *printer) string(s string) {
	quoted := len(s) <= maxQuoted
	for i := 0; i < len(s) && quoted; i++ {
		quoted = s[i] >= ' ' && s[i] < 127 || s[i] == '\t'
	}
	if !quoted {
		p.byte('{')
		p.number(len(s))
		p.dst = append(p.dst, "}\r\n"...)
		from := len(p.dst)
		p.dst = append(p.dst, s...)
		for i, c := range p.dst[from:] {
			if c == 0 {
				p.dst[from+i] = '?'
			}
		}
		return
	}
	p.byte('"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			p.byte('\\')
		}
		p.byte(s[i])
	}
	p.byte('"')
}

// params prints pairs sorted by name, NIL when there are none.
func (p *printer) params(m map[string]string) {
	if len(m) == 0 {
		p.nil()
		return
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	p.byte('(')
	for i, name := range names {
		if i > 0 {
			p.byte(' ')
		}
		p.string(name)
		p.byte(' ')
		p.string(m[name])
	}
	p.byte(')')
}
