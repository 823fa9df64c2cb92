package mdbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// killed is the mailbox as a process that was killed left it.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func checks(s *mdbox) (out []string) {
	for err := range s.Check() {
		out = append(out, err.Error())
	}
	return out
}

// TestForeign: what does not begin as one of mdbox's files is neither removed nor
// written to, also by a Purge, whether the mailbox was closed in order, killed, or
// lost its map; Check tells of it.
func TestForeign(t *testing.T) {
	for _, how := range []string{"closed", "killed", "no map"} {
		dir := filepath.Join(t.TempDir(), "mail")
		s := openIn(t, dir, quick, map[string]string{"rotate": "2k"})
		fill(t, s, 0, 20)
		if how == "closed" {
			s.Close()
		} else {
			t.Cleanup(func() { s.Close() })
			dir = killed(t, dir)
		}
		if how == "no map" {
			os.Remove(filepath.Join(dir, "mdbox.list"))
		}
		at := func(name string) string { return filepath.Join(dir, "storage", name) }
		if err := os.MkdirAll(filepath.Join(at("m.98"), "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at("m.96"), []byte("a diary\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			s = openIn(t, dir, quick, map[string]string{"rotate": "2k"})
			fill(t, s, 20+20*round, 20)
			if err := s.Purge(); err != nil {
				t.Fatal(err)
			}
			all := make([]int, 40+20*round)
			for i := range all {
				all[i] = i
			}
			holds(t, s, all)
			got := checks(s)
			if len(got) != 2 || !slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "m.98") }) ||
				!slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "m.96") }) {
				t.Errorf("%s: Check tells %q, want m.96 and m.98", how, got)
			}
			s.Close()
		}
		if b, err := os.ReadFile(at("m.96")); string(b) != "a diary\n" {
			t.Errorf("%s: m.96 is %q, %v", how, b, err)
		}
		if _, err := os.Stat(at("m.98/x")); err != nil {
			t.Error(how, err)
		}
	}
}

// TestFind: a map from before a Purge, which it lost, speaks of files that are
// gone: their messages are found where Purge has put them.
func TestFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	s := openIn(t, dir, quick, map[string]string{"rotate": "2k"})
	keys := fill(t, s, 0, 20)
	var dead []string
	var alive []int
	for i, key := range keys {
		if i%2 == 0 {
			dead = append(dead, key)
		} else {
			alive = append(alive, i)
		}
	}
	if err := s.Expunge(dead); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "mdbox.list"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(filepath.Join(dir, "mdbox.list"), before, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = openIn(t, dir, quick, nil)
		holds(t, s, alive)
		if got := checks(s); len(got) > 0 {
			t.Errorf("Check: %q", got)
		}
		s.Close()
	}
}

// TestRecover_damage: behind a message with a changed byte, which the map does not
// know, others that it does not know are found, and nothing is cut off.
func TestRecover_damage(t *testing.T) {
	for _, in := range []string{"head", "body", "metadata"} {
		dir := filepath.Join(t.TempDir(), "mail")
		s := openIn(t, dir, quick, nil)
		fill(t, s, 0, 2)
		if err := s.list.Compact(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(dir, "mdbox.list")) // as after a power cut
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s, 2, 6)
		bad := rows(s)[4]
		copied := killed(t, dir)
		s.Close()
		dir = copied
		name := filepath.Join(dir, "storage", "m.1")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b[map[string]int64{"head": bad.Off - 5, "body": bad.Off + 20, "metadata": bad.Off + bad.Size + 9}[in]] ^= 1
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mdbox.list"), before, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s = openIn(t, dir, quick, nil)
			holds(t, s, []int{0, 1, 2, 3, 5, 6, 7})
			if got := checks(s); len(got) == 0 {
				t.Errorf("%s: Check tells nothing of the damage", in)
			}
			s.Close()
		}
		if after, err := os.ReadFile(name); string(after) != string(b) {
			t.Errorf("%s: m.1 was changed: %d bytes, before %d, %v", in, len(after), len(b), err)
		}
	}
}
