package mdbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
	"mailbench/store/catalog"
)

var quick = fsys.Unsynced(fsys.OS)

func openIn(t testing.TB, dir string, fsy index.FS, extra map[string]string) *mdbox {
	t.Helper()
	s, err := store.Open(Format, store.Config{Dir: dir, FS: fsy, Extra: extra, Unlocked: true}) // it is opened again as after a crash, and looked into
	if err != nil {
		t.Fatal(err)
	}
	return s.(*mdbox)
}

func mail(n int) []byte {
	return []byte(fmt.Sprintf("Subject: %d\n\n%s\n", n, strings.Repeat("text ", 40)))
}

func fill(t testing.TB, s *mdbox, from, n int) (keys []string) {
	t.Helper()
	for i := range n {
		k, err := s.Append([]store.Message{{Body: mail(from + i), Date: 1e9, Flags: index.FlagSeen}})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k...)
	}
	return keys
}

func messages(n int) []store.Message {
	msgs := make([]store.Message, n)
	for i := range msgs {
		msgs[i].Body = mail(i)
	}
	return msgs
}

func rows(s *mdbox) (out []catalog.Row) {
	s.cat.Each(func(r catalog.Row) bool { out = append(out, r); return true })
	return out
}

func size(t testing.TB, s *mdbox) (bytes int64, files int) {
	t.Helper()
	ns, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range ns {
		st, err := os.Stat(s.path(n))
		if err != nil {
			t.Fatal(err)
		}
		bytes += st.Size()
	}
	return bytes, len(ns)
}

func holds(t testing.TB, s *mdbox, want []int) {
	t.Helper()
	var l index.Listing
	s.Source().List(&l)
	var got []string
	for i := range l.Entries {
		b, err := s.Source().ReadMessage(&l.Entries[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	var all []string
	for _, n := range want {
		all = append(all, string(mail(n)))
	}
	if !slices.Equal(got, all) {
		t.Fatalf("%d messages, want %d", len(got), len(all))
	}
}

// TestAppend_syncs holds M3: one write and one sync of a file for an append of any
// size, and for those of several callers that wait.
func TestAppend_syncs(t *testing.T) {
	count := fsys.Counting(fsys.Delaying(quick, time.Millisecond, 0))
	s := openIn(t, filepath.Join(t.TempDir(), "mail"), count, nil)
	defer s.Close()
	fill(t, s, 0, 1)
	group := messages(100)
	for name, msgs := range map[string][]store.Message{"one": group[:1], "100": group} {
		before := count.Counts()
		if _, err := s.Append(msgs); err != nil {
			t.Fatal(err)
		}
		if c := count.Counts().Sub(before); c.Syncs != 1 || c.SyncDirs != 0 || c.Writes != 2 || c.Opens != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	before := count.Counts()
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if _, err := s.Append(group[:1]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c := count.Counts().Sub(before); c.Syncs > 20 {
		t.Errorf("40 at the same time: %+v", c)
	}
}

func TestRotate(t *testing.T) {
	s := openIn(t, filepath.Join(t.TempDir(), "mail"), quick, map[string]string{"rotate": "2k"})
	fill(t, s, 0, 30)
	_, files := size(t, s)
	if files < 4 || files > 8 {
		t.Errorf("%d files", files)
	}
	for n := range int64(files) {
		if st, err := os.Stat(s.path(n + 1)); err != nil || st.Size() > 2<<10+512 {
			t.Errorf("file %d: %v, %v", n+1, st, err)
		}
	}
	// A message longer than a file has one for itself.
	if _, err := s.Append([]store.Message{{Body: bytes.Repeat([]byte("x"), 9000)}, {Body: mail(1)}}); err != nil {
		t.Fatal(err)
	}
	for err := range s.Check() {
		t.Error(err)
	}
	s.Close()
	for _, bad := range []string{"", "0", "-5", "x", "5G", "99999999999999"} {
		if _, err := store.Open(Format, store.Config{Dir: t.TempDir(), Extra: map[string]string{"rotate": bad}}); err == nil {
			t.Errorf("rotate=%q", bad)
		}
	}
}

// TestPurge: space comes back; a file without dead space is left alone; twice is
// as good as once.
func TestPurge(t *testing.T) {
	extra := map[string]string{"rotate": "4k", "dead": "30"}
	s := openIn(t, filepath.Join(t.TempDir(), "mail"), quick, extra)
	keys := fill(t, s, 0, 60)
	var gone []string
	var want []int
	for i, k := range keys {
		if i < 30 && i%3 > 0 {
			gone = append(gone, k)
		} else {
			want = append(want, i)
		}
	}
	if err := s.Expunge(gone); err != nil {
		t.Fatal(err)
	}
	before, _ := size(t, s)
	untouched, _ := os.ReadFile(s.path(4))
	for round := range 2 {
		if err := s.Purge(); err != nil {
			t.Fatal(err)
		}
		holds(t, s, want)
		after, _ := size(t, s)
		if live := before * 40 / 60; after > live+live/10 {
			t.Errorf("round %d: %d bytes after, %d before", round, after, before)
		}
	}
	if b, _ := os.ReadFile(s.path(4)); !bytes.Equal(b, untouched) {
		t.Error("a file without dead space was rewritten")
	}
	if err := s.Expunge(keys); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	if _, files := size(t, s); files != 0 {
		t.Errorf("%d files of nothing", files)
	}
	again := fill(t, s, 100, 2)
	if slices.Contains(keys, again[0]) {
		t.Error("a key comes again")
	}
	holds(t, s, []int{100, 101})
	for err := range s.Check() {
		t.Error(err)
	}
	s.Close()
}

// TestRemake holds M5: without its map a mailbox has its messages, in their order,
// with the flags of the append; damage in a file takes the message it hit.
func TestRemake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	extra := map[string]string{"rotate": "2k"}
	s := openIn(t, dir, quick, extra)
	keys := fill(t, s, 0, 20)
	if err := s.Expunge(keys[3:6]); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	if err := s.SetFlags([]store.Change{{Key: keys[0], Flags: index.FlagDraft}}); err != nil {
		t.Fatal(err)
	}
	r, _ := s.cat.Get(keys[9])
	hit := s.path(r.File)
	s.Close()
	if err := os.Remove(filepath.Join(dir, "mdbox.list")); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(hit)
	b[r.Off+5] ^= 1
	os.WriteFile(hit, b, 0o600)
	s = openIn(t, dir, quick, extra)
	want := []int{0, 1, 2}
	for i := 6; i < 20; i++ {
		if i != 9 {
			want = append(want, i)
		}
	}
	holds(t, s, want)
	if r, _ := s.cat.Get(keys[0]); r.Flags != index.FlagSeen || r.Date != 1e9 {
		t.Errorf("%+v", r)
	}
	var where *index.CorruptError
	for err := range s.Check() {
		if !errors.As(err, &where) || where.File != hit || where.Off != r.Off-30 {
			t.Errorf("check: %v", err)
		}
	}
	if where == nil {
		t.Error("Check says nothing of the damage")
	}
	if again := fill(t, s, 50, 1); slices.Contains(keys, again[0]) {
		t.Error("a key comes again")
	}
	s.Close()
	s = openIn(t, dir, quick, extra)
	holds(t, s, append(want, 50))
	s.Close()
}

// TestForged: a message that has a framed message in its text is no other's.
func TestForged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	s := openIn(t, dir, quick, nil)
	fill(t, s, 0, 2)
	b, _ := os.ReadFile(s.path(1))
	if _, err := s.Append([]store.Message{{Body: b}}); err != nil { // the whole file in a mail
		t.Fatal(err)
	}
	s.Close()
	os.Remove(filepath.Join(dir, "mdbox.list"))
	for damaged := range 2 {
		s = openIn(t, dir, quick, nil)
		if n := s.cat.Len(); n != 3-damaged {
			t.Errorf("%d messages", n)
		}
		s.Close()
		os.Remove(filepath.Join(dir, "mdbox.list"))
		b, _ := os.ReadFile(s.path(1))
		b[len(b)-3] ^= 1 // the outer message no longer is one; the inner ones have ids that are taken
		os.WriteFile(s.path(1), b, 0o600)
	}
}
