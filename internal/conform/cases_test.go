package conform

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A check is one check of one case. Keys that only one operation has are read
// by that operation from Raw.
type check struct {
	Dir    string // the case's folder
	Raw    json.RawMessage
	Expect any // expect, expect_unix or what expect_file holds
	AlsoOK []any

	op       string
	optional bool
	heavy    bool
}

// operations maps an operation to the function that runs a check of it.
var operations = map[string]func(*testing.T, *check){
	"thread-references":     runThread,
	"thread-orderedsubject": runThread,
	"sort":                  runSort,
	"base-subject":          runBaseSubject,
	"parse-date":            runParseDate,
	"msgid-parse":           runMsgID,
	"mbox-split":            runMboxSplit,
	"header-parse":          runHeaderParse,
	"maildir-scan":          runMaildirScan,
	"maildir-sizes":         runMaildirSizes,
	"maildir-read":          runMaildirRead,
	"maildir-move-new":      runMaildirMoveNew,
	"maildir-folders":       runMaildirFolders,
	"maildir-race":          runMaildirRace,
	"maildir-steps":         runMaildirSteps,
	"uid-assign":            runUIDAssign,
	"uidlist-sync":          runUIDListSync,
	"store-scenario":        runStoreScenario,
}

// TestCases runs every check of every case.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(mustShared(t, "cases"), "*", "expect.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no case found", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Checks []json.RawMessage }
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatal(file, err)
		}
		for _, raw := range c.Checks {
			ch := newCheck(t, dir, raw)
			t.Run(filepath.Base(dir)+"/"+ch.op, ch.run)
		}
	}
}

func newCheck(t *testing.T, dir string, raw json.RawMessage) *check {
	t.Helper()
	var c struct {
		Op              string
		Expect          any
		ExpectFile      string `json:"expect_file"`
		ExpectUnix      any    `json:"expect_unix"`
		AlsoOK          []any  `json:"also_ok"`
		Optional, Heavy bool
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(dir, err)
	}
	ch := &check{Dir: dir, Raw: raw, Expect: c.Expect, AlsoOK: c.AlsoOK, op: c.Op, optional: c.Optional, heavy: c.Heavy}
	switch {
	case c.ExpectFile != "":
		ch.Expect = trimLine(readFile(t, filepath.Join(dir, c.ExpectFile)))
	case c.ExpectUnix != nil:
		ch.Expect = c.ExpectUnix
	}
	return ch
}

func (c *check) run(t *testing.T) {
	run := operations[c.op]
	if run == nil {
		t.Fatalf("no test here runs the operation %q", c.op)
	}
	if c.heavy && (testing.Short() || os.Getenv("MAILBENCH_LONG") == "") {
		t.Skip("heavy: only with MAILBENCH_LONG=1 and not under -short")
	}
	done := make(chan struct{})
	go func() {
		// The README's rule for a hang; the sum of repeats is not timed.
		select {
		case <-done:
		case <-time.After(2 * time.Minute):
			panic("case " + c.Dir + " hangs")
		}
	}()
	defer close(done)
	run(t, c)
}

// decode reads the operation's own keys.
func (c *check) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(c.Raw, into); err != nil {
		t.Fatal(err)
	}
}

// input returns the header value that a check gives in one of three ways.
func (c *check) input(t *testing.T) []byte {
	t.Helper()
	var k struct {
		In    json.RawMessage
		InB64 *string `json:"in_b64"`
	}
	c.decode(t, &k)
	if k.InB64 != nil {
		b, err := base64.StdEncoding.DecodeString(*k.InB64)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var s string
	if json.Unmarshal(k.In, &s) == nil {
		return []byte(s)
	}
	var g struct {
		Gen struct {
			Prefix, Repeat, Suffix string
			Times                  int
		}
	}
	if err := json.Unmarshal(k.In, &g); err != nil {
		t.Fatal(err)
	}
	return []byte(g.Gen.Prefix + strings.Repeat(g.Gen.Repeat, g.Gen.Times) + g.Gen.Suffix)
}

// accept holds a result against expect and also_ok; same may be nil.
func (c *check) accept(t *testing.T, got any, same func(got, want any) bool) {
	t.Helper()
	if same == nil {
		got = plain(t, got)
		same = reflect.DeepEqual
	}
	if same(got, c.Expect) {
		return
	}
	for _, other := range c.AlsoOK {
		if o, ok := other.(map[string]any); ok {
			other = merge(c.Expect, o)
		}
		if same(got, other) {
			return
		}
	}
	t.Errorf("%.200s\n got %.400v\nwant %.400v\n  or %.400v", c.Raw, got, c.Expect, c.AlsoOK)
}

// merge lays the keys of an also_ok object over those of expect, at any depth.
func merge(expect any, over map[string]any) any {
	base, ok := expect.(map[string]any)
	if !ok {
		return over
	}
	m := map[string]any{}
	for k, v := range base {
		m[k] = v
	}
	for k, v := range over {
		if inner, ok := v.(map[string]any); ok {
			if _, isMap := base[k].(map[string]any); isMap {
				v = merge(base[k], inner)
			}
		}
		m[k] = v
	}
	return m
}

// plain gives a value the types that encoding/json would give it.
func plain(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var p any
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	return p
}
