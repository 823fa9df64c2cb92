package imap

import (
	"bytes"
	"fmt"
	"math"
)

// A Node is a message of a thread. Num 0 is a parent that is not there.
type Node struct {
	Num      uint32
	Children []int32 // indexes into the Threads that hold it
}

// Threads are the trees of a THREAD reply, flat: Nodes in the order of the
// reply, a parent before its children; Roots and Children are indexes into it.
type Threads struct {
	Nodes []Node
	Roots []int32
}

// ParseThread parses an untagged line "THREAD (2)(3 6 (4 23)(44 7 96))" (RFC 5256,
// section 4). Of its grammar it does not hold that where threads are nested there
// are two. O(n), and no recursion: servers write chains as deep as they like.
func ParseThread(line []byte) (t Threads, err error) {
	rest, err := after(line, "THREAD")
	if err != nil {
		return t, err
	}
	const none = -1
	type open struct {
		at   int32 // the node that the next one is a child of; none: a root
		used bool  // has something in it
	}
	var stack []open
	add := func(num uint32, parent int32) int32 {
		i := int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, Node{Num: num})
		if parent == none {
			t.Roots = append(t.Roots, i)
		} else {
			t.Nodes[parent].Children = append(t.Nodes[parent].Children, i)
		}
		return i
	}
	for i := 0; i < len(rest); {
		if len(t.Nodes) == math.MaxInt32 {
			return t, fmt.Errorf("imap: THREAD: more than %d messages", math.MaxInt32)
		}
		top := len(stack) - 1
		switch c := rest[i]; {
		case c == ' ':
			i++
		case c == '(':
			parent := int32(none)
			if top >= 0 {
				if !stack[top].used { // "((3)(5))": their parent is not there
					stack[top] = open{add(0, stack[top].at), true}
				}
				parent = stack[top].at
			}
			stack = append(stack, open{at: parent})
			i++
		case c == ')':
			if top < 0 || !stack[top].used {
				return t, bad(rest, i, "THREAD")
			}
			stack = stack[:top]
			i++
		case c >= '1' && c <= '9' && top >= 0:
			num, n := number(rest[i:])
			if n == 0 || nested(rest[:i]) {
				return t, bad(rest, i, "THREAD")
			}
			stack[top] = open{add(num, stack[top].at), true}
			i += n
		default:
			return t, bad(rest, i, "THREAD")
		}
	}
	if len(stack) > 0 {
		return t, bad(rest, len(rest), "THREAD")
	}
	return t, nil
}

// nested reports whether the last thing before is a thread: no message follows
// it in the same thread.
func nested(before []byte) bool {
	before = bytes.TrimRight(before, " ")
	return len(before) > 0 && before[len(before)-1] == ')'
}

// ParseNumbers parses an untagged line "SORT 3 1 2" or "SEARCH 1 2 (MODSEQ 5)",
// name being its first word, and appends to dst.
func ParseNumbers(dst []uint32, line []byte, name string) ([]uint32, error) {
	rest, err := after(line, name)
	if err != nil {
		return dst, err
	}
	for i := 0; i < len(rest); {
		if rest[i] == ' ' {
			i++
			continue
		}
		if rest[i] == '(' && bytes.HasSuffix(rest, []byte(")")) {
			return dst, nil
		}
		num, n := number(rest[i:])
		if n == 0 || num == 0 {
			return dst, bad(rest, i, name)
		}
		dst = append(dst, num)
		i += n
	}
	return dst, nil
}

// after is what follows the name of a line.
func after(line []byte, name string) ([]byte, error) {
	if word(line, name) {
		return line[len(name):], nil
	}
	return nil, fmt.Errorf("imap: not a line of %s: %.60q", name, line)
}

// number reads one that ends where a number in a list may; n is its length, 0
// where there is none.
func number(b []byte) (num uint32, n int) {
	var v uint64
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		if v = v*10 + uint64(b[n]-'0'); v > math.MaxUint32 {
			return 0, 0
		}
		n++
	}
	if n < len(b) && b[n] != ' ' && b[n] != '(' && b[n] != ')' {
		return 0, 0
	}
	return uint32(v), n
}

func bad(b []byte, at int, name string) error {
	return fmt.Errorf("imap: %s: byte %d: not expected: %.40q", name, at, b[min(at, len(b)):])
}
