package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A check is one check of a case folder; its README explains the keys.
type check struct {
	Op          string
	Keys        []string
	In          json.RawMessage
	InB64       *string `json:"in_b64"`
	Expect      any
	ExpectFile  string   `json:"expect_file"`
	ExpectUnix  *float64 `json:"expect_unix"`
	ExpectReply *bool    `json:"expect_reply"`
	AlsoOK      []any    `json:"also_ok"`
	Dovecot     any
	DovecotKey  *string `json:"dovecot_key"`
	DovecotNote string  `json:"dovecot_note"`
}

// input returns the header value that a check gives in one of three ways.
func (c *check) input(t *testing.T) string {
	t.Helper()
	if c.InB64 != nil {
		b, err := base64.StdEncoding.DecodeString(*c.InB64)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var s string
	if json.Unmarshal(c.In, &s) == nil {
		return s
	}
	var gen struct {
		Gen struct {
			Prefix, Repeat, Suffix string
			Times                  int
		}
	}
	if err := json.Unmarshal(c.In, &gen); err != nil {
		t.Fatal(err)
	}
	return gen.Gen.Prefix + strings.Repeat(gen.Gen.Repeat, gen.Gen.Times) + gen.Gen.Suffix
}

// caseMessages reads msgs.mbox or msgs.mbox.gz of a case.
func caseMessages(t *testing.T, dir string) []Message {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "msgs.mbox"))
	if err == nil {
		return splitMbox(t, b)
	}
	if b, err = os.ReadFile(filepath.Join(dir, "msgs.mbox.gz")); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return splitMbox(t, b)
}

// TestCases runs the cases that the oracle can answer, in RFC mode against
// what is right, and in Dovecot mode against what Dovecot is known to say.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "cases"), "*", "expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases found", err)
	}
	ran := 0
	for _, file := range files {
		dir := filepath.Dir(file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Checks []check }
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatal(file, err)
		}
		for i := range c.Checks {
			if c.Checks[i].run(t, dir) {
				ran++
			}
		}
	}
	if ran == 0 {
		t.Fatal("no check ran")
	}
	t.Log(ran, "checks ran")
}

// run returns false for an operation that is not the oracle's.
func (c *check) run(t *testing.T, dir string) bool {
	t.Helper()
	name := filepath.Base(dir) + " " + string(c.In)
	if c.ExpectFile != "" {
		b, err := os.ReadFile(filepath.Join(dir, c.ExpectFile))
		if err != nil {
			t.Fatal(err)
		}
		c.Expect = strings.TrimSuffix(string(b), "\n")
	}
	var answer func(Compat) any
	same := reflect.DeepEqual
	switch c.Op {
	case "thread-references":
		msgs := caseMessages(t, dir)
		answer = func(p Compat) any { return New(msgs, p).References() }
	case "thread-orderedsubject":
		msgs := caseMessages(t, dir)
		answer = func(p Compat) any { return New(msgs, p).OrderedSubject() }
	case "sort":
		msgs := caseMessages(t, dir)
		answer = func(p Compat) any {
			var seqs []any
			for _, uid := range New(msgs, p).Sort(strings.Join(c.Keys, " ")) {
				seqs = append(seqs, float64(uid))
			}
			return seqs
		}
	case "parse-date":
		if c.ExpectUnix != nil {
			c.Expect = *c.ExpectUnix
		}
		answer = func(p Compat) any {
			if unix, ok := p.parseDate(c.input(t)); ok {
				return float64(unix)
			}
			return nil
		}
	case "msgid-parse":
		answer = func(p Compat) any {
			ids := []any{}
			for _, id := range messageIDs(c.input(t)) {
				ids = append(ids, id)
			}
			return ids
		}
	case "base-subject":
		if _, reply := BaseSubject([]byte(c.input(t))); reply != *c.ExpectReply {
			t.Errorf("%s: reply %v", name, reply)
		}
		if c.DovecotKey != nil {
			c.Dovecot = *c.DovecotKey
		}
		answer = func(p Compat) any { key, _ := p.subjectKey(c.input(t)); return key }
		same = func(got, want any) bool { s, ok := want.(string); return ok && (got == Casemap(s) || got == s) }
	default:
		return false
	}
	ok := func(got, want any) bool {
		for _, w := range append([]any{want}, c.AlsoOK...) {
			if same(got, w) {
				return true
			}
		}
		return false
	}
	if got := answer(RFC); !ok(got, c.Expect) {
		t.Errorf("%s: %s: got %.300v, want %.300v or %.300v", name, c.Op, got, c.Expect, c.AlsoOK)
	}
	if c.DovecotNote == "" {
		c.Dovecot = c.Expect
	}
	if s, isText := c.Dovecot.(string); isText && strings.HasSuffix(s, "...") {
		return true // cut short: nothing to compare with
	}
	if got := answer(Dovecot); !ok(got, c.Dovecot) {
		t.Errorf("%s: %s: compat: got %.300v, want %.300v", name, c.Op, got, c.Dovecot)
	}
	return true
}
