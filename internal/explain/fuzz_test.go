package explain

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzHeader explains any header: always something that JSON can hold, with
// lists that are never null.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{
		"", "\n", "Subject: =?utf-8?q?Re:?= x\nReferences: <a@b> <c@d>\nDate: Thu, 1 Jan 2015 10:00:00 +0000\n\nbody",
		"Message-ID: <\xff@b>\r\nFrom: \xff <a@b>\r\nX: \xfe\r\n\r\n", "From a@b\n: \n x\n\x00\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := &Message{Warnings: []string{}}
		x.header(b, Options{Headers: []string{"X", "Subject", "From"}})
		x.Put(Place{Root: 1, By: ByReferences})
		text, err := json.Marshal(x)
		if err != nil || !utf8.Valid(text) {
			t.Fatalf("%q: %v, %q", b, err, text)
		}
		if x.References == nil || x.InReplyTo == nil || len(x.Headers) != 3 || x.HeaderSize < 0 || x.HeaderSize > int64(len(b)) {
			t.Errorf("%q: %+v", b, x)
		}
	})
}
