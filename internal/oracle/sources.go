package oracle

import "embed"

// Sources is the code of this package. Answers that were found with it and are
// kept are kept under its hash, so that none outlives a correction.
//
//go:embed *.go
var Sources embed.FS
