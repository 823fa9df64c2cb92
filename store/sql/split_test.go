package sqlstore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// show draws segments: h or b, the depth, and what is in them.
func show(segments []segment) string {
	var b strings.Builder
	for _, s := range segments {
		kind := "b"
		if s.header {
			kind = "h"
		}
		fmt.Fprintf(&b, "%s%d %q\n", kind, s.depth, s.bytes)
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	const multipart = "Content-Type: multipart/mixed; boundary=x\n\n"
	for _, c := range []struct{ name, msg, want string }{
		{"empty", "", ""},
		{"header alone", "A: b\n", "h0 \"A: b\\n\"\n"},
		{"no header", "\nbody", "h0 \"\\n\"\nb0 \"body\"\n"},
		{"text", "A: b\r\n\r\nbody\r\n", "h0 \"A: b\\r\\n\\r\\n\"\nb0 \"body\\r\\n\"\n"},
		{"two parts", multipart + "pre\n--x\nT: 1\n\none\n--x\n\ntwo\n--x--\nepi\n",
			"h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\n" +
				"b1 \"pre\"\nh1 \"\\n--x\\nT: 1\\n\\n\"\nb1 \"one\"\nh1 \"\\n--x\\n\\n\"\nb1 \"two\"\nb0 \"\\n--x--\\nepi\\n\"\n"},
		{"delimiter at once", multipart + "--x\n\none\n--x--", "h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\nh1 \"--x\\n\\n\"\nb1 \"one\"\nb0 \"\\n--x--\"\n"},
		{"never closed", multipart + "--x\n\none", "h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\nh1 \"--x\\n\\n\"\nb1 \"one\"\n"},
		{"other dashes", multipart + "--y\n--xx\n-- x\n", "h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\nb1 \"--y\\n--xx\\n-- x\\n\"\n"},
		{"nested, the inner one not closed", multipart + "--x\nContent-Type: multipart/alternative;\n boundary=\"in ner\"\n\n--in ner\n\ndeep\n--x \nT: 2\n\ntwo\n--x--\n",
			"h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\n" +
				"h1 \"--x\\nContent-Type: multipart/alternative;\\n boundary=\\\"in ner\\\"\\n\\n\"\n" +
				"h2 \"--in ner\\n\\n\"\nb2 \"deep\"\nh1 \"\\n--x \\nT: 2\\n\\n\"\nb1 \"two\"\nb0 \"\\n--x--\\n\"\n"},
		{"no empty line after a part's header", multipart + "--x\nT: 1\n--x\n\ntwo\n--x--\n",
			"h0 \"Content-Type: multipart/mixed; boundary=x\\n\\n\"\nh1 \"--x\\nT: 1\"\nh1 \"\\n--x\\n\\n\"\nb1 \"two\"\nb0 \"\\n--x--\\n\"\n"},
		{"boundary missing", "Content-Type: multipart/mixed\n\n--x\n\none\n", "h0 \"Content-Type: multipart/mixed\\n\\n\"\nb0 \"--x\\n\\none\\n\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(split(nil, []byte(c.msg))); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestSplit_bounds: hostile mail stays within the bounds and loses nothing.
func TestSplit_bounds(t *testing.T) {
	nest := ""
	for i := range 2 * maxDepth {
		nest += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for name, msg := range map[string]string{
		"parts":     "Content-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--x\n\ny\n", 5*maxSegments),
		"dashes":    "Content-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--\n", 1<<20),
		"depth":     nest,
		"long":      "A: b\n\n" + strings.Repeat("x", 2*maxSegment+5),
		"no line":   "Content-Type: multipart/mixed; boundary=x\n\n--x\n" + strings.Repeat("a", 1<<20),
		"boundary":  "Content-Type: multipart/mixed; boundary=" + strings.Repeat("x", maxBoundary+1) + "\n\n",
		"parameter": "Content-Type: multipart/mixed; " + strings.Repeat("a=b; ", 1e5) + "\n\n",
	} {
		holdSplit(t, name, []byte(msg))
	}
}

func holdSplit(t *testing.T, name string, msg []byte) {
	t.Helper()
	var all []byte
	segments := split(nil, msg)
	for _, s := range segments {
		if len(s.bytes) == 0 || len(s.bytes) > maxSegment || s.depth > maxDepth {
			t.Fatalf("%s: a segment of %d bytes at depth %d", name, len(s.bytes), s.depth)
		}
		all = append(all, s.bytes...)
	}
	if !bytes.Equal(all, msg) {
		t.Fatalf("%s: %d segments are not the message:\n%.400s", name, len(segments), show(segments))
	}
	if len(segments) > maxSegments+8+len(msg)/maxSegment {
		t.Fatalf("%s: %d segments", name, len(segments))
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("Content-Type: multipart/mixed; boundary=x\n\npre\n--x\nT: 1\n\none\n--x\r\n\r\ntwo\r\n--x--\nepi\n"))
	f.Add([]byte("Content-Type: multipart/a; boundary=\"x y\"\n\n--x y\nContent-Type: multipart/b; boundary=z\n\n--z\n\n--x y--\n--z--"))
	f.Add([]byte("\x00\xff\n\n--\n"))
	f.Fuzz(func(t *testing.T, msg []byte) { holdSplit(t, "fuzz", msg) })
}

func TestFields(t *testing.T) {
	long := strings.Repeat("x", maxValue+1)
	header := "Subject: a\n b\r\nSUBJECT: c\nno colon here\n continued: yes\nFrom : d\nBad Name: e\n: f\nX-Long: " + long +
		"\nX-Empty:\nx-nul\x00: g\nReferences: <1@x>\n\t<2@x>\n\n"
	for _, c := range []struct {
		which headers
		want  string
	}{
		{headersAll, "subject=a b|subject=c|from=d|x-empty=|references=<1@x>\t<2@x>|"},
		{headersEnvelope, "subject=a b|subject=c|from=d|references=<1@x>\t<2@x>|"},
		{headersNone, ""},
	} {
		got := ""
		c.which.fields([]byte(header), func(name string, value []byte) { got += name + "=" + string(value) + "|" })
		if got != c.want {
			t.Errorf("%d: got %q, want %q", c.which, got, c.want)
		}
	}
	n := 0
	headersAll.fields([]byte(strings.Repeat("A: b\n", 2*maxFields)), func(string, []byte) { n++ })
	if n != maxFields {
		t.Errorf("%d fields, want %d", n, maxFields)
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte("A: b\n c\n\nbody: x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		headersAll.fields(b, func(name string, value []byte) {
			if name == "" || len(name) > maxName || len(value) > maxValue || strings.ContainsAny(name, " \r\n\x00:") {
				t.Errorf("name %q, value of %d bytes", name, len(value))
			}
		})
	})
}
