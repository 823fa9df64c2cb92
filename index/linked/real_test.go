package linked

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// The real server's answers on real mail, byte for byte: asked twice, of what
// was just read and of what was cached.
func TestRealServer(t *testing.T) {
	shared := os.Getenv("MAILBENCH_SHARED")
	for _, up := range []string{"../../shared", "../../../shared", "../../../../shared"} {
		if _, err := os.Stat(up); err == nil && shared == "" {
			shared = up
		}
	}
	answers, _ := filepath.Glob(filepath.Join(shared, "oracle", "real-12k", "*.txt"))
	src, err := source.Open(filepath.Join(shared, "corpora", "real-12k.mbox.zst"), source.Options{TempDir: t.TempDir()})
	if err != nil || len(answers) == 0 {
		t.Skip("the shared corpora are not here")
	}
	defer src.Close()
	dir := t.TempDir()
	for _, when := range []string{"first", "again", "purged"} {
		box, err := Design.Open(index.Config{Dir: dir, Source: src})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.Sync(); err != nil {
			t.Fatal(err)
		}
		if when == "purged" {
			if err := box.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range answers {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			how, by, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txt"), "_")
			if got := answer(t, box, how, strings.ReplaceAll(by, "_", " ")); !bytes.Equal(got, bytes.TrimSpace(want)) {
				t.Errorf("%s, %s: another answer than the real server's", when, filepath.Base(name))
			}
		}
		for err := range box.Check() {
			t.Error(err)
		}
		box.Close()
	}
}

func answer(t *testing.T, box index.Mailbox, how, by string) []byte {
	t.Helper()
	if how == "thread" {
		alg, err := thread.ParseAlg(by)
		if err != nil {
			t.Fatal(err)
		}
		a, err := box.Thread(alg, index.Search{})
		if err != nil {
			t.Fatal(err)
		}
		return a.AppendIMAP(nil)
	}
	crit, err := mailsort.ParseCriteria(by)
	if err != nil {
		t.Fatal(err)
	}
	uids, err := box.Sort(crit, index.Search{})
	if err != nil {
		t.Fatal(err)
	}
	return mailsort.AppendIMAP(nil, slices.Clone(uids))
}
