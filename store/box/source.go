package box

import "mailbench/index"

// Source is the mail as the index sees it, for who wants more of a message than
// Read gives: its header alone, its INTERNALDATE. It must not be used after Close.
func (b *Box) Source() index.Source { return b.src }
