package mbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/store"
)

// TestAppend_behindDamage: what is appended behind a damaged end is found again
// (B5), however long it is beside what was cut off, also with the mbox.good of
// before the append, as after a power cut.
func TestAppend_behindDamage(t *testing.T) {
	cuts := []int{0}
	for n := 1; n < 700; n++ {
		if n%29 == 1 || n > 599 && n < 606 { // the record's fields end 601 from its end
			cuts = append(cuts, n)
		}
	}
	for _, cut := range cuts { // 0: the last byte changed
		for _, size := range []int{0, 1, 300, max(0, cut-300)} {
			for _, good := range []string{"", "old"} {
				behindDamage(t, cut, size, good)
				if t.Failed() {
					t.Fatalf("cut %d, then %d bytes appended, mbox.good %q", cut, size, good)
				}
			}
		}
	}
}

func behindDamage(t *testing.T, cut, size int, good string) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, fileName)
	reopen := func() store.Store {
		t.Helper()
		s, err := store.Open(Format, store.Config{Dir: dir, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen()
	add(t, s, mail("1"), store.Message{Body: bytes.Repeat([]byte("A: b\n\n"), 100)})
	s.Close()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if cut == 0 {
		b[len(b)-1] ^= 0x40
	}
	if err := os.WriteFile(name, b[:len(b)-cut], 0o600); err != nil {
		t.Fatal(err)
	}
	reopen().Close()
	before, err := os.ReadFile(name + ".good")
	if err != nil {
		t.Fatal(err)
	}
	s = reopen()
	body := bytes.Repeat([]byte("x\n"), (size+1)/2)[:size]
	keys := []string{"1"}
	for range 3 {
		keys = append(keys, add(t, s, store.Message{Body: body})...)
	}
	if keys[1] != "3" {
		t.Errorf("key %s", keys[1])
	}
	// The file written anew with the damage, which moves nothing out of reach.
	gone := add(t, s, mail("gone"))
	if size == 1 {
		if err := s.Expunge(gone); err != nil {
			t.Fatal(err)
		}
	} else {
		keys = append(keys, gone...)
	}
	s.Close()
	if good == "old" {
		if err := os.WriteFile(name+".good", before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s = reopen()
		var got []string
		for _, e := range entries(t, s) {
			got = append(got, strings.Clone(e.Key))
			b, err := s.Source().ReadMessage(&e, nil)
			if err != nil || (e.Key == "3" || e.Key == "5") && !bytes.Equal(b, body) {
				t.Errorf("message %s: %q, %v", e.Key, b, err)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("messages %q, want %q", got, keys)
		}
		if err := told(s); err == nil {
			t.Error("Check has nothing to tell")
		}
		keys = append(keys, add(t, s, mail("more"))...)
		s.Close()
	}
}

// told is the first thing that Check has to tell.
func told(s store.Store) error {
	for err := range s.Check() {
		return err
	}
	return nil
}

// TestReadHeader_quoted: a header is a prefix of its message, wherever reading
// it stops in a line that is quoted.
func TestReadHeader_quoted(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir(), NoSync: true})
	for pad := range 40 {
		body := append(bytes.Repeat([]byte("x"), pad+1), '\n')
		body = append(body, bytes.Repeat([]byte("From abcdefghijklmnopqrstuvwxyz\n>From x\n"), 1<<20/32)...)
		add(t, s, store.Message{Body: body})
		e := entries(t, s)[pad]
		h, err := s.Source().ReadHeader(&e, nil)
		if err != nil || len(h) < 1<<19 || !bytes.HasPrefix(body, h) {
			t.Errorf("pad %d: a header of %d bytes, %v, no prefix of the message", pad, len(h), err)
		}
	}
}

// TestOpen_gone: a mailbox with mail whose file is gone or empty is not made
// anew without a word; one without mail is.
func TestOpen_gone(t *testing.T) {
	for _, empty := range []bool{false, true} {
		for _, mails := range []int{0, 2} {
			t.Run(fmt.Sprintf("empty=%v mails=%d", empty, mails), func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, fileName)
				s := open(t, store.Config{Dir: dir})
				keys := add(t, s, mail("1"), mail("2"))
				if err := s.Expunge(keys[mails:]); err != nil {
					t.Fatal(err)
				}
				shut(t, s)
				take := func() {
					t.Helper()
					err := os.Remove(name)
					if empty {
						err = os.WriteFile(name, nil, 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				take()
				s, err := store.Open(Format, store.Config{Dir: dir, Unlocked: true})
				if mails > 0 {
					if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
						t.Errorf("error %v", err)
					}
					if st, err := os.Stat(name); err == nil && st.Size() > 0 {
						t.Error("it was made anew")
					}
					os.Remove(name + ".good") // as the error says
					s, err = store.Open(Format, store.Config{Dir: dir, Unlocked: true})
				}
				if err != nil {
					t.Fatal(err)
				}
				if keys := add(t, s, mail("3")); mails == 0 && keys[0] != "3" {
					t.Errorf("key %s was used before", keys[0])
				}
				shut(t, s)
			})
		}
	}
}

func TestPurge_closed(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir(), NoSync: true})
	shut(t, s)
	if err := s.Purge(); !errors.Is(err, errClosed) {
		t.Errorf("Purge after Close: %v", err)
	}
}

// TestAppend_damagedAgain: whatever has been damaged before, at whatever place
// and however often, what was acknowledged since is there after the next opening.
func TestAppend_damagedAgain(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 30 {
		dir := t.TempDir()
		name := filepath.Join(dir, fileName)
		since := map[string][]byte{} // acknowledged since the last damage
		for step := range 12 {
			s, err := store.Open(Format, store.Config{Dir: dir, NoSync: true})
			if err != nil {
				if errors.Is(err, ErrCorrupt) && len(since) == 0 {
					break // the head and all mail are gone
				}
				t.Fatalf("round %d, step %d: %v", round, step, err)
			}
			missing := maps.Clone(since)
			for _, e := range entries(t, s) {
				want, ok := since[e.Key]
				if b, err := s.Source().ReadMessage(&e, nil); ok && (err != nil || !bytes.Equal(b, want)) {
					t.Fatalf("round %d, step %d: message %s: %q, %v, want %q", round, step, e.Key, b, err, want)
				}
				delete(missing, strings.Clone(e.Key))
			}
			if len(missing) > 0 {
				t.Fatalf("round %d, step %d: %d of %d messages are lost: %q", round, step, len(missing), len(since), missing)
			}
			for range r.IntN(3) {
				body := bytes.Repeat([]byte("From x\n\n"), r.IntN(150))
				body = body[:r.IntN(len(body)+1)]
				since[add(t, s, store.Message{Body: body})[0]] = body
			}
			if all := entries(t, s); len(all) > 0 && r.IntN(3) == 0 {
				key := strings.Clone(all[r.IntN(len(all))].Key)
				if err := s.Expunge([]string{key}); err == nil { // else a record is damaged under it
					delete(since, key)
				}
			}
			s.Close()
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			switch r.IntN(4) {
			case 0:
				b = b[:1+r.IntN(len(b))]
			case 1:
				b = b[:len(b)-r.IntN(min(len(b), 20))]
			case 2:
				b[len(b)-1-r.IntN(min(len(b), 1000))] ^= 1 << r.IntN(8)
			default:
				continue
			}
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			clear(since)
		}
	}
}
