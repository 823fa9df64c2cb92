package sqlstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/store"
)

func appended(t *testing.T, dir string) (keys []string) {
	t.Helper()
	s := mustOpen(t, store.Config{Dir: dir, NoSync: true})
	keys, err := s.Append([]store.Message{{Body: []byte("Subject: x\n\nbody\n"), Date: 1}, {Body: []byte("y")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestMade: a database that is gone, empty or without tables is an error that
// names it, each time, and with madeFile gone too it is a new mailbox.
func TestMade(t *testing.T) {
	for name, spoil := range map[string]func(db string) error{
		"gone":  os.Remove,
		"empty": func(db string) error { return os.Truncate(db, 0) },
		"another's": func(db string) error {
			if err := os.Remove(db); err != nil {
				return err
			}
			p := embedded(db, true, 1)
			return errorsOf(p.read(func(*session) error { return nil }), p.close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			appended(t, dir)
			db := filepath.Join(dir, database)
			if err := spoil(db); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if s, err := store.Open(Format, store.Config{Dir: dir, NoSync: true}); err == nil || !strings.Contains(err.Error(), db) {
					t.Errorf("opened: %v", err)
					if err == nil {
						s.Close()
					}
				}
			}
			if err := os.Remove(filepath.Join(dir, madeFile)); err != nil {
				t.Fatal(err)
			}
			appended(t, dir)
		})
	}
}

// TestMade_before: a mailbox from before there was madeFile gets one.
func TestMade_before(t *testing.T) {
	dir := t.TempDir()
	first := appended(t, dir)
	if err := os.Remove(filepath.Join(dir, madeFile)); err != nil {
		t.Fatal(err)
	}
	if second := appended(t, dir); second[0] == first[0] {
		t.Errorf("keys %v, %v", first, second)
	}
	if _, err := os.Stat(filepath.Join(dir, madeFile)); err != nil {
		t.Error(err)
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
