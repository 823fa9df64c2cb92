// Package envelope is the static cache.
package envelope
