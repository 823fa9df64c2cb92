// Package mbox is store=mbox.
package mbox
