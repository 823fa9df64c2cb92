package index

import (
	"iter"
	"time"

	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// FS is the file layer that every design does its input and output through.
type FS = fsys.FS

// File is an open file of an FS.
type File = fsys.File

// Integrity says what a design promises about damaged files of its own.
type Integrity uint8

// The two promises.
const (
	// DetectsDamage: every byte read back is checked; damage gives an error or a correct rebuild.
	DetectsDamage Integrity = iota
	// TrustsDisk: damage may change answers without a word. How often is a result of the suite.
	TrustsDisk
)

// String gives "detects" or "trusts".
func (i Integrity) String() string {
	if i == TrustsDisk {
		return "trusts"
	}
	return "detects"
}

// Compat chooses between the RFC's reading and Dovecot's where they differ.
type Compat = mailsort.Compat

// The readings.
const (
	CompatRFC     = mailsort.RFC
	CompatDovecot = mailsort.Dovecot
)

// Options are what a user can say about an index; a design ignores what it has no use for.
type Options struct {
	Fields      string            // what gets cached: "thread" (also ""), "envelope"
	Answers     string            // "stored" (also "") keeps trees and orders, "computed" derives them each time
	UIDList     string            // path of a dovecot-uidlist to adopt; "" = the source's own, "none" = adopt nothing
	UIDValidity uint32            // for a new index; 0 = from the clock. Always raised above any earlier one of the directory
	CacheBytes  int64             // bound of an in-process cache; 0 = the design's default
	Compat      Compat            // RFC 5256 or Dovecot's way
	Workers     int               // parallel readers of mail; 0 = 2 * GOMAXPROCS
	Extra       map[string]string // a design's own options
}

// Config is what a design opens a mailbox with.
type Config struct {
	Dir     string           // directory of the index files; made when missing
	FS      FS               // nil = the operating system
	Source  Source           // the mail; read only. Stays the caller's to close
	Options Options          //
	Now     func() time.Time // nil = time.Now
	Phases  *Phases          // nil = nobody wants to know
}

// A Design is one idea of how to index and cache a mailbox.
type Design interface {
	Name() string // lower case, as in design=NAME
	Integrity() Integrity
	// Open opens the index of cfg.Source in cfg.Dir, O(1) where the design can.
	// It reads no mail and creates no index: Sync does.
	Open(cfg Config) (Mailbox, error)
}

// A Mailbox is one opened mailbox. It is not for concurrent use.
type Mailbox interface {
	// Sync brings the index up to date with the source: on disk when it returns.
	Sync() (Changes, error)
	// Status tells what the last Sync (of any process) left; O(1).
	Status() Status
	// Messages calls fn for each message in UID order until it returns false.
	// Strings of a Message are valid until fn returns.
	Messages(fn func(Message) bool) error
	// Thread answers THREAD alg on the messages that s selects. The answer is valid until the next call.
	Thread(alg thread.Alg, s Search) (*Answer, error)
	// Sort answers SORT: UIDs in order, valid until the next call.
	Sort(crit []mailsort.Criterion, s Search) ([]uint32, error)
	// Compact rewrites the files without dead records; on disk when it returns.
	Compact() error
	// Check yields every inconsistency, none when all is well.
	Check() iter.Seq[error]
	// Stats lists files and their parts (columns) with their bytes.
	Stats() []FileStat
	Close() error
}

// Status is what IMAP's STATUS asks for.
type Status struct {
	UIDValidity, UIDNext      uint32
	Messages, Unseen, Deleted int
	HighestModSeq             uint64
	Generation                uint64 // of the index files; raised by each rewrite
}

// Changes counts what a Sync found.
type Changes struct {
	Added, Removed, Flagged int
	Moved                   int  // between new/ and cur/ (or to another offset) with flags unchanged
	Scanned                 bool // the source was listed; false: its State told that nothing changed
	Rebuilt                 bool // no usable index was there: UIDs were assigned anew or adopted
}

// Message is one row of a mailbox.
type Message struct {
	UID      uint32
	Key      string // stable unique name (maildir base name, mbox key)
	Folder   string // "cur", "new" or ""
	Flags    Flags
	Keywords uint32
	ModSeq   uint64
}

// FileStat is one line of `index info`.
type FileStat struct {
	Name  string // file, without its directory
	Part  string // section or column; "" = the whole file
	Bytes int64  // on disk
	Rows  int64  // records in it; 0 = not a matter of rows
}

// Answer is a THREAD answer as structure: the forest of rows and the rows' UIDs.
type Answer struct {
	Forest thread.Forest
	UID    []uint32 // row -> UID
}

// AppendIMAP appends "* THREAD (1 2)(3)" (no CRLF) to dst. O(n), no recursion.
func (a *Answer) AppendIMAP(dst []byte) []byte { return a.Forest.AppendIMAP(dst, a.UID) }
