package thread

import (
	"errors"
	"fmt"
	"strings"
)

// An Alg is a threading algorithm.
type Alg uint8

const (
	References     Alg = iota // RFC 5256 REFERENCES
	Refs                      // Dovecot's REFS
	OrderedSubject            // RFC 5256 ORDEREDSUBJECT
	NumAlgs
)

var algNames = [NumAlgs]string{"references", "refs", "orderedsubject"}

// String returns the algorithm as IMAP writes it, in lower case.
func (a Alg) String() string {
	if a < NumAlgs {
		return algNames[a]
	}
	return fmt.Sprintf("alg(%d)", uint8(a))
}

// ErrAlg reports the name of no algorithm.
var ErrAlg = errors.New("thread: unknown algorithm")

// ParseAlg reads "references", "refs" or "orderedsubject", in any case. Errors
// wrap ErrAlg.
func ParseAlg(s string) (Alg, error) {
	for i, name := range algNames {
		if strings.EqualFold(s, name) {
			return Alg(i), nil
		}
	}
	return 0, fmt.Errorf("%w %q (have %s)", ErrAlg, s, strings.Join(algNames[:], ", "))
}
