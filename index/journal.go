package index

// A Journal is a Glancer that can tell what has happened since a known listing
// without making entries of the rest: a store that does all the writing itself.
// Then a Sync costs O(what happened), not O(mailbox).
type Journal interface {
	Glancer
	// Since sets l.Entries, after Glance with the same Listing, to the messages
	// that came, in the order of Source.Order, or whose flags, keywords or folder
	// changed since a listing with digest known, each key once, and returns the
	// keys that went (none of them is among the entries). ok false: they are more
	// than limit, or that listing is not remembered.
	Since(l *Listing, known Digest, limit int) (gone []string, ok bool)
}
