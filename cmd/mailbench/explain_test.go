//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// explained decodes what explain prints, one object a line.
func explained(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	return objects(t, must(t, append([]string{"explain"}, args...)...))
}

func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var x map[string]any
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		out = append(out, x)
	}
	return out
}

// keys lists the keys of the object in line in their order.
func keys(t *testing.T, line string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	var out []string
	depth, key := 0, true
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		case string:
			if depth == 1 && key {
				out = append(out, v)
				key = false
				continue
			}
		}
		if depth == 1 {
			key = true
		}
	}
}

var wantKeys = strings.Fields("uid key folder flags keywords offset message_offset size rfc822_size header_size internal_date " +
	"message_id references in_reply_to date_raw date_unix sent_unix subject base_subject is_reply from to cc warnings parent_uid root_uid by")

func TestExplain_keys(t *testing.T) {
	for _, b := range boxes(t, home(t)) {
		for line := range strings.Lines(must(t, "explain", b.path)) {
			if got := keys(t, line); !slices.Equal(got, wantKeys) {
				t.Errorf("%s: keys %v, want %v", b.name, got, wantKeys)
			}
		}
		for line := range strings.Lines(must(t, "explain", "-header", "Subject", b.path)) {
			if got := keys(t, line); !slices.Equal(got, append(slices.Clone(wantKeys), "headers")) {
				t.Errorf("%s: keys %v, want headers too", b.name, got)
			}
		}
	}
}

// TestExplain_values holds every value of the small mailbox in every form.
func TestExplain_values(t *testing.T) {
	str := func(s string) any { return s }
	list := func(s ...any) any { return append([]any{}, s...) }
	want := []map[string]any{
		{"message_id": str("a@one.example"), "references": list(), "in_reply_to": list(), "date_raw": str("Thu, 1 Jan 2015 10:00:00 +0000"),
			"date_unix": 1420106400.0, "sent_unix": 1420106400.0, "internal_date": 1420106400.0, "subject": str("Plan of the garden"),
			"base_subject": str("Plan of the garden"), "is_reply": false, "from": str("Zoe <zoe@one.example>"), "to": str("list@lists.example"), "cc": nil},
		{"message_id": str("b@two.example"), "references": list("a@one.example"), "in_reply_to": list(), "date_raw": str("Thu, 1 Jan 2015 13:00:00 +0200"),
			"date_unix": 1420110000.0, "sent_unix": 1420110000.0, "internal_date": 1420110000.0, "subject": str("Re: Plan of the garden"),
			"base_subject": str("Plan of the garden"), "is_reply": true, "from": str("Jörg <joerg@two.example>"),
			"to": str("Zoe <zoe@one.example>,  \"Lists, all\" <list@lists.example>"), "cc": str("anna@three.example")},
		{"message_id": str("c@three.example"), "references": list(), "in_reply_to": list(), "date_raw": str("yesterday"),
			"date_unix": nil, "sent_unix": 1420113600.0, "internal_date": 1420113600.0, "subject": str("Another matter"),
			"base_subject": str("Another matter"), "is_reply": false, "from": str("Anna <anna@three.example>"), "to": nil, "cc": nil},
		{"message_id": str("d@one.example"), "references": list("a@one.example", "lost@two.example", "b@two.example"), "in_reply_to": list("b@two.example"),
			"date_raw": str("Thu, 1 Jan 2015 09:30:00 +0000"), "date_unix": 1420104600.0, "sent_unix": 1420104600.0, "internal_date": 1420117200.0,
			"subject": str("beans"), "base_subject": str("beans"), "is_reply": false, "from": str("zoe@one.example"), "to": nil, "cc": nil},
	}
	for _, b := range boxes(t, home(t)) {
		got := explained(t, b.path)
		if len(got) != len(want) {
			t.Fatalf("%s: %d messages", b.name, len(got))
		}
		var box []byte
		if b.name == "box" {
			box, _ = os.ReadFile(b.path)
		}
		for i, x := range got {
			for k, v := range want[i] {
				if !reflect.DeepEqual(x[k], v) {
					t.Errorf("%s, UID %d: %s is %v, want %v", b.name, i+1, k, x[k], v)
				}
			}
			if x["uid"] != float64(i+1) || x["flags"] != flags[i] || !reflect.DeepEqual(x["keywords"], []any{}) {
				t.Errorf("%s: uid %v, flags %v, keywords %v", b.name, x["uid"], x["flags"], x["keywords"])
			}
			if bad := slices.Contains(x["warnings"].([]any), any("date-unusable")); bad != (i == 2) {
				t.Errorf("%s, UID %d: warnings %v", b.name, i+1, x["warnings"])
			}
			if b.mbox {
				if x["folder"] != "" || x["offset"] == nil || x["message_offset"].(float64)-x["offset"].(float64) != float64(len("From someone@example \n")+24) {
					t.Errorf("%s: folder %v, offset %v, message_offset %v", b.name, x["folder"], x["offset"], x["message_offset"])
				}
				if off := int(x["message_offset"].(float64)); box != nil && !bytes.Contains(box[off:off+60], []byte("Date: ")) {
					t.Errorf("message_offset %d: %q", off, box[off:off+60])
				}
				continue
			}
			size := float64(len(mails[i].text))
			header := float64(strings.Index(mails[i].text, "\n\n") + 2)
			if x["key"] != name(i) || x["folder"] != "cur" || x["offset"] != nil || x["message_offset"] != 0.0 || x["size"] != size ||
				x["header_size"] != header || x["rfc822_size"] != size+float64(strings.Count(mails[i].text, "\n")) {
				t.Errorf("%s: %v", b.name, x)
			}
		}
	}
}

func TestExplain_headers(t *testing.T) {
	for _, b := range boxes(t, home(t)) {
		got := explained(t, "-header", "received", "-header", "X-Odd", "-header", "to", b.path)
		for i, want := range []map[string]any{
			{"received": nil, "X-Odd": nil, "to": "list@lists.example"},
			{"received": "from x by y; now", "X-Odd": nil, "to": "Zoe <zoe@one.example>,  \"Lists, all\" <list@lists.example>"},
			{"received": nil, "X-Odd": map[string]any{"b64": "Y2Fm6Q=="}, "to": nil},
			{"received": nil, "X-Odd": nil, "to": nil},
		} {
			if !reflect.DeepEqual(got[i]["headers"], any(want)) {
				t.Errorf("%s, UID %d: headers %v, want %v", b.name, i+1, got[i]["headers"], want)
			}
		}
	}
}

func TestExplain_uids(t *testing.T) {
	for _, b := range boxes(t, home(t)) {
		if got := explained(t, b.path, "3", "1", "3"); len(got) != 2 || got[0]["uid"] != 1.0 || got[1]["uid"] != 3.0 {
			t.Errorf("%s: %v", b.name, got)
		}
		got := mailbench(t, "explain", b.path, "2", "17")
		if got.code != 2 || strings.Count(got.errs, "\n") != 1 || !strings.Contains(got.errs, "no UID 17") {
			t.Errorf("%s, an unknown UID: exit code %d, %q", b.name, got.code, got.errs)
		}
	}
}

func TestExplain_keywords(t *testing.T) {
	md := boxes(t, home(t))[0].path
	old := filepath.Join(md, "cur", name(3)+":2,"+flags[3])
	if err := os.Rename(old, old+"ac"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(md, "dovecot-keywords"), []byte("0 $Junk\n1 later\n"))
	got := explained(t, md, "4")[0]
	if !reflect.DeepEqual(got["keywords"], []any{"$Junk", "c"}) || got["flags"] != "FS" {
		t.Errorf("keywords %v, flags %v", got["keywords"], got["flags"])
	}
}

// TestExplain_sizesThatLie holds that S= and W= of a name are checked.
func TestExplain_sizesThatLie(t *testing.T) {
	dir := home(t)
	mkdir(t, filepath.Join(dir, "m", "cur"))
	n := len(mails[0].text)
	lines := strings.Count(mails[0].text, "\n")
	for i, sizes := range [][2]int{{n, n + lines}, {n + 1, n + lines}, {n, n}} {
		writeFile(t, filepath.Join(dir, "m", "cur", name(i)+",S="+itoa(sizes[0])+",W="+itoa(sizes[1])+":2,"), []byte(mails[0].text))
	}
	for i, x := range explained(t, filepath.Join(dir, "m")) {
		want := [][]any{{}, {"size-lies"}, {"vsize-lies"}}[i]
		if !reflect.DeepEqual(x["warnings"], any(want)) || x["size"] != float64(n) {
			t.Errorf("UID %d: size %v, warnings %v, want %v", i+1, x["size"], x["warnings"], want)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// TestExplain_ugly reads every file of other programs' test mail: with
// warnings perhaps, never with a panic, and refused in one line at the worst.
func TestExplain_ugly(t *testing.T) {
	path := "../../../shared/corpora/ugly.tar.zst"
	if dir := os.Getenv("MAILBENCH_SHARED"); dir != "" {
		path = filepath.Join(dir, "corpora/ugly.tar.zst")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Skip("the ugly mail is not beside the repository: ", err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := home(t)
	files, warned, refused := 0, 0, 0
	one := func(path string) {
		// The design that writes nothing, but each tenth time: a thousand small
		// indexes are as many waits for the disk.
		design := "scan"
		if files%10 == 0 {
			design = "column"
		}
		files++
		got := mailbench(t, "explain", "-design", design, "-header", "Subject", path)
		for _, x := range objects(t, got.out) {
			if len(x["warnings"].([]any)) > 0 {
				warned++
			}
		}
		switch got.code {
		case 0:
			if got.errs != "" {
				t.Errorf("%s: %q", path, got.errs)
			}
		case 2:
			refused++
			t.Logf("%s", got.errs)
			if strings.Count(got.errs, "\n") != 1 {
				t.Errorf("%s: %q", path, got.errs)
			}
		default:
			t.Errorf("%s: exit code %d", path, got.code)
		}
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			mkdir(t, to)
			continue
		}
		if h.Typeflag != tar.TypeReg || filepath.Base(to) == "SOURCE" {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		mkdir(t, filepath.Dir(to))
		writeFile(t, to, b)
		if testing.Short() && files > 50 {
			continue
		}
		one(to)
	}
	for _, md := range maildirs(t, dir) {
		one(md)
	}
	t.Logf("%d files and maildirs, %d messages with warnings, %d refused", files, warned, refused)
	if files < 50 || warned == 0 {
		t.Errorf("only %d files, %d messages with warnings", files, warned)
	}
}

// maildirs are the directories below dir that hold cur or new.
func maildirs(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, sub := range []string{"cur", "new"} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == sub && !slices.Contains(out, filepath.Dir(path)) {
				out = append(out, filepath.Dir(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestExplain_oneUnreadable holds that one message that cannot be read does
// not silence the others.
func TestExplain_oneUnreadable(t *testing.T) {
	dir := home(t)
	md := filepath.Join(dir, "md")
	mkdir(t, filepath.Join(md, "cur"))
	for _, n := range []string{"1.a:2,", "2.b:2,", "3.c:2,"} {
		writeFile(t, filepath.Join(md, "cur", n), []byte("Subject: s\n\n"))
	}
	forbid(t, filepath.Join(md, "cur", "2.b:2,"))
	got := plainChild(t, "explain", md)
	if got.code != 2 || strings.Count(got.out, "\n") != 2 || !strings.Contains(got.errs, "2.b") {
		t.Errorf("%+v", got)
	}
}
