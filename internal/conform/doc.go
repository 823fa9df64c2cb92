// Package conform holds only tests. They run every case of the folder
// ../shared/cases (public fault reports turned into inputs and expected
// values, see its README) through the fast packages, one file per operation,
// and compare the fast packages with the oracle on the corpora beside it.
//
// Without the folder they pass and check nothing; with it, an operation that
// no file here knows fails the run.
package conform
