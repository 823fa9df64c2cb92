package index

// BodyStructureField is the name under which a Fetcher gives the BODYSTRUCTURE
// of messages that were told to it by a Cacher, as IMAP prints it (RFC 9051
// section 7.5.2). Of others the value is nil.
const BodyStructureField = "BODYSTRUCTURE"

// A Cacher is a Mailbox that takes into its cache what is known of new mail
// when it is delivered, so that nobody has to read it again for that.
type Cacher interface {
	// Cache keeps of messages, which a Sync has seen, what THREAD, SORT and
	// ENVELOPE want, and the BODYSTRUCTURE: on disk when it returns (as Config.FS
	// syncs). UIDs ascend. O(msgs), whatever the size of the mailbox, but for
	// merges that a design pays by and by. Messages that are not there, or are
	// cached already, are passed over. After it THREAD, SORT and FETCH of
	// envelope fields read no mail of theirs. After an error they do, and what
	// is answered is the same.
	Cache(msgs []Cached) error
}

// Cached is what is known of a message.
type Cached struct {
	UID           uint32
	Header        []byte // with or without the empty line; more may follow it
	BodyStructure []byte // as IMAP prints it; nil: not known
	Size          int64  // bytes as stored
	VSize         int64  // RFC822.SIZE: bytes with CRLF line ends; below 0: not known
	Date          int64  // INTERNALDATE, unix seconds
}
