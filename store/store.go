package store

import (
	"iter"
	"time"

	"mailbench/index"
)

// A Format is one way to keep a mailbox.
type Format interface {
	Name() string // lower case, as in store=NAME
	// Open opens the mailbox in cfg.Dir and makes it when there is none. What a
	// crash left half done is finished or taken back.
	Open(cfg Config) (Store, error)
}

// A Packer is a Format that keeps many messages in a file, so that a group of
// any size waits for the disk about as long as one message does.
type Packer interface{ Packs() bool }

// Packs reports whether f does.
func Packs(f Format) bool {
	p, ok := f.(Packer)
	return ok && p.Packs()
}

// Config is what a Format opens a mailbox with.
type Config struct {
	Dir      string            // directory of the mailbox; a Store has it for itself
	FS       index.FS          // nil = the operating system; NoSync formats get one that does not sync
	NoSync   bool              // an acknowledgement does not wait for the disk
	Now      func() time.Time  // nil = time.Now
	Extra    map[string]string // a format's own options: "dsn" of sql, "rotate" of mdbox
	Unlocked bool              // Dir is not locked, see Open: for tests that leave a Store as a crash does
}

// A Message is what is appended.
type Message struct {
	Body     []byte      // header and body as it is to be stored
	Flags    index.Flags // bits above the six flags are not kept, here and in Change
	Keywords uint32
	Date     int64 // INTERNALDATE in unix seconds; 0 = now; math.MinInt64 becomes the second after it
}

// A Change gives a message other flags: all of them, not a difference.
type Change struct {
	Key      string
	Flags    index.Flags
	Keywords uint32
}

// A Store is one opened mailbox. All methods may be called from several
// goroutines; it does its own locking, as fine as the format allows.
type Store interface {
	// Append adds messages in that order and returns their keys when all of
	// them last (S1). One call with many messages is one group: it syncs as
	// seldom as the format can. After an error the keys of those that made it
	// are returned, a prefix.
	Append(msgs []Message) (keys []string, err error)
	// SetFlags changes flags. A key that is gone is passed over.
	SetFlags(changes []Change) error
	// Expunge removes messages. A key that is gone is passed over.
	Expunge(keys []string) error
	// Purge gives back the space of expunged messages, where Expunge does not.
	Purge() error
	// Source is the mailbox as an index design sees it, one for the Store's
	// life: an index.Newcomer whose Glance, State and Arrived cost O(what came),
	// not O(mailbox), and an index.Namer. It sees every acknowledged change at
	// once. Its Close does nothing; it must not be used after the Store's.
	Source() index.Source
	// Check yields every inconsistency of the files, none when all is well.
	Check() iter.Seq[error]
	Close() error
}
