package index

// Flags are IMAP's system flags in the order of maildir's letters, so that
// Flags(maildir.Flags) converts.
type Flags uint16

// The flags.
const (
	FlagDraft     Flags = 1 << iota // \Draft, maildir D
	FlagFlagged                     // \Flagged, maildir F
	FlagForwarded                   // $Forwarded, maildir P (passed)
	FlagAnswered                    // \Answered, maildir R (replied)
	FlagSeen                        // \Seen, maildir S
	FlagDeleted                     // \Deleted, maildir T (trashed)
)

const allFlags = 1<<len(flagLetters) - 1

const flagLetters = "DFPRST"

// String gives the sorted maildir capitals.
func (f Flags) String() string {
	var b [len(flagLetters)]byte
	n := 0
	for i := range flagLetters {
		if f&(1<<i) != 0 {
			b[n] = flagLetters[i]
			n++
		}
	}
	return string(b[:n])
}

// Values of Entry.Dir.
const (
	DirCur  uint8 = iota // "cur"
	DirNew               // "new"
	DirNone              // the source has no folders of its own
)

// Folder names a Dir: "cur", "new" or "".
func Folder(dir uint8) string {
	switch dir {
	case DirCur:
		return "cur"
	case DirNew:
		return "new"
	}
	return ""
}

// Entry is one message as a source lists it. Strings are valid until the
// Listing is used again.
type Entry struct {
	Key         string // stable unique name: maildir base name, mbox key
	File        string // maildir: file name; "" for others
	Folder      string // "cur", "new" or ""
	Dir         uint8  // DirCur, DirNew, DirNone
	MTimeOK     bool
	Flags       Flags
	Keywords    uint32 // bit i = dovecot keyword letter 'a'+i
	Ref         int32  // the source's private handle
	Size, VSize int64  // stored bytes and bytes with CRLF line ends; -1 unknown
	MTime       int64  // INTERNALDATE, unix seconds, valid if MTimeOK; else ask Source.Stat
	Off         int64  // mbox: offset of the From_ line; -1
}

// Digest is an order-independent digest of a listing: two listings of the
// same names, folders and flags have the same digest.
type Digest struct {
	Sum [2]uint64
	N   int
}

// Listing is the result of one look at all of a source. It is reused.
type Listing struct {
	Entries  []Entry
	Digest   Digest
	Problems []error // entries that were skipped, and why
	Private  any     // the source's own (arenas)
}

// State is what one or two stats tell about a source. A to D compare; a
// source fills them with whatever changes when mail comes, goes or changes.
type State struct {
	A, B, C, D uint64
	Racy       bool // the source changed less than 2 s before it was asked: a change after may not show
	Busy       bool // the source changed less than 50 ms before it was asked: a change during the next listing may not show
}

// Same reports whether a and b saw the same source.
func (s State) Same(o State) bool {
	return s.A == o.A && s.B == o.B && s.C == o.C && s.D == o.D
}

// A Source is mail: a maildir, an mbox, one message. It is read only.
// ReadHeader, ReadMessage and Stat may be called from several goroutines.
type Source interface {
	Kind() string // "maildir", "mbox", "message"
	Path() string
	// State is O(1).
	State() (State, error)
	// List looks at everything once: one directory read, one pass over an mbox.
	List(l *Listing) error
	// Order sorts entries into the order in which new mail gets its UIDs.
	Order(entries []Entry)
	// ReadHeader returns the header with its blank line, appended to buf[:0].
	// A message that has gone gives an error that wraps fs.ErrNotExist.
	ReadHeader(e *Entry, buf []byte) ([]byte, error)
	// ReadMessage returns the whole message as stored, appended to buf[:0].
	ReadMessage(e *Entry, buf []byte) ([]byte, error)
	// Stat returns stored bytes and INTERNALDATE in unix seconds.
	Stat(e *Entry) (size, mtimeSec int64, err error)
	// UIDList is the path of an existing dovecot-uidlist, a regular file.
	UIDList() (string, bool)
	Close() error
}

// A Glancer is a Source that can tell the digest of a listing before, and for
// less than, its entries. List is Glance and then Fill with the same Listing.
type Glancer interface {
	Glance(l *Listing) error // sets Digest
	Fill(l *Listing)         // sets Entries and Problems
}

// An IndexOrderer is a Source that can tell the order of entries without moving
// them: entries are wide, and a first listing has all of them to order.
type IndexOrderer interface {
	// OrderIndex appends the positions in entries, in the order into which
	// Order would bring them, to dst.
	OrderIndex(dst []int32, entries []Entry) []int32
}

// A Seeder is a Glancer that can tell what an empty index needs of a first
// listing, in the order in which new mail gets its UIDs, without an Entry for
// each message.
type Seeder interface {
	Glancer
	// Seed is called after Glance with the same Listing and is valid until
	// that is used again. ok false: use Fill and Order.
	Seed(l *Listing) (s Seed, ok bool)
}

// A Seed is messages in the order of their UIDs, each key once. Row may be
// called from several goroutines.
type Seed interface {
	Len() int
	KeyLen(i int) int
	Row(i int) (key string, flags Flags, dir uint8, keywords uint32)
}

// A Walker is a Glancer that can tell what became of known messages without an
// Entry for each.
type Walker interface {
	Glancer
	// Walk calls fn for the messages of one of parts equal shares of the
	// listing, after Glance with the same Listing. Shares may be walked at the
	// same time. ok false: use Fill.
	Walk(l *Listing, part, parts int, fn func(at uint32, key string, flags Flags, dir uint8, keywords uint32)) (ok bool)
	// FillAt sets l.Entries to those at places that Walk gave.
	FillAt(l *Listing, at []Place)
}

// A Place is where a Walker's listing has a message.
type Place struct {
	At  uint32
	Dir uint8
}

// A Namer is a Source that can make the Entry of a message from what an index
// keeps of it, without a listing. What it makes must do for ReadHeader,
// ReadMessage and Stat: where the message has changed its name they look for it.
type Namer interface {
	// NameEntry fills e and appends what its strings point to to buf[:0]: e is
	// valid until buf is used again. It may be called from several goroutines.
	NameEntry(e *Entry, key []byte, flags Flags, dir uint8, keywords uint32, buf []byte) []byte
}

// Search selects messages: what an IMAP search key before THREAD or SORT selects.
type Search struct {
	Kind string   // "" or "all", "undeleted", "recent" (the 1,000 highest UIDs), "uids"
	UIDs []uint32 // for "uids": ascending; unknown ones are ignored
}
