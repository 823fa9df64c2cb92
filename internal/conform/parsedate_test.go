package conform

import (
	"testing"

	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

func runParseDate(t *testing.T, c *check) {
	const internal = 987654321
	unix, ok := rfc5322.ParseDate(c.input(t))
	var got any
	if ok {
		got = unix
	}
	c.accept(t, got, nil)
	sent, fromHeader := mailsort.SentDate(c.input(t), internal)
	if fromHeader != ok || ok && sent != unix || !ok && sent != internal {
		t.Errorf("%s: SentDate gives %d %v, ParseDate %d %v", c.Raw, sent, fromHeader, unix, ok)
	}
}
