// Package mbox reads mbox files by offsets, without copying, and writes mboxrd.
package mbox
