// Package maildir is store=maildir.
package maildir
