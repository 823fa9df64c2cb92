package scan

import (
	"fmt"
	"strings"
	"testing"
)

// A name with any bytes comes back from the list as it was, on a line of its own.
func TestList_names(t *testing.T) {
	names := []string{"1600000000.M1P2.host,S=3", "a\nb", "\n", "a\r", `"`, `"a"`, `a"b`, `\n`, "a b", " a", "a:b", "\xff\xfe", "Grüße", "\x00"}
	text := fmt.Sprintf("1 7 %d\n", len(names)+1)
	for i, name := range names {
		line := string(appendName(fmt.Appendf(nil, "%d ", i+1), name))
		if strings.ContainsAny(line, "\n\r") {
			t.Errorf("%q is written as %q", name, line)
		}
		text += line + "\n"
	}
	u, err := parseList([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Entries) != len(names) {
		t.Fatalf("%d names, want %d:\n%s", len(u.Entries), len(names), text)
	}
	for i, e := range u.Entries {
		if e.Key != names[i] || e.UID != uint32(i+1) {
			t.Errorf("uid %d is %q, want %q", e.UID, e.Key, names[i])
		}
	}
}

// A quoted name is one only as appendName writes it: else two lines could be one name.
func TestList_quotedOtherwise(t *testing.T) {
	u, err := parseList([]byte("1 7 9\n1 a\n2 \"a\"\n3 \"\\x61\"\n4 \"b\n5 \"\\n\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Entries) != 2 || u.Entries[0].Key != "a" || u.Entries[1].Key != "\n" {
		t.Errorf("%+v", u.Entries)
	}
}
