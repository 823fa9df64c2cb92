package session

// appendShort appends a BODYSTRUCTURE without its extension data: what FETCH
// BODY tells (RFC 3501 section 7.4.2). s is one that package mime printed.
func appendShort(dst, s []byte) []byte {
	c := shortener{s: s, dst: dst}
	c.body()
	return c.dst
}

type shortener struct {
	s   []byte
	at  int
	dst []byte
}

func (c *shortener) peek() byte {
	if c.at < len(c.s) {
		return c.s[c.at]
	}
	return 0
}

// body copies one body: parts and subtype of a multipart, the seven members
// that every leaf has, and those of text and message/rfc822.
func (c *shortener) body() {
	if c.peek() != '(' {
		c.value(true)
		return
	}
	c.at++
	c.dst = append(c.dst, '(')
	if c.peek() == '(' {
		for c.peek() == '(' {
			c.body()
		}
		c.more(true)
	} else {
		start := len(c.dst)
		c.value(true)
		kind := string(c.dst[start:])
		start = len(c.dst)
		c.more(true)
		sub := string(c.dst[start:])
		for range 5 {
			c.more(true)
		}
		switch {
		case kind == `"text"`:
			c.more(true)
		case kind == `"message"` && (sub == ` "rfc822"` || sub == ` "global"`) && c.nextIsList():
			c.more(true) // envelope
			c.space(true)
			c.body()
			c.more(true)
		}
	}
	for c.peek() == ' ' {
		c.more(false)
	}
	if c.peek() == ')' {
		c.at++
	}
	c.dst = append(c.dst, ')')
}

// nextIsList looks for the envelope of a message.
func (c *shortener) nextIsList() bool {
	return c.at+1 < len(c.s) && c.s[c.at] == ' ' && c.s[c.at+1] == '('
}

func (c *shortener) space(keep bool) {
	if c.peek() == ' ' {
		c.at++
		if keep {
			c.dst = append(c.dst, ' ')
		}
	}
}

// more copies, or passes over, a space and a value.
func (c *shortener) more(keep bool) {
	c.space(keep)
	c.value(keep)
}

// value is a list, a string, a literal or an atom.
func (c *shortener) value(keep bool) {
	start, depth := c.at, 0
	for c.at < len(c.s) {
		switch b := c.s[c.at]; b {
		case '(':
			depth++
			c.at++
		case ')':
			if depth == 0 {
				c.keep(keep, start)
				return
			}
			depth--
			c.at++
		case '"':
			for c.at++; c.at < len(c.s) && c.s[c.at] != '"'; c.at++ {
				if c.s[c.at] == '\\' {
					c.at++
				}
			}
			c.at++
		case '{':
			n := 0
			for c.at++; c.at < len(c.s) && c.s[c.at] >= '0' && c.s[c.at] <= '9' && n < 1<<30; c.at++ {
				n = 10*n + int(c.s[c.at]-'0')
			}
			c.at += len("}\r\n") + n
		case ' ':
			c.at++
			if depth == 0 {
				c.at--
				c.keep(keep, start)
				return
			}
			continue
		default:
			for c.at < len(c.s) && c.s[c.at] != ' ' && c.s[c.at] != ')' && c.s[c.at] != '(' {
				c.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	c.keep(keep, start)
}

func (c *shortener) keep(keep bool, start int) {
	c.at = min(c.at, len(c.s))
	if keep {
		c.dst = append(c.dst, c.s[min(start, c.at):c.at]...)
	}
}
