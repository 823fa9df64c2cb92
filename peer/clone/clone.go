// Package clone makes a maildir of a server's own from a corpus.
package clone

// A Mode says how files are cloned.
type Mode uint8

// The modes.
const (
	Auto     Mode = iota // reflink where the file system has it, else copy
	Reflink              // share the blocks (FICLONE)
	Copy                 // copy the bytes
	Hardlink             // link(2): cheap, but changes the link count and ctime of the corpus
)
