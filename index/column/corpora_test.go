package column

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// shared finds the folder of real mail beside the repository.
func shared() (string, bool) {
	for _, dir := range []string{os.Getenv("MAILBENCH_SHARED"), "../shared", "../../shared", "../../../shared"} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "oracle")); err == nil {
			return dir, true
		}
	}
	return "", false
}

// arriving is a mailbox that has its first n messages.
type arriving struct {
	index.Source
	n int
}

func (a *arriving) State() (index.State, error) { return index.State{A: uint64(a.n)}, nil }

func (a *arriving) List(l *index.Listing) error {
	err := a.Source.List(l)
	l.Entries = l.Entries[:min(a.n, len(l.Entries))]
	l.Digest = index.Digest{N: a.n}
	return err
}

// Real mail, cached as it arrives, gives what Dovecot answers.
func TestCorpora(t *testing.T) {
	root, ok := shared()
	if !ok {
		t.Skip("no real mail beside the repository")
	}
	for _, name := range []string{"real-500", "real-12k", "lkml-headers"} {
		t.Run(name, func(t *testing.T) {
			if name == "lkml-headers" && os.Getenv("MAILBENCH_LONG") == "" || name == "real-12k" && testing.Short() {
				t.Skip("large: MAILBENCH_LONG=1, or not -short")
			}
			src, err := source.Open(filepath.Join(root, "corpora", name+".mbox.zst"), source.Options{TempDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var l index.Listing
			if err := src.List(&l); err != nil {
				t.Fatal(err)
			}
			total := len(l.Entries)
			a := &arriving{Source: src}
			mb := openBox(t, t.TempDir(), fast, a, index.Options{Compat: index.CompatDovecot})
			defer mb.Close()
			for _, n := range []int{total * 6 / 10, total*6/10 + 1, total*6/10 + 2, total * 7 / 10, total - 30, total - 1, total} {
				a.n = n
				if _, err := mb.Sync(); err != nil {
					t.Fatal(err)
				}
				if _, err := mb.Thread(thread.References, index.Search{}); err != nil {
					t.Fatal(err)
				}
				crit, _ := mailsort.ParseCriteria("from") // its column exists from the start
				if _, err := mb.Sort(crit, index.Search{}); err != nil {
					t.Fatal(err)
				}
			}
			for pass := range 3 { // from the columns, from the answers, after compaction
				if pass == 2 {
					if err := mb.Compact(); err != nil {
						t.Fatal(err)
					}
				}
				compareFiles(t, mb, filepath.Join(root, "oracle", name))
			}
			if err := check(mb); err != nil {
				t.Error(err)
			}
		})
	}
}

func compareFiles(t *testing.T, mb index.Mailbox, dir string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		want, err := readZstd(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		base, _, _ := strings.Cut(e.Name(), ".")
		var got []byte
		if name, ok := strings.CutPrefix(base, "thread_"); ok {
			alg, err := thread.ParseAlg(name)
			if err != nil {
				t.Fatal(err)
			}
			a, err := mb.Thread(alg, index.Search{})
			if err != nil {
				t.Fatal(err)
			}
			got = a.AppendIMAP(nil)
		} else {
			crit, err := mailsort.ParseCriteria(strings.ReplaceAll(strings.TrimPrefix(base, "sort_"), "_", " "))
			if err != nil {
				t.Fatal(err)
			}
			u, err := mb.Sort(crit, index.Search{})
			if err != nil {
				t.Fatal(err)
			}
			got = mailsort.AppendIMAP(nil, u)
		}
		if got = append(got, '\n'); !bytes.Equal(got, want) {
			k := 0
			for k < min(len(got), len(want)) && got[k] == want[k] {
				k++
			}
			t.Errorf("%s: differs at byte %d: %s", e.Name(), k, fmt.Sprintf("got %.60q, want %.60q", got[k:], want[k:]))
		}
	}
}

func readZstd(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil || !strings.HasSuffix(name, ".zst") {
		return b, err
	}
	d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}
