// Package rfc5322 reads the header of a mail message: fields, dates,
// message identifiers, addresses and encoded words, straight from the stored
// bytes.
package rfc5322
