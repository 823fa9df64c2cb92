package maildir

// Flags are the six standard flags of a maildir file name.
type Flags uint8

const (
	FlagDraft Flags = 1 << iota // D
	FlagFlagged                 // F
	FlagPassed                  // P: resent, forwarded or bounced
	FlagReplied                 // R
	FlagSeen                    // S
	FlagTrashed                 // T
)

// Name is a file name taken apart.
type Name struct {
	Base        string
	Flags       Flags
	Keywords    uint32 // bit i = letter 'a'+i
	Size, VSize int64  // ,S= and ,W=; -1 unknown
	HasInfo     bool
	Unknown     string // other letters of the info part, kept
}

// Options say how names are read. The zero value is the standard's.
type Options struct {
	Separator byte // between unique part and info; 0 = ':'
}
