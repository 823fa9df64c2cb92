package column

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// listed is a source that has to be listed: it hides what else it can do.
type listed struct{ index.Source }

// counting counts the listings of a maildir.
type counting struct {
	*source.Maildir
	lists int
}

func (c *counting) Glance(l *index.Listing) error { c.lists++; return c.Maildir.Glance(l) }
func (c *counting) List(l *index.Listing) error   { c.lists++; return c.Maildir.List(l) }

// An index of a maildir is threaded and sorted without another listing, and
// names that cannot be guessed, or have changed since, are found all the same.
func TestNamer(t *testing.T) {
	r, _ := seeded(t)
	mail := t.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		os.Mkdir(filepath.Join(mail, d), 0o700)
	}
	forms := []string{"cur/%s:2,", "cur/%s:2,S", "cur/%s:2,FSab", "cur/%s", "cur/%s:2,SF", "cur/%s:2,SXQ", "cur/%s:1,S", "new/%s", "new/%s:2,", "new/%s:2,S", "cur/%s:2,S:2,R", "cur/%s:2,S,x"}
	var files []string
	for i := range 300 {
		base := fmt.Sprintf("%d.M%dP1.h,S=10,W=12", 1000+i, i)
		form := forms[r.IntN(len(forms))]
		if i < 200 {
			form = forms[i%3]
		}
		header, _ := randomMail(r)
		name := filepath.Join(mail, fmt.Sprintf(form, base))
		if err := os.WriteFile(name, []byte(header+"\nx\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	answer := func(dir string, src index.Source, sync bool) string {
		t.Helper()
		mb := openBox(t, dir, fast, src, index.Options{})
		defer mb.Close()
		if sync {
			if _, err := mb.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		a, err := mb.Thread(thread.References, index.Search{})
		if err != nil {
			t.Fatal(err)
		}
		out := string(a.AppendIMAP(nil))
		for _, keys := range []string{"arrival", "size", "to date"} {
			crit, _ := mailsort.ParseCriteria(keys)
			uids, err := mb.Sort(crit, index.Search{})
			if err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprint("\n", uids)
		}
		return out
	}
	open := func() *source.Maildir {
		s, err := source.Open(mail, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.(*source.Maildir)
	}
	plain := open()
	want := answer(t.TempDir(), listed{plain}, true)

	src := &counting{Maildir: open()}
	dir := t.TempDir()
	mb := openBox(t, dir, fast, src, index.Options{})
	if _, err := mb.Sync(); err != nil {
		t.Fatal(err)
	}
	mb.Close()
	n := src.lists
	if got := answer(dir, src, false); got != want {
		t.Errorf("got %.300s\nwant %.300s", got, want)
	}
	if src.lists != n {
		t.Errorf("%d more listings", src.lists-n)
	}

	// Every third name changes after the index was made.
	os.Remove(filepath.Join(dir, CacheFile))
	os.Remove(filepath.Join(dir, AnswersFile))
	for i, f := range files {
		if i%3 == 0 {
			to := filepath.Join(mail, "cur", fmt.Sprintf("%d.M%dP1.h,S=10,W=12:2,RS", 1000+i, i))
			if err := os.Rename(f, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := answer(dir, src, false); got != want {
		t.Errorf("renamed: got %.300s\nwant %.300s", got, want)
	}
}
