package mbox_test

import (
	"bytes"
	"fmt"
	"time"

	"mailbench/mbox"
)

func Example() {
	var file bytes.Buffer
	w := mbox.NewWriter(&file)
	w.Write("ann@example.org", time.Unix(1700000000, 0), []byte("Subject: one\n\nFrom here on ...\n"))
	w.Write("bob@example.org", time.Unix(1700000060, 0), []byte("Subject: two\n\n"))

	b := file.Bytes()
	mbox.Scan(b, mbox.MboxRD, func(m mbox.Message) bool {
		fmt.Printf("at %d, %d bytes: %q\n", m.Off, m.Size(), mbox.Unquote(nil, b[m.BodyOff:m.End], mbox.MboxRD))
		return true
	})
	// Output:
	// at 0, 32 bytes: "Subject: one\n\nFrom here on ...\n"
	// at 79, 14 bytes: "Subject: two\n\n"
}
