package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// counting is a Progress that stops a context after some messages.
type counting struct {
	after, n, total int
	stop            func()
	ended           bool
}

func (c *counting) Start(_ string, total int) { c.total = total }
func (c *counting) Done()                     { c.ended = true }
func (c *counting) Add(n int) {
	if c.n += n; c.stop != nil && c.n >= c.after {
		c.stop()
	}
}

func TestWriteMaildir(t *testing.T) {
	spec := Spec{Messages: 3000, Seed: 5}
	dir := filepath.Join(t.TempDir(), "a", "b")
	p := &counting{}
	info, err := WriteMaildir(t.Context(), dir, spec, p)
	if err != nil {
		t.Fatal(err)
	}
	if p.n != 3000 || p.total != 3000 || !p.ended {
		t.Errorf("progress %+v", p)
	}
	files := 0
	for _, sub := range []string{"cur", "new", "tmp"} {
		list, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			t.Fatal(err)
		}
		files += len(list)
	}
	g := Generate(spec)
	var m Message
	for g.Next(&m) {
		path := filepath.Join(dir, m.Dir, m.File)
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, m.Data) {
			t.Fatalf("message %d: %v, %d octets of %d", m.N, err, len(data), len(m.Data))
		}
		st, err := os.Stat(path)
		if err != nil || st.ModTime() != time.Unix(m.Internal, 0) || st.Mode() != 0o644 {
			t.Fatalf("message %d: %v %v %v", m.N, st.ModTime(), st.Mode(), err)
		}
	}
	if files != 3000 || info != g.Info() {
		t.Errorf("%d files, %+v, generated %+v", files, info, g.Info())
	}
	if _, err := WriteMaildir(t.Context(), dir, spec, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing into a full maildir: %v", err)
	}
}

func TestWriteMaildir_stopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	_, err := WriteMaildir(ctx, t.TempDir(), Spec{Messages: 5000}, &counting{after: 1000, stop: func() { cancel(why) }})
	if !errors.Is(err, why) {
		t.Errorf("stopped: %v", err)
	}
}

// splitMbox reads an mboxrd file the simple way.
func splitMbox(t *testing.T, data []byte) (froms []string, msgs [][]byte) {
	t.Helper()
	data = append([]byte("\n"), bytes.TrimSuffix(data, []byte("\n"))...)
	for _, part := range bytes.Split(data, []byte("\nFrom "))[1:] {
		from, msg, ok := bytes.Cut(part, []byte("\n"))
		if !ok {
			t.Fatalf("a From_ line alone: %q", part)
		}
		var out []byte
		for line := range bytes.Lines(append(msg, '\n')) {
			if rest := bytes.TrimLeft(line, ">"); len(rest) < len(line) && bytes.HasPrefix(rest, fromWord) {
				line = line[1:]
			}
			out = append(out, line...)
		}
		froms = append(froms, string(from))
		msgs = append(msgs, bytes.TrimSuffix(out, []byte("\n")))
	}
	return froms, msgs
}

func TestWriteMbox(t *testing.T) {
	for _, spec := range []Spec{{Messages: 3000, Seed: 5}, {Messages: 200, Shape: ManyRefs}, {Messages: Empty}} {
		path := filepath.Join(t.TempDir(), "mbox")
		info, err := WriteMbox(t.Context(), path, spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		froms, msgs := splitMbox(t, data)
		g := Generate(spec)
		var m Message
		for g.Next(&m) {
			from := m.Sender + " " + time.Unix(m.Internal, 0).UTC().Format(time.ANSIC)
			if m.N > len(msgs) || froms[m.N-1] != from || !bytes.Equal(bytes.TrimSuffix(msgs[m.N-1], []byte("\n")), bytes.TrimSuffix(m.Data, []byte("\n"))) {
				t.Fatalf("%s: message %d differs", spec, m.N)
			}
		}
		if len(msgs) != spec.Count() || info != g.Info() {
			t.Errorf("%s: %d messages, %+v, generated %+v", spec, len(msgs), info, g.Info())
		}
		if _, err := WriteMbox(t.Context(), path, spec, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("writing over an mbox: %v", err)
		}
	}
}

func TestWriteMbox_stopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "mbox")
	_, err := WriteMbox(ctx, path, Spec{Messages: 5000}, &counting{after: 100, stop: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half an mbox is left: %v", err)
	}
}

func TestAppendQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"From a\n":               ">From a\n",
		"a From b\nFrom":         "a From b\nFrom",
		"a\nFrom b\nFrom c\n":    "a\n>From b\n>From c\n",
		">From a\n>>From b\n":    ">>From a\n>>>From b\n",
		"> From a\n>From From b": "> From a\n>>From From b",
		"From From From ":        ">From From From ",
		"\n\nFrom \n":            "\n\n>From \n",
		"a>From b":               "a>From b",
	} {
		if got := string(appendQuoted(nil, []byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestFaultsAreThere(t *testing.T) {
	if testing.Short() {
		t.Skip("30,000 messages")
	}
	found := map[string]int{}
	g := Generate(Spec{Messages: 30000, Body: BodyNone})
	var m Message
	for g.Next(&m) {
		head, body, _ := bytes.Cut(m.Data, []byte("\n\n"))
		for name, is := range map[string]bool{
			"NUL":             bytes.IndexByte(body, 0) >= 0,
			"NUL header":      bytes.IndexByte(head, 0) >= 0,
			"bare CR":         bytes.IndexByte(m.Data, '\r') >= 0,
			"Latin-1":         bytes.IndexByte(head, 0xfc) >= 0,
			"no colon":        bytes.Contains(head, []byte("\nthis line lost")),
			"From":            bytes.Contains(m.Data, []byte("\nFrom ")),
			">From":           bytes.Contains(m.Data, []byte("\n>From ")),
			"no Message-ID":   !bytes.Contains(bytes.ToLower(head), []byte("\nmessage-id:")),
			"bare Message-ID": bytes.Contains(head, []byte("\nMessage-ID: ")) && !bytes.Contains(head, []byte("\nMessage-ID: <")),
			"quoted id":       bytes.Contains(bytes.ToLower(head), []byte("\nmessage-id: <\"")),
			"no Date":         !bytes.Contains(head, []byte("\nDate:")),
			"bad Date":        bytes.Contains(head, []byte("\nDate: yesterday")),
			"no Subject":      !bytes.Contains(head, []byte("\nSubject:")),
			"no To":           !bytes.Contains(head, []byte("\nTo:")),
			"B":               bytes.Contains(head, []byte("?B?")),
			"another charset": bytes.Contains(head, []byte("=?iso-")),
			"prose":           bytes.Contains(head, []byte("\nIn-Reply-To: Your")),
			"hollow":          bytes.Contains(head, []byte("\nReferences: (all")),
			"tight":           bytes.Contains(head, []byte("><")),
			"series":          bytes.Contains(head, []byte("[PATCH v2 ")),
			"fwd":             bytes.Contains(head, []byte("[Fwd: ")),
			"qmail":           strings.Contains(m.File, ".qhost"),
			"courier":         strings.Contains(m.File, "V0000000000000801I"),
			"no S=":           !strings.Contains(m.File, ",S="),
			"no info":         m.Dir == "cur" && !strings.Contains(m.File, ":"),
			"trashed":         strings.Contains(m.Flags, "T"),
			"new":             m.Dir == "new",
		} {
			if is {
				found[name]++
			} else if _, ok := found[name]; !ok {
				found[name] = 0
			}
		}
	}
	for name, n := range found {
		if n == 0 {
			t.Errorf("nothing with %s", name)
		}
	}
	t.Log(found)

	written := map[string]bool{}
	for i, forms := range encodedSubjects() {
		for _, f := range forms {
			charset, _, _ := strings.Cut(string(f[2:]), "?")
			written[charset] = true
		}
		if len(forms) != 2+2*len(intlSubjects[i].charsets) {
			t.Errorf("%d forms of %q", len(forms), intlSubjects[i].text)
		}
	}
	if len(written) != 1+len(charsets) {
		t.Errorf("charsets %v", written)
	}

	g = Generate(Spec{Messages: 3000, Clean: true})
	for g.Next(&m) {
		if i := slices.IndexFunc(m.Data, func(c byte) bool { return c == 0 || c == '\r' || c == 0xfc }); i >= 0 {
			t.Fatalf("clean message %d has a byte %#x", m.N, m.Data[i])
		}
	}
}

func ExampleGenerate() {
	g := Generate(Spec{Messages: 3})
	var m Message
	for g.Next(&m) {
		fmt.Println(m.N, m.Dir, m.File, len(m.Data))
	}
	// Output:
	// 1 cur 1262304005.M329182P13134.box,S=2967,W=3019:2, 2967
	// 2 cur 1262304890.M428088P14888.box,S=4347,W=4422:2,S 4347
	// 3 cur 1262305866.M285389P7451.box:2,S 4590
}
