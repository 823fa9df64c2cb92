// Package fsys is the only way in which index, store and delivery touch files.
//
// It is thin: one method is one system call. What it gives in return are
// wrappers that compose: Counting tells how many calls and bytes an operation
// took, Failing lets the disk fill up or a sector go bad, Delaying makes a slow
// device out of a fast one, Unsynced leaves out what makes data last, and Recording keeps every change so that Replay can
// rebuild the directory as a crash might have left it.
//
// Reading of the user's mail does not pass through here; package maildir has
// its own directory and header reader, which is never given a writable handle.
package fsys
