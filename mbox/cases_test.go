package mbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shared finds a folder of material that lies beside the repository, "" when
// it is absent: the tests that want it then have nothing to do.
func shared(name string) string {
	roots := []string{os.Getenv("MAILBENCH_SHARED")}
	for up := ".."; len(up) < 30; up = filepath.Join(up, "..") {
		roots = append(roots, filepath.Join(up, "shared"))
	}
	for _, root := range roots {
		if root == "" {
			continue
		}
		if st, err := os.Stat(filepath.Join(root, name)); err == nil && st.IsDir() {
			return filepath.Join(root, name)
		}
	}
	return ""
}

type splitCase struct {
	Op, File, Dialect string
	Recipe            []struct {
		Text, Repeat string
		Times        int
	}
	Heavy  bool
	Expect splitExpect
	AlsoOK []map[string]json.RawMessage `json:"also_ok"`
}

type splitExpect struct {
	Messages       int
	Offsets        []int64
	BodyOffsets    []int64 `json:"body_offsets"`
	Sizes          []int64
	Sha256Unquoted []string `json:"sha256_unquoted"`
	Error          string
	MinMessages    int `json:"min_messages"`
	PrefixOfPeriod int `json:"prefix_of_period"`
}

// Every mbox-split of the public fault reports.
func TestCases(t *testing.T) {
	dir := shared("cases")
	if dir == "" {
		t.Log("no cases folder beside the repository: nothing to check")
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Checks []json.RawMessage }
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, check := range doc.Checks {
			var op struct{ Op string }
			if json.Unmarshal(check, &op); op.Op != "mbox-split" {
				continue
			}
			var c splitCase
			if err := json.Unmarshal(check, &c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ran++
			t.Run(filepath.Base(filepath.Dir(name))+"/"+c.Dialect, func(t *testing.T) {
				if c.Heavy && testing.Short() {
					t.Skip("heavy: needs gigabytes")
				}
				runSplit(t, filepath.Dir(name), c)
			})
		}
	}
	t.Logf("%d mbox-split checks", ran)
}

func runSplit(t *testing.T, dir string, c splitCase) {
	path := filepath.Join(dir, c.File)
	if len(c.Recipe) > 0 {
		path = filepath.Join(t.TempDir(), "in.mbox")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range c.Recipe {
			io.WriteString(f, part.Text)
			chunk := bytes.Repeat([]byte(part.Repeat), 1<<20/max(1, len(part.Repeat))+1)
			for left := part.Times * len(part.Repeat); left > 0; left -= len(chunk) {
				f.Write(chunk[:min(left, len(chunk))])
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d, err := ParseDialect(c.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	f, err := Open(path, Options{Dialect: d, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := splitExpect{Messages: len(f.Messages())}
	for _, m := range f.Messages() {
		got.Offsets = append(got.Offsets, m.Off)
		got.BodyOffsets = append(got.BodyOffsets, m.BodyOff)
		got.Sizes = append(got.Sizes, m.Size())
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Logf("took %v, the cases allow 5 s", took)
	}
	for _, m := range f.Messages() {
		sum := sha256.Sum256(Unquote(nil, f.Bytes(m), d))
		got.Sha256Unquoted = append(got.Sha256Unquoted, hex.EncodeToString(sum[:]))
	}
	if c.Expect.Error != "" {
		if !errors.Is(f.Err(), io.ErrUnexpectedEOF) || !strings.Contains(f.Err().Error(), c.Expect.Error) || !strings.Contains(f.Err().Error(), path) {
			t.Errorf("error %v, want %s with the file's name", f.Err(), c.Expect.Error)
		}
		if got.Messages < c.Expect.MinMessages {
			t.Errorf("%d messages, want at least %d", got.Messages, c.Expect.MinMessages)
		}
		for i, sum := range got.Sha256Unquoted {
			if p := c.Expect.PrefixOfPeriod; p > 0 && i >= p && sum != got.Sha256Unquoted[i-p] {
				t.Errorf("message %d differs from message %d", i, i-p)
			}
		}
		return
	}
	if err := f.Err(); err != nil {
		t.Error(err)
	}
	if same(got, c.Expect) {
		return
	}
	for _, alt := range c.AlsoOK {
		want := c.Expect
		raw, _ := json.Marshal(alt)
		if json.Unmarshal(raw, &want) == nil && same(got, want) {
			return
		}
	}
	t.Errorf("\n got %+v\nwant %+v", got, c.Expect)
}

// same compares what is wanted; what is absent is not.
func same(got, want splitExpect) bool {
	return got.Messages == want.Messages &&
		(want.Offsets == nil || slices.Equal(got.Offsets, want.Offsets)) &&
		(want.BodyOffsets == nil || slices.Equal(got.BodyOffsets, want.BodyOffsets)) &&
		(want.Sizes == nil || slices.Equal(got.Sizes, want.Sizes)) &&
		(want.Sha256Unquoted == nil || slices.Equal(got.Sha256Unquoted, want.Sha256Unquoted))
}
