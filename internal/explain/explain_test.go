package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
)

// explain explains a message file of that text.
func explain(t *testing.T, text string, o Options) *Message {
	t.Helper()
	path := filepath.Join(t.TempDir(), "1.eml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path, source.Options{Kind: "message"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	x, err := Explain(src, &l.Entries[0], index.Message{UID: 1, Key: l.Entries[0].Key, Flags: index.FlagSeen | index.FlagForwarded}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestExplain_warnings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing at all", "", []string{"truncated", "message-id-missing", "date-missing"}},
		{"no header", "\nbody\n", []string{"message-id-missing", "date-missing"}},
		{"unusable values", "Message-ID: none\nDate: soon\n\n", []string{"message-id-invalid", "date-unusable"}},
		{"all well", "Message-ID: <a@b>\nDate: Thu, 1 Jan 2015 10:00:00 +0000\n\n", []string{}},
	} {
		x := explain(t, c.text, Options{})
		if !reflect.DeepEqual(x.Warnings, c.want) {
			t.Errorf("%s: warnings %v, want %v", c.name, x.Warnings, c.want)
		}
		if x.Flags != "S" || x.Keywords == nil || x.References == nil || x.InReplyTo == nil {
			t.Errorf("%s: %+v", c.name, x)
		}
		if x.DateUnix == nil && x.SentUnix != x.InternalDate {
			t.Errorf("%s: sent %d, internal %d", c.name, x.SentUnix, x.InternalDate)
		}
	}
}

// TestExplain_odd holds what must not be lost or break JSON.
func TestExplain_odd(t *testing.T) {
	x := explain(t, "Subject: caf\xe9\r\nFrom: =?iso-8859-1?q?J=F6rg?= <j@x>\r\nX-One: a\r\n  b \r\nX-Raw: \xff\xfe\r\nX-Empty:\r\n\r\nx\r\n",
		Options{Headers: []string{"x-one", "X-Raw", "X-Empty", "X-None"}})
	if *x.Subject != "café" && *x.Subject != "caf�" {
		t.Errorf("subject %q", *x.Subject)
	}
	if *x.From != "Jörg <j@x>" || x.To != nil {
		t.Errorf("from %q, to %v", *x.From, x.To)
	}
	want := map[string]any{"x-one": "a  b", "X-Raw": map[string]string{"b64": "//4="}, "X-Empty": "", "X-None": nil}
	if !reflect.DeepEqual(x.Headers, want) {
		t.Errorf("headers %v, want %v", x.Headers, want)
	}
	if x.Size != x.RFC822Size {
		t.Errorf("a message of CRLF lines is %d and %d bytes", x.Size, x.RFC822Size)
	}
}

func TestCRLFSize(t *testing.T) {
	for in, want := range map[string]int64{"": 0, "\n": 2, "\r\n": 2, "\r": 1, "a\nb": 4, "\n\n": 4, "\r\n\n\r": 5} {
		if got := CRLFSize([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}
