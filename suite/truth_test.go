package suite

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus"
	"mailbench/internal/oracle"
)

// answers is an answerer that counts what it is asked.
type answers struct{ asked *int }

func (a answers) Thread(alg string, uids []uint32) (string, error) {
	*a.asked++
	return fmt.Sprint("(", alg, uids, ")"), nil
}

func (a answers) Sort(keys string, uids []uint32) ([]uint32, error) {
	*a.asked++
	return uids, nil
}

// TestTruth_isKept holds that a right answer is found once, for as long as
// neither mail, messages asked of, nor the code that finds it change.
func TestTruth_isKept(t *testing.T) {
	dir := t.TempDir()
	asked := 0
	open := func(code embed.FS, digest string) *truth {
		return newTruth(dir, code, digest, func() (answerer, error) { return answers{&asked}, nil })
	}
	ask := func(x *truth, uids []uint32) string {
		t.Helper()
		d, err := x.thread("references", uids)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := ask(open(oracle.Sources, "a"), nil)
	for i, c := range []struct {
		code   embed.FS
		digest string
		uids   []uint32
		asked  int
		same   bool
	}{
		{oracle.Sources, "a", nil, 1, true},
		{oracle.Sources, "a", []uint32{1, 2}, 2, false},
		{oracle.Sources, "a", []uint32{1, 2}, 2, false},
		{oracle.Sources, "a", []uint32{1, 3}, 3, false},
		{oracle.Sources, "b", nil, 4, true},
		{corpus.Sources, "a", nil, 5, true},
	} {
		if got := ask(open(c.code, c.digest), c.uids); (got == all) != c.same || asked != c.asked {
			t.Errorf("%d: asked %d times, want %d; same answer %v", i, asked, c.asked, got == all)
		}
	}
	// What cannot be read is found again.
	files, err := filepath.Glob(filepath.Join(dir, "answers", "*"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("{\"thread references\":"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(open(oracle.Sources, "a"), nil); got != all || asked != 6 {
		t.Errorf("asked %d times, %s", asked, got)
	}
	if codeHash(oracle.Sources) == codeHash(corpus.Sources) || codeHash(embed.FS{}) == codeHash(oracle.Sources) {
		t.Error("one hash for other code")
	}
}
