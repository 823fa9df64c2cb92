// Package blockfile is a container of named, checksummed sections.
package blockfile
