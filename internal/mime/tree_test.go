package mime

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/textproto"
)

var seed = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

// A node is a message as a tree: what is known of it without reading it.
type node struct {
	kind, sub string
	body      string
	kids      []*node
	id        int
}

// grow draws a tree; ids counts its nodes.
func grow(r *rand.Rand, depth int, ids *int) *node {
	*ids++
	n := &node{id: *ids, kind: "text", sub: []string{"plain", "html", "calendar"}[r.IntN(3)]}
	switch k := r.IntN(10); {
	case k < 4 && depth > 0:
		n.kind, n.sub = "multipart", []string{"mixed", "alternative", "related", "signed"}[r.IntN(4)]
		for range 1 + r.IntN(4) {
			n.kids = append(n.kids, grow(r, depth-1, ids))
		}
	case k < 5 && depth > 0:
		n.kind, n.sub = "message", "rfc822"
		n.kids = []*node{grow(r, depth-1, ids)}
	case k < 7:
		n.kind, n.sub = "application", "octet-stream"
	}
	for range r.IntN(5) {
		n.body += strings.Repeat("a-", r.IntN(30)) + "\r\n"
	}
	if r.IntN(2) == 0 {
		n.body += "--open end"
	}
	return n
}

// write makes a message of it with go-message's writer, which chooses the
// boundaries; want is its structure.
func (n *node) write(t *testing.T, w *bytes.Buffer) (want string) {
	t.Helper()
	var h message.Header
	h.SetContentType(n.kind+"/"+n.sub, map[string]string{"x": n.sub})
	if n.kind != "multipart" && n.kind != "message" {
		h.Set("Content-Description", "a "+n.sub)
		h.SetContentDisposition("attachment", map[string]string{"filename": n.sub + ".txt"})
		if err := textproto.WriteHeader(w, h.Header); err != nil {
			t.Fatal(err)
		}
		w.WriteString(n.body)
		lines := ""
		if n.kind == "text" {
			lines = fmt.Sprintf(" %d", strings.Count(n.body, "\n"))
		}
		return fmt.Sprintf(`("%s" "%s" ("x" "%s") NIL "a %s" "7bit" %d%s NIL ("attachment" ("filename" "%s.txt")) NIL NIL)`,
			n.kind, n.sub, n.sub, n.sub, len(n.body), lines, n.sub)
	}
	if n.kind == "message" {
		if err := textproto.WriteHeader(w, h.Header); err != nil {
			t.Fatal(err)
		}
		var inner bytes.Buffer
		inside := n.kids[0].write(t, &inner)
		w.Write(inner.Bytes())
		return fmt.Sprintf(`("message" "rfc822" ("x" "rfc822") NIL NIL "7bit" %d (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL) %s %d NIL NIL NIL NIL)`,
			inner.Len(), inside, bytes.Count(inner.Bytes(), []byte("\n")))
	}
	boundary := fmt.Sprintf("=_%d", n.id) // quoted by the writer of the header; 1 begins 10
	h.SetContentType(n.kind+"/"+n.sub, map[string]string{"boundary": boundary})
	if err := textproto.WriteHeader(w, h.Header); err != nil {
		t.Fatal(err)
	}
	mw := textproto.NewMultipartWriter(w)
	if err := mw.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	want = "("
	for _, kid := range n.kids {
		var part bytes.Buffer
		want += kid.write(t, &part)
		// Its header is already in it: the writer is given none.
		pw, err := mw.CreatePart(textproto.Header{})
		if err != nil {
			t.Fatal(err)
		}
		// CreatePart has ended the empty header with an empty line; take it back.
		w.Truncate(w.Len() - 2)
		if _, err := pw.Write(part.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := mw.Close(); err != nil {
		t.Fatal(err)
	}
	return want + fmt.Sprintf(` "%s" ("boundary" "%s") NIL NIL NIL)`, n.sub, boundary)
}

// TestAppendBodyStructure_trees: what go-message has written is told as it was
// meant, with either line end.
func TestAppendBodyStructure_trees(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	r := rand.New(rand.NewPCG(s, 0))
	nested := 0
	for range 300 {
		ids := 0
		n := grow(r, 4, &ids)
		var w bytes.Buffer
		want := n.write(t, &w)
		if got := string(AppendBodyStructure(nil, w.Bytes())); got != want {
			t.Fatalf("got  %s\nwant %s\nof %q", got, want, w.String())
		}
		lf := bytes.ReplaceAll(w.Bytes(), []byte("\r\n"), []byte("\n"))
		if got := string(AppendBodyStructure(nil, lf)); got != want {
			t.Fatalf("with LF: got  %s\nwant %s\nof %q", got, want, lf)
		}
		if len(n.kids) > 0 {
			nested++
		}
	}
	if nested < 50 {
		t.Errorf("only %d trees have branches", nested)
	}
}
