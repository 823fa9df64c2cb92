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
// The numbers on the left are those of 762,467 messages of public kernel and
// tool lists, on the right those of synthetic:367918 (body=real: 50,000).
// corpus/stat prints them for any mailbox, and its test holds the generator to
// them.
//
//	what                              real lists             here
//	header block, mean                5.2 KB                 5.2
//	  median, p90, p99, largest       4.5, 9.0, 14.8, 26.6   4.4, 8.9, 14.7, 26.6
//	  over 4 KiB, over 8 KiB          60%, 13%               58%, 13%
//	Cc, To, References, mean          468, 143, 185 B        452, 130, 189 B
//	whole message, mean               9.8 KB                 7.0 (body=real: 9.7)
//	  median, p90, p99, largest       6.3, 14.6, 51, 4100    5.1, 10.3, 30, 4000 (6.7, 14.3, 45, 3400)
//	with References                   84%                    85%
//	ids in References, at most        168                    168
//	longest chain, largest thread     177, 500               171, 485
//	messages of a thread, mean        5.8 to 8.0             6.7
//	threads with one message          38%                    37%
//	absent, of the parents named      5.2%                   5.4%
//	before their parent               3%                     2.7%
//	repeated Message-ID               0.1%                   0.10%
//	In-Reply-To without an id         0.3%                   0.25%
//	References without an id          0.1%                   0.09%
//	encoded subject                   0.4%                   0.39%, B and Q, nine charsets
//	a body line beginning with From   0.6%                   0.54%
//
// and some hundredths of a percent each of: raw 8-bit header, NUL bytes, bare
// CR, no Subject, no Date, a Date that cannot be used, a clock that is wrong by
// days, a second Subject field, a line without a colon, no Message-ID, one
// without brackets, one with a quoted local part.
//
// Real headers of today have a mean of 5.2 KB, which alone is the size of a
// whole message of the benchmark of 2003 (367,918 messages, 1.9 GB). The header
// is what SORT and THREAD read, so it is kept as it is, and the bodies are short
// by default: mean 1.8 KB, most of it in a long tail, so that 367,918 messages
// are 2.6 GB. Body "real" has whole messages as long as measured (3.6 GB), Body
// "none" almost no body at all.
//
// Messages arrive at about a thousand a day from 1 January 2010 on, and a
// smaller corpus of the same seed is the beginning of a larger one, save for
// what lies in new/. Up to some 5,000 messages the beginning shows: threads have
// not grown yet.
//
// # Bias
//
// Text is drawn from a small vocabulary: it compresses better than real text,
// and its charset is mostly ASCII. Fields come in one order, References last.
// Trace fields are mostly random letters. Domains and names are few.
//
// # Identity
//
// Version is part of every path and name; it changes whenever any spec's bytes
// change. Randomness comes from this package's own generator (rng.go), so that
// no release of Go can change a corpus.
package corpus
