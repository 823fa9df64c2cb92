// Package sort orders messages as RFC 5256 SORT and RFC 5957 want. It knows
// no files: callers hand it raw header values and get keys, or hand it columns
// of comparable integers and get an order.
//
// The way of a key:
//
//	Subject     raw value -> SubjectKey (base subject, casemapped) -> Ranks -> column
//	From To Cc  raw value -> AddressKey (mailbox of the first address) -> Ranks -> column
//	Display*    raw value -> DisplayKey -> Ranks -> column
//	Date        raw value -> SentDate -> FromInt64 -> column
//	Arrival     INTERNALDATE -> FromInt64 -> column
//	Size        RFC822.SIZE (CRLF) -> column
//
// Invariants:
//
//	I1. Strings are compared once, by Ranks; Order sees integers only.
//	I2. Order is stable on the row number whatever the direction of the keys
//	    (RFC 5256 section 3: ties are broken by sequence number, REVERSE turns
//	    one key and not the tie).
//	I3. With a warm Scratch and a dst of enough capacity nothing allocates.
//	I4. Everything is linear in the bytes of its input, hostile input included;
//	    Ranks is linear in the bytes plus n log n in the worst case.
//
// Where Dovecot 2.3.19 leaves the RFCs, Compat chooses:
//
//   - RFC 5256 section 2.1 extracts the base subject first and compares by
//     i;unicode-casemap after that. Dovecot casemaps first, so a no-break
//     space, which decomposes to a space, collapses and trims like one, and
//     full-width letters make a re: too.
//   - Section 2.1 (1) makes one space of every run of white space. Dovecot
//     keeps a space in front of the first fold or tab, beside the one that this
//     becomes, and where the ABNF says *WSP it removes one.
//   - RFC 5051 decomposes the titlecase digraphs U+01C5, U+01C8, U+01CB and
//     U+01F2, and characters above U+FFFF into several; Dovecot does not.
//   - Dovecot decodes encoded words wherever they stand, see package rfc5322.
package sort
