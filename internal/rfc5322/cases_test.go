package rfc5322

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

// A check of the shared cases, with the keys of the operations that this
// package answers.
type check struct {
	Op, In, Header, File string
	InB64                string `json:"in_b64"`
	Message              int
	Expect               json.RawMessage
	ExpectUnix           *int64            `json:"expect_unix"`
	AlsoOK               []json.RawMessage `json:"also_ok"`
	Dovecot              json.RawMessage
}

// TestCases runs the shared cases that concern this package.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "cases"), "*", "expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Checks []check }
		if err := json.Unmarshal(data, &c); err != nil {
			t.Logf("%s: %v", file, err) // other operations, other shapes
			continue
		}
		dir := filepath.Dir(file)
		for _, k := range c.Checks {
			switch k.Op {
			case "parse-date":
				checkDate(t, dir, k)
			case "msgid-parse":
				checkIDs(t, dir, k)
			case "header-parse":
				checkHeader(t, dir, k)
			case "base-subject":
				// Base subjects are package sort's; here only the decoding.
				switch filepath.Base(dir)[:3] {
				case "S10", "S11", "S14":
					checkWords(t, dir, k)
				default:
					continue
				}
			default:
				continue
			}
			ran++
		}
	}
	t.Logf("%d checks", ran)
}

func checkDate(t *testing.T, dir string, k check) {
	got, ok := ParseDate([]byte(k.In))
	match := func(want *int64) bool { return ok == (want != nil) && (!ok || got == *want) }
	good := match(k.ExpectUnix)
	for _, a := range k.AlsoOK {
		var v *int64
		good = good || json.Unmarshal(a, &v) == nil && match(v)
	}
	if !good {
		t.Errorf("%s: %q: %d, %v", filepath.Base(dir), k.In, got, ok)
	}
	if len(k.Dovecot) > 0 {
		var want *int64
		if err := json.Unmarshal(k.Dovecot, &want); err != nil {
			t.Fatal(err)
		}
		got, ok = ParseDateCompat([]byte(k.In), Dovecot)
		if !match(want) {
			t.Errorf("%s: %q: as Dovecot %d, %v, want %s", filepath.Base(dir), k.In, got, ok, k.Dovecot)
		}
	}
}

func checkIDs(t *testing.T, dir string, k check) {
	got := allIDs(k.In)
	good := false
	for _, a := range append([]json.RawMessage{k.Expect}, k.AlsoOK...) {
		var want []string
		if err := json.Unmarshal(a, &want); err != nil {
			t.Fatal(err)
		}
		good = good || reflect.DeepEqual(got, want)
	}
	if !good {
		t.Errorf("%s: %q: %q", filepath.Base(dir), k.In, got)
	}
}

func checkWords(t *testing.T, dir string, k check) {
	in := []byte(k.In)
	if k.InB64 != "" {
		in, _ = base64.StdEncoding.DecodeString(k.InB64)
	}
	got := string(DecodeWords(nil, in))
	got = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(got, "Re: "), "(fwd)"))
	got = strings.Join(strings.Fields(got), " ")
	for _, a := range append([]json.RawMessage{k.Expect}, k.AlsoOK...) {
		var want string
		if err := json.Unmarshal(a, &want); err != nil {
			t.Fatal(err)
		}
		if want == got {
			return
		}
	}
	t.Errorf("%s: %q: %q, want %s", filepath.Base(dir), in, got, k.Expect)
}

func checkHeader(t *testing.T, dir string, k check) {
	b := readCase(t, filepath.Join(dir, k.File))
	if k.Message > 0 {
		t.Logf("%s: message of an mbox: not ours", dir)
		return
	}
	var h Header
	Scan(b, MaskAll, &h)
	type expect struct {
		Get        map[string]json.RawMessage
		BodyOffset *int `json:"body_offset"`
	}
	var want expect
	if err := json.Unmarshal(k.Expect, &want); err != nil {
		t.Fatal(err)
	}
	if want.BodyOffset != nil && h.BodyOff != *want.BodyOffset {
		t.Errorf("%s: body at %d, want %d", filepath.Base(dir), h.BodyOff, *want.BodyOffset)
	}
	for name, v := range want.Get {
		raw, ok := Get(b, name)
		got := Unfold(nil, raw)
		good := sameValue(got, ok, v)
		for _, a := range k.AlsoOK {
			var e expect
			if err := json.Unmarshal(a, &e); err != nil {
				t.Fatal(err)
			}
			v, has := e.Get[name]
			good = good || has && sameValue(got, ok, v)
		}
		if !good {
			t.Errorf("%s: %s: %q, %v, want %s", filepath.Base(dir), name, got, ok, v)
		}
		for f := Field(0); f < NumFields; f++ {
			if strings.EqualFold(f.String(), name) && !bytes.Equal(h.Raw(b, f), raw) {
				t.Errorf("%s: Scan and Get differ in %v", filepath.Base(dir), f)
			}
		}
	}
}

// sameValue compares a field with a string, null or {"b64": ...}.
func sameValue(got []byte, ok bool, want json.RawMessage) bool {
	if string(want) == "null" {
		return !ok
	}
	var s string
	if json.Unmarshal(want, &s) == nil {
		return ok && s == string(got)
	}
	var b struct{ B64 []byte }
	return json.Unmarshal(want, &b) == nil && ok && bytes.Equal(b.B64, got)
}

func readCase(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
