// Package index keeps UIDs, flags and MODSEQ of a mailbox on disk, and is the
// ground that index designs stand on.
package index
