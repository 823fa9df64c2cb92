// Package corpus makes synthetic mailboxes that look like real mailing lists,
// the same bytes for the same Spec for ever, together with their own truth:
// the THREAD and SORT answers that a correct program must give.
//
// # Independence
//
// The package imports none of the packages that are measured with it (thread,
// sort, index, maildir, mbox, rfc5322). It writes maildirs and mboxes with its
// own writers, and computes its answers from what the generator decided (which
// message answers which, which words are in a subject), never by parsing what
// it wrote.
//
// # Shape
//
// The numbers are those of 762,467 messages of public kernel and tool lists.
//
//	what                              real lists                 here (shape list)
//	header block                      mean 5.2 KB, median 4.5,   the same
//	                                  p90 9.0, p99 14.8, max 26.6
//	Cc, To                            mean 468 B, 143 B          the same
//	whole message                     median 6.3 KB, p90 14.6,   body=short: 5.4, 10.3, 47; body=real: as measured
//	                                  p99 51, max 4.1 MB
//	messages with References          84%                        the same, up to 168 ids
//	longest chain, largest thread     177, 500                   the same bounds
//	threads with one message          38%                        the same
//	parents named but absent          5.2%                       the same
//	children before their parent      3%                         the same
//	repeated Message-ID               0.1%                       the same
//	In-Reply-To without an id         0.3%                       the same
//	References without an id          0.1%                       the same
//	encoded subjects                  0.4%                       the same; B and Q in nine charsets
//	a body line starting with From    0.6%                       the same
//	raw 8-bit header, no Subject, NUL, bare CR, no Date, bad Date   a few of each
//
// Real headers of today have a mean of 5.2 KB, which alone is the size of a
// whole message of the benchmark of 2003 (367,918 messages, 1.9 GB). The header
// is what SORT and THREAD read, so its size is kept as it is, and the bodies
// are short by default (mean 1.8 KB, the long tail kept): 367,918 messages are
// about 2.6 GB. Body "real" has the measured whole sizes (about 3.7 GB), Body
// "none" almost no body at all.
//
// # Identity
//
// Version is part of every path and name; it changes whenever any spec's bytes
// change. Randomness comes from this package's own generator (rng.go), so that
// no release of Go can change a corpus.
package corpus
