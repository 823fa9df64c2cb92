package conform

import (
	"encoding/base64"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"mailbench/internal/rfc5322"
)

func runHeaderParse(t *testing.T, c *check) {
	var k struct {
		File    string
		Message int
		Expect  struct{ Get map[string]any }
	}
	c.decode(t, &k)
	b := readFile(t, filepath.Join(c.Dir, k.File))
	if k.Message > 0 {
		b = splitForTest(t, b)[k.Message-1].Stored
	}
	get := map[string]any{}
	for name := range k.Expect.Get {
		raw, ok := rfc5322.Get(b, name)
		value := rfc5322.Unfold(nil, raw)
		switch {
		case !ok:
			get[name] = nil
		case utf8.Valid(value):
			get[name] = string(value)
		default:
			get[name] = map[string]any{"b64": base64.StdEncoding.EncodeToString(value)}
		}
	}
	body := rfc5322.HeaderEnd(b, 0)
	if body < 0 {
		body = len(b)
	}
	var h rfc5322.Header
	rfc5322.Scan(b, rfc5322.MaskThread, &h)
	if h.BodyOff != body {
		t.Errorf("Scan puts the body at %d, HeaderEnd at %d", h.BodyOff, body)
	}
	got := plain(t, map[string]any{"get": get, "body_offset": body})
	c.accept(t, got, func(got, want any) bool { return sameHeader(got, want) })
}

// sameHeader compares field by field: a value that is UTF-8 may be expected as
// b64 all the same.
func sameHeader(got, want any) bool {
	g, w := got.(map[string]any), want.(map[string]any)
	if g["body_offset"] != w["body_offset"] {
		return false
	}
	gget, wget := g["get"].(map[string]any), w["get"].(map[string]any)
	for name, v := range wget {
		if fieldText(gget[name]) != fieldText(v) || (gget[name] == nil) != (v == nil) {
			return false
		}
	}
	return true
}

func fieldText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		s, _ := v["b64"].(string)
		b, err := base64.StdEncoding.DecodeString(s)
		if err == nil {
			return string(b)
		}
	}
	return ""
}
