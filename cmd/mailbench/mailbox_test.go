package main

import (
	"strings"
	"testing"
)

// TestIndexName holds that mailboxes do not share an index, and that a deep
// one has one.
func TestIndexName(t *testing.T) {
	if got := indexName("/home/u/Mail/lkml"); got != "home%u%Mail%lkml" {
		t.Error(got)
	}
	deep := strings.Repeat("/directory", 60)
	seen := map[string]string{}
	for _, path := range []string{"/a/b", "/a%b", `/a\%b`, `/a\/b`, `/a\b`, `/a%/b`, `/a/%b`, `/a%%b`, `/a\\b`, deep, deep + "/x", deep + "%x"} {
		name := indexName(path)
		if other, ok := seen[name]; ok || len(name) > 255 || strings.Contains(name, "/") {
			t.Errorf("%q: %q, also of %q", path, name, other)
		}
		seen[name] = path
	}
}
