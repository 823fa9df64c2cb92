package scan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Dovecot's answers on real mail, byte for byte.
func TestRealMail(t *testing.T) {
	root := os.Getenv("MAILBENCH_SHARED")
	for _, up := range []string{"../../shared", "../../../shared", "../../../../shared"} {
		if _, err := os.Stat(up); err == nil && root == "" {
			root = up
		}
	}
	for _, name := range []string{"real-500", "real-12k"} {
		t.Run(name, func(t *testing.T) { realMail(t, root, name) })
	}
}

func realMail(t *testing.T, root, corpus string) {
	path := filepath.Join(root, "corpora", corpus+".mbox.zst")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpora are not here")
	}
	src, err := source.Open(path, source.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	box, err := Design.Open(index.Config{Dir: t.TempDir(), Source: src})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if _, err := box.Sync(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "oracle", corpus, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no answers to compare with", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(b))
		kind, arg, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txt"), "_")
		var got []byte
		if kind == "thread" {
			alg, err := thread.ParseAlg(arg)
			if err != nil {
				t.Fatal(err)
			}
			a, err := box.Thread(alg, index.Search{})
			if err != nil {
				t.Fatal(err)
			}
			got = a.AppendIMAP(nil)
		} else {
			keys := strings.ReplaceAll(arg, "_", " ")
			crit, err := mailsort.ParseCriteria(keys)
			if err != nil {
				t.Fatal(err)
			}
			uids, err := box.Sort(crit, index.Search{})
			if err != nil {
				t.Fatal(err)
			}
			got = mailsort.AppendIMAP(nil, uids)
		}
		if string(got) != want {
			t.Errorf("%s differs\ngot  %.200s\nwant %.200s", filepath.Base(name), got, want)
		}
	}
}
