// Package source opens what a user has: a maildir, an mbox (plain, .gz, .zst)
// or one message file.
package source
