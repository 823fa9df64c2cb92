package conform

import (
	"testing"

	mailsort "mailbench/sort"
)

func runBaseSubject(t *testing.T, c *check) {
	var k struct {
		Reply bool `json:"expect_reply"`
	}
	c.decode(t, &k)
	base, reply := mailsort.BaseSubject(nil, c.input(t))
	if reply != k.Reply {
		t.Errorf("%.200s: reply %v", c.Raw, reply)
	}
	got := string(mailsort.Casemap(nil, base))
	key, keyReply := mailsort.SubjectKey(nil, c.input(t))
	if string(key) != got || keyReply != reply {
		t.Errorf("%.200s: SubjectKey %q %v, but BaseSubject %q %v", c.Raw, key, keyReply, got, reply)
	}
	c.accept(t, got, func(got, want any) bool {
		s, ok := want.(string)
		return ok && got == string(mailsort.Casemap(nil, []byte(s)))
	})
}
