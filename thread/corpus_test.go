package thread_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// The way from an mbox to a THREAD or SORT line, with nothing but this package,
// package sort and the header scanner: what an index does, without an index.

// shared finds the folder with corpora, answers and cases beside the project.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	for _, dir := range []string{os.Getenv("MAILBENCH_SHARED"), "../shared", "../../shared", "../../../shared"} {
		if dir == "" {
			continue
		}
		path := filepath.Join(append([]string{dir}, elem...)...)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("%s is not beside the project", filepath.Join(elem...))
	return ""
}

// unpack reads a file, through zstd if it is one.
func unpack(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		path += ".zst"
		b, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".zst") {
		return b
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderMaxMemory(4<<30))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err = d.DecodeAll(b, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// A mailbox is columns.
type mailbox struct {
	in       thread.Input
	col      [mailsort.NumKeys][]uint64
	ids, sub *thread.Interner
	arena    [mailsort.NumKeys]mailsort.Arena
}

// mbox reads well-formed mboxrd: "From " after an empty line starts a message.
func mbox(t testing.TB, b []byte, c mailsort.Compat) *mailbox {
	t.Helper()
	box := &mailbox{ids: thread.NewInterner(0, 0), sub: thread.NewInterner(0, 0)}
	box.in.RefOff = []uint32{0}
	box.sub.Intern(nil) // 0 is the empty subject
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) < 7 || words[0] != "From" {
			t.Fatalf("message %d: From_ line %q", box.in.N+1, line)
		}
		at, err := time.Parse("Jan 2 15:04:05 2006", strings.Join(words[3:7], " "))
		if err != nil {
			t.Fatal(err)
		}
		msg := rest
		b = nil
		if i := bytes.Index(rest, []byte("\n\nFrom ")); i >= 0 {
			msg, b = rest[:i+1], rest[i+2:]
		} else if bytes.HasSuffix(rest, []byte("\n\n")) {
			msg = rest[:len(rest)-1]
		}
		box.add(msg, at.Unix(), c)
	}
	for _, k := range []mailsort.Key{mailsort.From, mailsort.To, mailsort.Cc, mailsort.Subject} {
		for _, r := range mailsort.Ranks(nil, &box.arena[k], new(mailsort.Scratch)) {
			box.col[k] = append(box.col[k], uint64(r))
		}
	}
	box.in.NumIDs = box.ids.Len()
	return box
}

func (box *mailbox) add(msg []byte, internal int64, c mailsort.Compat) {
	var h rfc5322.Header
	rfc5322.Scan(msg, rfc5322.MaskThread|rfc5322.MaskSort, &h)
	in := &box.in
	in.N++
	in.ID = append(in.ID, -1)
	if id, _, ok := rfc5322.FirstID(h.Raw(msg, rfc5322.MessageID), nil); ok {
		in.ID[in.N-1] = box.ids.Intern(id)
	}
	before := len(in.Ref)
	rfc5322.EachID(h.Raw(msg, rfc5322.References), nil, func(id []byte) bool {
		in.Ref = append(in.Ref, box.ids.Intern(id))
		return c != mailsort.Dovecot || len(in.Ref)-before < 1000
	})
	if len(in.Ref) == before {
		if id, _, ok := rfc5322.FirstID(h.Raw(msg, rfc5322.InReplyTo), nil); ok {
			in.Ref = append(in.Ref, box.ids.Intern(id))
		}
	}
	in.RefOff = append(in.RefOff, uint32(len(in.Ref)))
	key, reply := c.SubjectKey(nil, h.Raw(msg, rfc5322.Subject))
	in.Subject = append(in.Subject, box.sub.Intern(key))
	in.Reply = append(in.Reply, 0)
	if reply {
		in.Reply[in.N-1] = 1
	}
	box.arena[mailsort.Subject].Append(key)
	sent, _ := c.SentDate(h.Raw(msg, rfc5322.Date), internal)
	in.Date = append(in.Date, sent)
	box.arena[mailsort.From].Append(c.AddressKey(nil, h.Raw(msg, rfc5322.From)))
	box.arena[mailsort.To].Append(c.AddressKey(nil, h.Raw(msg, rfc5322.To)))
	box.arena[mailsort.Cc].Append(c.AddressKey(nil, h.Raw(msg, rfc5322.Cc)))
	box.col[mailsort.Date] = append(box.col[mailsort.Date], mailsort.FromInt64(sent))
	box.col[mailsort.Arrival] = append(box.col[mailsort.Arrival], mailsort.FromInt64(internal))
	box.col[mailsort.Size] = append(box.col[mailsort.Size], crlfSize(msg))
}

// crlfSize is the size of an mboxrd message, unquoted and with CRLF.
func crlfSize(msg []byte) (size uint64) {
	for len(msg) > 0 {
		line := msg
		if i := bytes.IndexByte(msg, '\n'); i >= 0 {
			line = msg[:i+1]
			if i == 0 || line[i-1] != '\r' {
				size++
			}
		}
		msg = msg[len(line):]
		size += uint64(len(line))
		if line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
			size--
		}
	}
	return size
}

func (box *mailbox) uids() []uint32 {
	uid := make([]uint32, box.in.N)
	for i := range uid {
		uid[i] = uint32(i + 1)
	}
	return uid
}

func (box *mailbox) thread(alg thread.Alg) string {
	var f thread.Forest
	thread.Build(alg, &box.in, nil, &f, new(thread.Scratch))
	return string(f.AppendIMAP(nil, box.uids()))
}

func (box *mailbox) sort(t testing.TB, keys string) (uids []uint32) {
	crit, err := mailsort.ParseCriteria(keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mailsort.Order(nil, box.in.N, nil, crit, func(k mailsort.Key) []uint64 { return box.col[k] }, new(mailsort.Scratch)) {
		uids = append(uids, uint32(r+1))
	}
	return uids
}

func TestCorpora(t *testing.T) {
	for _, c := range []struct {
		name   string
		compat mailsort.Compat
		differ string // answers in which Dovecot leaves the RFC, see package sort
	}{
		{"real-500", mailsort.RFC, ""}, {"real-500", mailsort.Dovecot, ""},
		{"real-12k", mailsort.RFC, ""}, {"real-12k", mailsort.Dovecot, ""},
		{"lkml-headers", mailsort.RFC, "thread_references thread_orderedsubject sort_subject sort_subject_reverse_date"},
		{"lkml-headers", mailsort.Dovecot, ""},
	} {
		t.Run(c.name+"/"+c.compat.String(), func(t *testing.T) {
			if c.name == "real-12k" && testing.Short() {
				t.Skip("94 MB: not under -short")
			}
			if c.name == "lkml-headers" && os.Getenv("MAILBENCH_LONG") == "" {
				t.Skip("408 MB: only with MAILBENCH_LONG=1")
			}
			b := unpack(t, shared(t, "corpora", c.name+".mbox.zst"))
			box := mbox(t, b, c.compat)
			check := func(name, got string, took time.Duration) {
				want := strings.TrimSuffix(string(unpack(t, shared(t, "oracle", c.name)+"/"+name+".txt")), "\n")
				t.Logf("%-28s %v", name, took)
				if differs := strings.Contains(" "+c.differ+" ", " "+name+" "); differs {
					if got == want {
						t.Errorf("%s: as Dovecot's, and it should not be", name)
					}
				} else if got != want {
					t.Errorf("%s: %s", name, firstDifference(got, want))
				}
			}
			for alg := range thread.NumAlgs {
				start := time.Now()
				got := box.thread(alg)
				check("thread_"+alg.String(), got, time.Since(start))
			}
			for _, keys := range []string{"arrival", "date", "subject", "from", "to", "cc", "size", "reverse date", "subject reverse date"} {
				start := time.Now()
				got := string(mailsort.AppendIMAP(nil, box.sort(t, keys)))
				check("sort_"+strings.ReplaceAll(keys, " ", "_"), got, time.Since(start))
			}
		})
	}
}

// firstDifference shows where two answers part.
func firstDifference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-40)
	return fmt.Sprintf("at byte %d: got %q, want %q", i, got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
}

// The THREAD and SORT cases beside the project.
func TestSharedCases(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(shared(t, "cases"), "*", "expect.json"))
	checked := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(`"thread-`)) && !bytes.Contains(b, []byte(`"sort"`)) {
			continue
		}
		var c struct {
			ID     string
			Checks []struct {
				Op         string
				Keys       []string
				Expect     json.RawMessage
				ExpectFile string            `json:"expect_file"`
				AlsoOK     []json.RawMessage `json:"also_ok"`
			}
		}
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		dir := filepath.Dir(file)
		var box *mailbox
		for _, k := range c.Checks {
			if k.Op != "sort" && !strings.HasPrefix(k.Op, "thread-") {
				continue
			}
			if box == nil {
				box = mbox(t, mustMbox(t, dir), mailsort.RFC)
			}
			checked++
			var got any
			switch k.Op {
			case "sort":
				got = box.sort(t, strings.Join(k.Keys, " "))
			default:
				alg, err := thread.ParseAlg(strings.TrimPrefix(k.Op, "thread-"))
				if err != nil {
					t.Fatalf("%s: %v", c.ID, err)
				}
				got = strings.TrimPrefix(strings.TrimPrefix(box.thread(alg), "* THREAD"), " ")
			}
			text, _ := json.Marshal(got)
			ok := false
			if k.ExpectFile != "" {
				ok = got == strings.TrimSuffix(string(unpack(t, filepath.Join(dir, k.ExpectFile))), "\n")
			}
			for _, want := range append(k.AlsoOK, k.Expect) {
				var w bytes.Buffer
				if json.Compact(&w, want) == nil && bytes.Equal(w.Bytes(), text) {
					ok = true
				}
			}
			if !ok {
				t.Errorf("%s %s %v: got %.300s, want %.300s", c.ID, k.Op, k.Keys, text, k.Expect)
			}
		}
	}
	t.Logf("%d checks", checked)
}

func mustMbox(t testing.TB, dir string) []byte {
	path := filepath.Join(dir, "msgs.mbox")
	if b, err := os.ReadFile(path); err == nil {
		return b
	}
	return gunzip(t, path+".gz")
}
