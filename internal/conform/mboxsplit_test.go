package conform

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/mbox"
)

func runMboxSplit(t *testing.T, c *check) {
	var k struct {
		File, Dialect string
		Recipe        []struct {
			Text, Repeat string
			Times        int
		}
		Expect struct {
			Error          string
			MinMessages    int `json:"min_messages"`
			PrefixOfPeriod int `json:"prefix_of_period"`
		}
	}
	c.decode(t, &k)
	path := filepath.Join(c.Dir, k.File)
	if len(k.Recipe) > 0 {
		path = filepath.Join(t.TempDir(), "in.mbox")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, part := range k.Recipe {
			text := []byte(part.Text)
			if part.Times > 0 {
				text = nil
				block := bytes.Repeat([]byte(part.Repeat), 1<<20/max(1, len(part.Repeat))+1)
				for left := part.Times * len(part.Repeat); left > 0; left -= len(block) {
					if _, err := f.Write(block[:min(left, len(block))]); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := f.Write(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, err := mbox.ParseDialect(k.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mbox.Open(path, mbox.Options{Dialect: d, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	offsets, bodies, sizes, sums := []int64{}, []int64{}, []int64{}, []string{}
	for _, m := range f.Messages() {
		offsets = append(offsets, m.Off)
		bodies = append(bodies, m.BodyOff)
		sizes = append(sizes, m.Size())
		sum := sha256.Sum256(mbox.Unquote(nil, f.Bytes(m), d))
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	if e := k.Expect; e.Error != "" {
		// A stream cut short: whole messages, and an error that says so.
		if f.Err() == nil || !strings.Contains(f.Err().Error(), e.Error) || len(sums) < e.MinMessages {
			t.Errorf("%d messages and error %v, want %d and %q", len(sums), f.Err(), e.MinMessages, e.Error)
		}
		for i := e.PrefixOfPeriod; e.PrefixOfPeriod > 0 && i < len(sums); i++ {
			if sums[i] != sums[i-e.PrefixOfPeriod] {
				t.Errorf("message %d is not whole", i+1)
			}
		}
		return
	}
	if f.Err() != nil && f.Err() != io.EOF {
		t.Error(f.Err())
	}
	got := plain(t, map[string]any{
		"messages": len(sums), "offsets": offsets, "body_offsets": bodies, "sizes": sizes, "sha256_unquoted": sums,
	}).(map[string]any)
	c.accept(t, got, func(_, want any) bool {
		w := want.(map[string]any)
		if w["messages"] != got["messages"] {
			// An alternative that only counts: nothing of expect's lists fits it.
			return false
		}
		return subset(got, w) || len(c.AlsoOK) > 0 && onlyCounts(c.AlsoOK, got["messages"])
	})
}

// onlyCounts says whether an alternative names this number and nothing else.
func onlyCounts(alternatives []any, messages any) bool {
	for _, a := range alternatives {
		if m, ok := a.(map[string]any); ok && len(m) == 1 && m["messages"] == messages {
			return true
		}
	}
	return false
}

// subset says whether all that is wanted is there.
func subset(got, want map[string]any) bool {
	for key, w := range want {
		if !equal(got[key], w) {
			return false
		}
	}
	return true
}
