package bar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBar draws on a file in place of the terminal: nothing before Start, and
// what it is doing afterwards.
func TestBar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tty")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := &bar{tty: f}
	b.Add(1)
	b.Done()
	b.Start("writing mail", 10)
	b.Add(4)
	b.Add(6)
	b.Done()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "writing mail") {
		t.Errorf("drawn: %q", text)
	}
}
