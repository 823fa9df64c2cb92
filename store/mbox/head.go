package mbox

import (
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// A head is what the first, internal message of the file tells.
type head struct {
	validity uint32 // for other readers: when the mailbox was made
	last     uint32 // the highest UID given out before the file was written
	gen      uint64 // rises with each writing anew
	length   int64  // of the file when it was written
	ok       bool   // it could be read
}

// headLen is its length, always.
var headLen = int64(len((&head{}).append(nil)))

var headNames = func() string {
	var b strings.Builder
	for i := range 32 {
		b.WriteString(" " + keywordNames[i])
	}
	return b.String()
}()

func (h *head) append(dst []byte) []byte {
	from := len(dst)
	dst = fmt.Appendf(dst, "From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n"+
		"Subject: the mailbox's own data\n"+
		"X-IMAP: %010d %010d%s\n"+
		"X-Mailbench-Store: 1 %020d %020d ", h.validity, h.last, headNames, h.gen, h.length)
	sum := xxhash.Sum64(dst[from:])
	return fmt.Appendf(dst, "%016x\nStatus: RO\n\n"+
		"This is no message. It holds the last UID that was given out.\n\n", sum)
}

// parseHead reads what append has written; ok is false for anything else.
func parseHead(b []byte) head {
	var h head
	var sum uint64
	lines := strings.SplitN(string(b), "\n", 5)
	if len(lines) < 5 || int64(len(b)) != headLen {
		return head{}
	}
	// The scans are lenient; what they found is then written again.
	fmt.Sscanf(lines[2], "X-IMAP: %d %d", &h.validity, &h.last)
	fmt.Sscanf(lines[3], "X-Mailbench-Store: 1 %d %d %x", &h.gen, &h.length, &sum)
	if string(h.append(nil)) != string(b) || h.gen == 0 || h.length < headLen {
		return head{}
	}
	h.ok = true
	return h
}
