// Package thread builds RFC 5256 thread trees over int32 columns.
package thread

import "errors"

// An Alg is a threading algorithm.
type Alg uint8

const (
	References     Alg = iota // RFC 5256 REFERENCES
	Refs                      // Dovecot's REFS
	OrderedSubject            // RFC 5256 ORDEREDSUBJECT
	NumAlgs
)

// ParseAlg reads "references", "refs" or "orderedsubject", in any case.
func ParseAlg(s string) (Alg, error) { return 0, errors.New("thread: not yet") }

func (a Alg) String() string { return "references" }

// An Input is a mailbox as columns.
type Input struct {
	N       int      // rows = messages in sequence order
	ID      []int32  // interned Message-ID of the row, -1 none or invalid
	RefOff  []uint32 // N+1
	Ref     []int32  // row i's references: Ref[RefOff[i]:RefOff[i+1]]
	NumIDs  int      // ids are 0..NumIDs-1
	Subject []int32  // interned casemapped base subject, 0 = empty
	Reply   []uint8  // 1: base-subject extraction removed re/fwd
	Date    []int64  // sent date, unix seconds
}

// A Forest is thread trees in preorder.
type Forest struct {
	Row  []int32 // -1 dummy
	Kids []int32 // number of children
}

// Scratch is working memory kept between calls; the zero value is ready.
type Scratch struct{}

func Build(alg Alg, in *Input, rows []int32, dst *Forest, sc *Scratch) {}

// AppendIMAP appends "* THREAD (1 2)(3 (4)(5))" without CRLF.
func (f *Forest) AppendIMAP(dst []byte, uid []uint32) []byte { return dst }

// An Interner gives equal byte strings equal dense numbers 0, 1, 2, ...
type Interner struct{}

func NewInterner(strings, bytes int) *Interner    { return new(Interner) }
func (t *Interner) Intern(b []byte) int32         { return -1 }
func (t *Interner) Lookup(b []byte) (int32, bool) { return -1, false }
func (t *Interner) Len() int                      { return 0 }
func (t *Interner) Bytes(id int32) []byte         { return nil }
func (t *Interner) Reset()                        {}
