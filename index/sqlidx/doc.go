// Package sqlidx is the index design that keeps a mailbox in an SQL database.
package sqlidx
