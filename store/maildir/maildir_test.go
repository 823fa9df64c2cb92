package maildir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
	"mailbench/store"
)

// A clock is what tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

var noon = time.Unix(1_700_000_000, 0)

// open opens a store that is checked and closed at the end, if it is not before.
func open(t testing.TB, cfg store.Config) store.Store {
	t.Helper()
	cfg.Unlocked = true // tests look into it, and leave it as a crash does
	s, err := store.Open(Format, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

func shut(t testing.TB, s store.Store) {
	t.Helper()
	if !s.(*mailbox).closed.Load() {
		check(t, s)
		s.Close()
	}
}

func check(t testing.TB, s store.Store) {
	t.Helper()
	for err := range s.Check() {
		t.Errorf("check: %v", err)
	}
}

func add(t testing.TB, s store.Store, msgs ...store.Message) []string {
	t.Helper()
	keys, err := s.Append(msgs)
	if err != nil || len(keys) != len(msgs) {
		t.Fatalf("Append: %d keys, %v", len(keys), err)
	}
	return keys
}

func mail(s string) store.Message { return store.Message{Body: []byte("Subject: " + s + "\n\nbody\n")} }

// entries lists what an index sees.
func entries(t testing.TB, s store.Store) []index.Entry {
	t.Helper()
	var l index.Listing
	if err := s.Source().List(&l); err != nil {
		t.Fatal(err)
	}
	s.Source().Order(l.Entries)
	return l.Entries
}

func keysOf(entries []index.Entry) (keys []string) {
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	return keys
}

// files lists the names in a directory of the maildir.
func files(t testing.TB, dir, sub string) []string {
	t.Helper()
	names, err := fsys.OS.ReadDir(filepath.Join(dir, sub))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAppend_names(t *testing.T) {
	for _, c := range []struct {
		into     string
		flags    index.Flags
		keywords uint32
		sub, end string
	}{
		{"", 0, 0, "cur", ",S=21,W=24:2,"},
		{"cur", index.FlagSeen | index.FlagDraft, 0, "cur", ",S=21,W=24:2,DS"},
		{"cur", 0, 1<<25 | 1, "cur", ",S=21,W=24:2,az"},
		{"new", 0, 0, "new", ",S=21,W=24"},
		{"new", index.FlagSeen, 0, "cur", ",S=21,W=24:2,S"},
	} {
		dir := t.TempDir()
		cfg := store.Config{Dir: dir, Extra: map[string]string{"into": c.into}, Now: (&clock{now: noon}).Now}
		s := open(t, cfg)
		m := store.Message{Body: []byte("Subject: x\n\nbody\nmore"), Flags: c.flags, Keywords: c.keywords, Date: 1_059_000_000}
		key := add(t, s, m)[0]
		got := files(t, dir, c.sub)
		if len(got) != 1 || !strings.HasPrefix(got[0], "1700000000.M0P") || !strings.HasSuffix(got[0], c.end) || !strings.HasPrefix(got[0], key) {
			t.Errorf("into=%s flags=%v: %q of key %s, want ...%s", c.into, c.flags, got, key, c.end)
			continue
		}
		if tmp := files(t, dir, "tmp"); len(tmp) > 0 {
			t.Errorf("left in tmp: %q", tmp)
		}
		for range 2 { // as appended, and as found
			e := entries(t, s)
			if len(e) != 1 || e[0].Key != key || e[0].Flags != c.flags || e[0].Keywords != c.keywords || e[0].Size != 21 || e[0].VSize != 24 || e[0].Folder != c.sub {
				t.Errorf("into=%s: listed as %+v", c.into, e)
			}
			if size, date, err := s.Source().Stat(&e[0]); size != 21 || date != m.Date || err != nil {
				t.Errorf("Stat %d, %d, %v", size, date, err)
			}
			if b, err := s.Source().ReadMessage(&e[0], nil); string(b) != string(m.Body) || err != nil {
				t.Errorf("read back %q, %v", b, err)
			}
			shut(t, s)
			s = open(t, cfg)
		}
	}
	if _, err := store.Open(Format, store.Config{Dir: t.TempDir(), Extra: map[string]string{"into": "tmp"}}); err == nil {
		t.Error("into=tmp was taken")
	}
}

// TestAppend_namesRise holds M2 and M3 with a clock that goes back, over
// reopenings, and when the newest message has been expunged.
func TestAppend_namesRise(t *testing.T) {
	dir := t.TempDir()
	clk := &clock{now: noon}
	var last string
	for i, step := range []struct {
		by      time.Duration
		expunge bool
	}{{0, false}, {0, false}, {-time.Hour, false}, {-24 * time.Hour, true}, {0, true}, {time.Microsecond, false}, {-time.Hour, true}, {time.Minute, true}} {
		clk.set(clk.Now().Add(step.by))
		s := open(t, store.Config{Dir: dir, Now: clk.Now})
		keys := add(t, s, mail("a"), mail("b"))
		keys = append(keys, add(t, s, mail("c"))...)
		for _, key := range keys {
			if last != "" && maildir.Compare(last, key) >= 0 {
				t.Errorf("step %d: %s comes after %s", i, key, last)
			}
			last = key
		}
		if step.expunge {
			if err := s.Expunge(keysOf(entries(t, s))); err != nil {
				t.Fatal(err)
			}
		}
		shut(t, s)
	}
}

func TestMicroOf(t *testing.T) {
	for base, want := range map[string]int64{
		"1.M2P3.h": 1_000_002, "1.M999999P3.h": 1_999_999, "1.M1000000P3.h": 1_999_999, "1.Q.h": 1_999_999, "1.5.h": 1_999_999,
		"": 999_999, "x": 999_999, "12": 12_999_999, "99999999999999999999.M1P.h": 0, "1000000000000.M1.h": 0,
	} {
		if got := microOf(base); got != want {
			t.Errorf("microOf(%q) = %d, want %d", base, got, want)
		}
		if want == 0 {
			continue
		}
		next := fmt.Sprintf("%d.M%dP1.h,S=1,W=1", (want+1)/1e6, (want+1)%1e6)
		if maildir.Compare(base, next) >= 0 {
			t.Errorf("%s does not come after %q", next, base)
		}
	}
}

// TestSyncs counts what each call waits for.
func TestSyncs(t *testing.T) {
	for _, noSync := range []bool{false, true} {
		c := fsys.Counting(fsys.OS)
		s := open(t, store.Config{Dir: t.TempDir(), FS: c, NoSync: noSync, Extra: map[string]string{"into": "new"}})
		var keys []string
		for _, step := range []struct {
			name                             string
			do                               func() error
			syncs, syncDirs, renames, remove int64
		}{
			{"append 1", func() (err error) { keys, err = s.Append([]store.Message{mail("1")}); return err }, 1, 1, 1, 0},
			{"append 200 to new", func() error { _, err := s.Append(slices.Repeat([]store.Message{mail("1")}, 200)); return err }, 200, 1, 200, 0},
			{"append to both", func() error {
				_, err := s.Append([]store.Message{mail("1"), {Flags: index.FlagSeen}, mail("3")})
				return err
			}, 3, 2, 3, 0},
			{"flags", func() error { return s.SetFlags([]store.Change{{Key: keys[0], Flags: index.FlagSeen}}) }, 0, 2, 1, 0},
			{"the same flags", func() error { return s.SetFlags([]store.Change{{Key: keys[0], Flags: index.FlagSeen}}) }, 0, 0, 0, 0},
			{"flags in cur", func() error { return s.SetFlags([]store.Change{{Key: keys[0]}}) }, 0, 1, 1, 0},
			{"expunge", func() error { return s.Expunge([]string{keys[0], "gone"}) }, 0, 1, 0, 1},
			{"expunge nothing", func() error { return s.Expunge(keys[:1]) }, 0, 0, 0, 0},
			{"purge", s.Purge, 0, 0, 0, 0},
		} {
			before := c.Counts()
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			d := c.Counts().Sub(before)
			if noSync {
				step.syncs, step.syncDirs = 0, 0
			}
			if d.Syncs != step.syncs || d.SyncDirs != step.syncDirs || d.Renames != step.renames || d.Removes != step.remove {
				t.Errorf("nosync=%v %s: %d fsyncs, %d of directories, %d renames, %d removes; want %d, %d, %d, %d", noSync, step.name,
					d.Syncs, d.SyncDirs, d.Renames, d.Removes, step.syncs, step.syncDirs, step.renames, step.remove)
			}
		}
	}
}

// TestOpen_cleansTmp holds M1: old leftovers go, young ones stay, whatever
// INTERNALDATE they have been given.
func TestOpen_cleansTmp(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, store.Config{Dir: dir}))
	old, young := noon.Add(-37*time.Hour), noon.Add(-35*time.Hour)
	for name, modified := range map[string]time.Time{
		fmt.Sprintf("%d.M0P1Q1.old", old.Unix()):         old,
		fmt.Sprintf("%d.M0P1Q1.young", young.Unix()):     old.Add(-1000 * time.Hour),
		fmt.Sprintf("%d.M0P1Q1.touched", old.Unix()):     young,
		fmt.Sprintf("%d.M0P1Q1.future", noon.Unix()+1e6): old,
		"stranger": old,
	} {
		path := filepath.Join(dir, "tmp", name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	open(t, store.Config{Dir: dir, Now: (&clock{now: noon}).Now})
	var left []string
	for _, name := range files(t, dir, "tmp") {
		left = append(left, name[strings.LastIndexByte(name, '.')+1:])
	}
	slices.Sort(left)
	if want := []string{"future", "touched", "young"}; !slices.Equal(left, want) {
		t.Errorf("left in tmp: %q, want %q", left, want)
	}
}

func TestOpen_canonicalNames(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, store.Config{Dir: dir}))
	for _, name := range []string{"cur/2.M1.h:2,SF", "cur/1.M1.h", "new/3.M1.h", "cur/.hidden", "cur/4.M1.h:2,Sx", "cur/5.M1.h:2,S,junk"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("Subject: x\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, store.Config{Dir: dir})
	if got, want := files(t, dir, "cur"), []string{".hidden", "1.M1.h:2,", "2.M1.h:2,FS", "4.M1.h:2,Sx", "5.M1.h:2,S"}; !slices.Equal(got, want) {
		t.Errorf("cur: %q, want %q", got, want)
	}
	if got, want := keysOf(entries(t, s)), []string{"1.M1.h", "2.M1.h", "3.M1.h", "4.M1.h", "5.M1.h"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	for _, e := range entries(t, s) {
		if size, _, err := s.Source().Stat(&e); size != 12 || err != nil {
			t.Errorf("%s: size %d, %v", e.Key, size, err)
		}
		if b, err := s.Source().ReadMessage(&e, nil); string(b) != "Subject: x\n\n" || err != nil {
			t.Errorf("%s: %q, %v", e.Key, b, err)
		}
	}
}

// TestFailures makes each changing call of each operation fail once: S5.
func TestFailures(t *testing.T) {
	boom := errors.New("boom")
	for name, op := range map[string]func(s store.Store, keys []string) error{
		"append": func(s store.Store, _ []string) error {
			keys, err := s.Append([]store.Message{mail("n1"), {Body: []byte("n2\n"), Flags: index.FlagSeen}, mail("n3")})
			if err != nil && len(keys) > 2 {
				t.Errorf("%d keys with %v", len(keys), err)
			}
			return err
		},
		"flags": func(s store.Store, keys []string) error {
			return s.SetFlags([]store.Change{{Key: keys[0], Flags: index.FlagFlagged}, {Key: keys[1], Flags: index.FlagSeen}})
		},
		"expunge": func(s store.Store, keys []string) error { return s.Expunge([]string{keys[2], keys[0]}) },
	} {
		for n := 0; ; n++ {
			dir := t.TempDir()
			var mu sync.Mutex
			left := -1
			fs := fsys.Failing(fsys.OS, func(op fsys.Op, _ string, _ int64, _ int) error {
				mu.Lock()
				defer mu.Unlock()
				if left < 0 || !op.Changes() && op != fsys.OpOpen {
					return nil
				}
				if left--; left < 0 {
					return boom
				}
				return nil
			})
			cfg := store.Config{Dir: dir, FS: fs, Extra: map[string]string{"into": "new"}}
			s := open(t, cfg)
			keys := add(t, s, mail("1"), mail("2"), mail("3"))
			before := view(t, s)
			mu.Lock()
			left = n
			mu.Unlock()
			err := op(s, keys)
			mu.Lock()
			unused := left >= 0
			left = -1
			mu.Unlock()
			if unused {
				if err != nil {
					t.Errorf("%s: %v though nothing failed", name, err)
				}
				break
			}
			if !errors.Is(err, boom) {
				t.Errorf("%s, call %d failed, and the error is %v", name, n, err)
			}
			after := view(t, s)
			if name == "flags" && !slices.Equal(before, after) {
				t.Errorf("%s, call %d failed: from %q to %q", name, n, before, after)
			}
			add(t, s, mail("goes on"))
			after = view(t, s)
			shut(t, s)
			if found := view(t, open(t, cfg)); !slices.Equal(found, after) {
				t.Errorf("%s, call %d failed: seen as %q, found as %q", name, n, after, found)
			}
		}
	}
}

// view is each message with its flags.
func view(t *testing.T, s store.Store) (out []string) {
	t.Helper()
	for _, e := range entries(t, s) {
		b, err := s.Source().ReadMessage(&e, nil)
		if err != nil {
			t.Errorf("%s: %v", e.Key, err)
		}
		out = append(out, fmt.Sprintf("%s %v %s %q", e.Key, e.Flags, e.Folder, b))
	}
	return out
}

func TestKeywords_above(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir()})
	key := add(t, s, mail("a"))[0]
	if _, err := s.Append([]store.Message{mail("b"), {Keywords: 1 << 26}}); !errors.Is(err, ErrKeyword) {
		t.Errorf("append: %v", err)
	}
	if err := s.SetFlags([]store.Change{{Key: key, Keywords: 1 << 31}}); !errors.Is(err, ErrKeyword) {
		t.Errorf("flags: %v", err)
	}
	if e := entries(t, s); len(e) != 1 || e[0].Keywords != 0 {
		t.Errorf("listed %+v", e)
	}
}

// TestDamage holds that a file of another size is an error and found by Check.
func TestDamage(t *testing.T) {
	for _, change := range []string{"", "Subject: x\n\nbod", "Subject: x\n\nbody\n!"} {
		dir := t.TempDir()
		s, err := store.Open(Format, store.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		add(t, s, mail("x"))
		name := filepath.Join(dir, "cur", files(t, dir, "cur")[0])
		if err := os.WriteFile(name, []byte(change), 0o600); err != nil {
			t.Fatal(err)
		}
		e := entries(t, s)[0]
		if _, err := s.Source().ReadMessage(&e, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q was read: %v", change, err)
		}
		n := 0
		for range s.Check() {
			n++
		}
		if n != 1 {
			t.Errorf("%q: %d errors from Check", change, n)
		}
		os.Remove(name)
		if _, err := s.Source().ReadMessage(&e, nil); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("removed: %v", err)
		}
		s.Close()
		if _, err := s.Append([]store.Message{mail("late")}); err == nil {
			t.Error("append after Close")
		}
	}
}

// TestReaders_duringFlagChanges: a message whose name changes all the time is
// never missed.
func TestReaders_duringFlagChanges(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir(), NoSync: true})
	key := add(t, s, mail("x"))[0]
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.SetFlags([]store.Change{{Key: key, Flags: index.Flags(i & 63)}}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	e := entries(t, s)[0]
	for range 2000 {
		if b, err := s.Source().ReadMessage(&e, nil); err != nil || len(b) != 17 {
			t.Fatalf("%q, %v", b, err)
		}
		if _, _, err := s.Source().Stat(&e); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

// TestAppend_together: appends of many goroutines are in the catalog in the
// order of their names, each with its own body.
func TestAppend_together(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Config{Dir: dir, NoSync: true})
	var mu sync.Mutex
	want := map[string]string{}
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			for i := range 20 {
				body := fmt.Sprintf("Subject: %d.%d\n\n", g, i)
				keys, err := s.Append([]store.Message{{Body: []byte(body)}, {Body: []byte(body + "2")}})
				if err != nil || len(keys) != 2 {
					t.Error(keys, err)
					return
				}
				mu.Lock()
				want[keys[0]], want[keys[1]] = body, body+"2"
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for range 2 { // as appended, and as found
		e := entries(t, s)
		if len(e) != len(want) || !slices.IsSortedFunc(e, func(a, b index.Entry) int { return maildir.Compare(a.Key, b.Key) }) {
			t.Errorf("%d entries, want %d in the order of names", len(e), len(want))
		}
		for i := range e {
			if b, err := s.Source().ReadMessage(&e[i], nil); string(b) != want[e[i].Key] || err != nil {
				t.Errorf("%s: %q, %v, want %q", e[i].Key, b, err, want[e[i].Key])
			}
		}
		shut(t, s)
		s = open(t, store.Config{Dir: dir})
	}
}

// FuzzMicroOf: a name of the microsecond after comes behind, whatever stood before.
func FuzzMicroOf(f *testing.F) {
	for _, base := range []string{"1.M2P3.h", "1.M1000000P3.h", "1.Q.h", "", "x", "007.M08", "99999999999999999999.M1P.h", "1.M99999999999999999999"} {
		f.Add(base)
	}
	f.Fuzz(func(t *testing.T, base string) {
		micro := microOf(base)
		if micro < 0 || micro > maxMicro {
			t.Fatalf("microOf(%q) = %d", base, micro)
		}
		next := fmt.Sprintf("%d.M%dP1.h,S=1,W=1", (micro+1)/1e6, (micro+1)%1e6)
		if micro > 0 && maildir.Compare(base, next) >= 0 {
			t.Errorf("%q does not come before %s", base, next)
		}
	})
}
