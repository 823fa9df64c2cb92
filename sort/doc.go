// Package sort orders messages as RFC 5256 SORT (and RFC 5957) wants.
// It knows no files: callers hand it header values and columns.
package sort
