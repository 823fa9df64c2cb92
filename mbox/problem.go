package mbox

import "fmt"

// maxProblems bounds the list of a Problems: a hostile file has one per line.
const maxProblems = 100

// A Kind names what was odd.
type Kind uint8

// The kinds of Problem.
const (
	Garbage       Kind = iota + 1 // bytes before the first From_ line belong to no message
	NoBlankLine                   // a From_ line without an empty line before it was taken for a separator
	Undated                       // a From_ line without a usable date was taken for a separator
	ContentLength                 // a Content-Length that leads nowhere, or is repeated, was ignored
	NoNewline                     // the last line has no newline
	Truncated                     // the compressed stream ends early; the cut message was left out
)

var kindNames = [...]string{"", "garbage before the first From_ line", "no empty line before From_ line",
	"From_ line without date", "Content-Length ignored", "no newline at end of file", "message cut off"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Problem is something odd at an offset. It is never fatal: what it says has
// been dealt with in the way its Kind tells.
type Problem struct {
	Off  int64
	Kind Kind
}

func (p Problem) Error() string { return fmt.Sprintf("mbox: offset %d: %s", p.Off, p.Kind) }

// Problems are the first hundred problems of a scan and the number of all.
type Problems struct {
	List  []Problem
	Total int
}

func (p *Problems) add(off int64, k Kind) {
	p.Total++
	if len(p.List) < maxProblems {
		p.List = append(p.List, Problem{off, k})
	}
}
