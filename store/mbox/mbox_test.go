package mbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/mbox"
	"mailbench/store"
)

var noon = time.Unix(1_700_000_000, 0)

func open(t testing.TB, cfg store.Config) store.Store {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return noon }
	}
	cfg.Unlocked = true // tests look into it, and leave it as a crash does
	s, err := store.Open(Format, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

// shut checks and closes a store that is open.
func shut(t testing.TB, s store.Store) {
	t.Helper()
	if s.(*mailbox).closed {
		return
	}
	for err := range s.Check() {
		t.Errorf("check: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
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

func entries(t testing.TB, s store.Store) []index.Entry {
	t.Helper()
	var l index.Listing
	if err := s.Source().List(&l); err != nil {
		t.Fatal(err)
	}
	s.Source().Order(l.Entries)
	return l.Entries
}

// view is each message with its flags.
func view(t testing.TB, s store.Store) (out []string) {
	t.Helper()
	for _, e := range entries(t, s) {
		b, err := s.Source().ReadMessage(&e, nil)
		if err != nil {
			t.Errorf("%s: %v", e.Key, err)
		}
		out = append(out, fmt.Sprintf("%s %v %x %d %q", e.Key, e.Flags, e.Keywords, e.MTime, b))
	}
	return out
}

// bodies are what an mbox has trouble with.
var bodies = []string{
	"", "\n", "\n\n", "\r\n", "x", "Subject: x\n\nbody\n", "Subject: x\n\nno last line end", "Subject: x\r\n\r\nCRLF\r\n", "Subject: x\r\n\r\nCRLF, open",
	"From me\n", "From MAILER-DAEMON Thu Jan  1 00:00:00 1970\nX-UID: 7\n\n", ">From you\n>>From me\nFrom\nFrom \n", "Subject: x\n\nFrom a@b Thu Jan  1 00:00:00 1970\nA: b\n\nno\n",
	"Subject: x\n\n\nFrom", "Subject: x\n\n>From", "A: b\n>From c: d\nFrom e: f\n\nFrom g", "Status: O\nX-Status: AFDT\nX-UID: 9\nX-Keywords: k1\nX-IMAP: 1 2\nContent-Length: 3\n\nbody\n",
	"no header at all\n", "\x00\xff\n\x00", "a\rb\rc", "A: b\n\n" + strings.Repeat("From x\n", 3000), "A: " + strings.Repeat("x", 200_000) + "\n\n", "A: b\n\n" + strings.Repeat("y", 300_000),
}

// TestRoundTrip: S3, and what other readers of mboxes see.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Config{Dir: dir})
	var msgs []store.Message
	for i, b := range bodies {
		msgs = append(msgs, store.Message{Body: []byte(b), Flags: index.Flags(i * 5 & 63), Keywords: uint32(i) << (i % 24) & (1<<26 - 1), Date: int64(i) * 86_399_999})
	}
	msgs[3].Date, msgs[4].Date = -1, 253402300799
	keys := add(t, s, msgs...)
	add(t, s, msgs...)
	for round := range 3 { // as appended, as found, as written anew
		e := entries(t, s)
		if len(e) != 2*len(msgs) {
			t.Fatalf("%d messages, want %d", len(e), 2*len(msgs))
		}
		for i := range e {
			want := msgs[i%len(msgs)]
			if want.Date == 0 {
				want.Date = noon.Unix()
			}
			b, err := s.Source().ReadMessage(&e[i], []byte("dirty"))
			if err != nil || !bytes.Equal(b, want.Body) {
				t.Errorf("round %d: %.60q, %v, want %.60q", round, b, err, want.Body)
			}
			h, err := s.Source().ReadHeader(&e[i], nil)
			if err != nil || !bytes.HasPrefix(want.Body, h) {
				t.Errorf("round %d: header %.60q, %v, of %.60q", round, h, err, want.Body)
			}
			if e[i].Flags != want.Flags || e[i].Keywords != want.Keywords || e[i].MTime != want.Date || e[i].Size != int64(len(want.Body)) {
				t.Errorf("round %d: %+v, want %v %x %d", round, e[i], want.Flags, want.Keywords, want.Date)
			}
		}
		switch round {
		case 0:
			strangers(t, dir, msgs, keys)
			shut(t, s)
			s = open(t, store.Config{Dir: dir})
		case 1:
			k := add(t, s, mail("to go"))
			if err := s.Expunge(k); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// strangers reads the file by package mbox and as corpus/source reads users'.
func strangers(t *testing.T, dir string, msgs []store.Message, keys []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	n := -1 // the first one is the head
	_, err = mbox.Scan(b, mbox.MboxRD, func(m mbox.Message) bool {
		if n >= 0 {
			want := msgs[n%len(msgs)]
			got := mbox.Unquote(nil, b[m.BodyOff:m.End], mbox.MboxRD)
			_, got, _ = bytes.Cut(got, []byte("\nX-Keywords: "))
			_, got, _ = bytes.Cut(got, []byte("\n"))
			if !bytes.Equal(got, want.Body) && !bytes.Equal(got, append(slices.Clone(want.Body), '\n')) {
				t.Errorf("package mbox reads %.60q, want %.60q", got, want.Body)
			}
		}
		n++
		return true
	})
	if err != nil || n != 2*len(msgs) {
		t.Errorf("package mbox finds %d messages, %v, want %d", n, err, 2*len(msgs))
	}
	src, err := source.Open(filepath.Join(dir, fileName), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil || len(l.Entries) != 2*len(msgs) {
		t.Fatalf("corpus/source lists %d messages, %v", len(l.Entries), err)
	}
	for i, e := range l.Entries {
		// It has 26 names for keywords, and they are taken: $Forwarded has none.
		want := msgs[i%len(msgs)]
		// A stranger reads the fields of the message, too.
		if strings.HasPrefix(string(want.Body), "Status:") {
			continue
		}
		if e.Flags != want.Flags&^index.FlagForwarded || e.Keywords != want.Keywords {
			t.Errorf("corpus/source: message %d has %v %x, want %v %x", i, e.Flags, e.Keywords, want.Flags, want.Keywords)
		}
		if uid := src.(*source.Mbox).UID(&e); i < len(keys) && fmt.Sprint(uid) != keys[i] && !bytes.Contains(want.Body, []byte("X-UID")) {
			t.Errorf("corpus/source: UID %d, key %s", uid, keys[i])
		}
	}
}

// TestFlags_inPlace: a change of flags moves nothing as long as it fits, and
// then takes more room.
func TestFlags_inPlace(t *testing.T) {
	dir := t.TempDir()
	c := fsys.Counting(fsys.OS)
	s := open(t, store.Config{Dir: dir, FS: c})
	keys := add(t, s, mail("1"), mail("2"), mail("3"))
	for _, step := range []struct {
		flags                           index.Flags
		keywords                        uint32
		writes, syncs, renames, written int64
	}{
		{index.FlagSeen, 0, 2, 1, 0, 2 * int64(stateFixed+padding)},
		{index.FlagSeen, 0, 0, 0, 0, 0},
		{knownFlags, 1, 2, 1, 0, 2 * int64(stateFixed+padding)},
		{0, 1<<13 - 1, 2, 1, 0, 2 * int64(stateFixed+padding)}, // "k0 ... k12", 42 bytes
		{0, 1<<32 - 1, 3, 1, 1, 0},                             // file, head, mbox.good
		{knownFlags, 1<<31 - 1, 2, 1, 0, 2 * int64(stateFixed+167)},
		{0, 0, 2, 1, 0, 2 * int64(stateFixed+167)},
	} {
		before := c.Counts()
		// A key twice: the last word counts.
		err := s.SetFlags([]store.Change{{Key: keys[0], Flags: step.flags ^ 1}, {Key: "99"}, {Key: keys[2], Flags: step.flags, Keywords: step.keywords},
			{Key: keys[0], Flags: step.flags, Keywords: step.keywords}})
		if err != nil {
			t.Fatal(err)
		}
		d := c.Counts().Sub(before)
		if d.Writes != step.writes || d.Syncs != step.syncs || d.Renames != step.renames || step.written > 0 && d.BytesWritten != step.written {
			t.Errorf("%v %x: %d writes of %d bytes, %d syncs, %d renames; want %+v", step.flags, step.keywords, d.Writes, d.BytesWritten, d.Syncs, d.Renames, step)
		}
		for i, e := range entries(t, s) {
			if i != 1 && (e.Flags != step.flags || e.Keywords != step.keywords) || i == 1 && (e.Flags != 0 || e.Keywords != 0) {
				t.Errorf("message %d: %v %x, want %v %x", i, e.Flags, e.Keywords, step.flags, step.keywords)
			}
		}
		was := view(t, s)
		shut(t, s)
		s = open(t, store.Config{Dir: dir, FS: c})
		if now := view(t, s); !slices.Equal(now, was) {
			t.Errorf("opened again: %q, was %q", now, was)
		}
	}
}

// TestSyncs counts what each call waits for.
func TestSyncs(t *testing.T) {
	c := fsys.Counting(fsys.OS)
	s := open(t, store.Config{Dir: t.TempDir(), FS: c})
	for _, step := range []struct {
		name                   string
		do                     func() error
		writes, syncs, syncDir int64
	}{
		{"append 1", func() error { _, err := s.Append([]store.Message{mail("1")}); return err }, 2, 1, 0},
		{"append 200", func() error { _, err := s.Append(slices.Repeat([]store.Message{mail("1")}, 200)); return err }, 2, 1, 0},
		{"append none", func() error { _, err := s.Append(nil); return err }, 0, 0, 0},
		{"expunge", func() error { return s.Expunge([]string{"1", "5", "5", "1000"}) }, 3, 1, 1},
		{"expunge what is gone", func() error { return s.Expunge([]string{"1"}) }, 0, 0, 0},
		{"purge", s.Purge, 0, 0, 0},
	} {
		before := c.Counts()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		d := c.Counts().Sub(before)
		if d.Writes != step.writes || d.Syncs != step.syncs || d.SyncDirs != step.syncDir {
			t.Errorf("%s: %d writes, %d fsyncs, %d of directories; want %d, %d, %d", step.name, d.Writes, d.Syncs, d.SyncDirs, step.writes, step.syncs, step.syncDir)
		}
	}
}

// TestKeys_neverAgain: S4, whatever is expunged and however often it is opened,
// with mbox.good and without.
func TestKeys_neverAgain(t *testing.T) {
	for _, remove := range []bool{false, true} {
		dir := t.TempDir()
		var last uint64
		for range 5 {
			s := open(t, store.Config{Dir: dir})
			keys := add(t, s, mail("a"), mail("b"))
			for _, key := range keys {
				uid, err := strconv.ParseUint(key, 10, 32)
				if err != nil || uid <= last {
					t.Errorf("key %s after %d", key, last)
				}
				last = uid
			}
			if err := s.Expunge(keys); err != nil {
				t.Fatal(err)
			}
			shut(t, s)
			if remove {
				os.Remove(filepath.Join(dir, "mbox.good"))
			}
		}
	}
}

func TestKeys_end(t *testing.T) {
	s := open(t, store.Config{Dir: t.TempDir()})
	s.(*mailbox).last = 1<<32 - 3
	if _, err := s.Append(slices.Repeat([]store.Message{mail("x")}, 3)); !errors.Is(err, ErrFull) {
		t.Errorf("three of two: %v", err)
	}
	if keys := add(t, s, mail("x"), mail("y")); keys[1] != "4294967295" {
		t.Errorf("keys %q", keys)
	}
	if _, err := s.Append([]store.Message{mail("z")}); !errors.Is(err, ErrFull) {
		t.Errorf("one of none: %v", err)
	}
}

// TestDamage_inTheMiddle: what is damaged is told and kept, and the messages
// around it are there, also after the file is written anew.
func TestDamage_inTheMiddle(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Config{Dir: dir})
	var keys []string
	for i := range 9 {
		keys = append(keys, add(t, s, mail(strconv.Itoa(i)))...)
	}
	shut(t, s)
	name := filepath.Join(dir, fileName)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("X-UID: 4\n"))] = 'Y'     // no record any more
	b[bytes.Index(b, []byte("Subject: 5\n"))+9] = 'V' // another message
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	want := slices.Delete(slices.Clone(keys), 3, 4)
	for _, gone := range []string{"1", "5", "9", ""} { // each time the file is written anew
		s, err := store.Open(Format, store.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries(t, s) {
			got = append(got, strings.Clone(e.Key))
			b, err := s.Source().ReadMessage(&e, nil)
			if (err != nil) != (e.Key == "6") || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("message %s: %q, %v", e.Key, b, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("messages %q, want %q", got, want)
		}
		var told []string
		for err := range s.Check() {
			told = append(told, err.Error())
		}
		if len(told) != 2 || !strings.Contains(told[0], name) || !strings.Contains(told[1], "UID 6") {
			t.Errorf("check tells %q", told)
		}
		if err := s.Expunge([]string{gone}); err != nil {
			t.Error(err)
		}
		want = slices.DeleteFunc(want, func(key string) bool { return key == gone })
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if now, _ := os.ReadFile(name); !bytes.Contains(now, []byte("Y-UID: 4\n")) {
			t.Errorf("%s is expunged, and the damaged record has gone with it", gone)
		}
	}
}

// TestOpen_noMailbox: what is no mailbox of ours is not touched.
func TestOpen_noMailbox(t *testing.T) {
	for _, text := range []string{"x", "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\nbody\n\n", strings.Repeat("z", 10_000)} {
		dir := t.TempDir()
		name := filepath.Join(dir, fileName)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(Format, store.Config{Dir: dir}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%.20q: %v", text, err)
		}
		if b, _ := os.ReadFile(name); string(b) != text {
			t.Errorf("%.20q became %.20q", text, b)
		}
	}
}

// TestOpen_shortened: acknowledged messages that are missing are told of.
func TestOpen_shortened(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Config{Dir: dir})
	add(t, s, mail("1"))
	end := s.(*mailbox).end
	add(t, s, mail("2"))
	shut(t, s)
	if err := os.Truncate(filepath.Join(dir, fileName), end); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(Format, store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for err := range s.Check() {
		if n++; !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}
	if got := view(t, s); len(got) != 1 || n != 1 {
		t.Errorf("%q, %d problems", got, n)
	}
	if keys := add(t, s, mail("3")); keys[0] != "3" {
		t.Errorf("key %q was used before", keys[0])
	}
	s.Close()
}

// TestOpen_removesTemps: what a crash left of a writing anew goes.
func TestOpen_removesTemps(t *testing.T) {
	dir := t.TempDir()
	name := fsys.TempName(filepath.Join(dir, fileName))
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, store.Config{Dir: dir})
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestState_withinSector: B3, for records wherever they come to stand.
func TestState_withinSector(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for off := range int64(3 * sector) {
		rec := record{off: off, uid: r.Uint32(), date: r.Int64N(1e11), size: r.Int64N(1e9), now: state{index.Flags(r.IntN(64)), r.Uint32()}}
		rec.width = rec.now.width()
		var w writer
		body := []byte("Subject: x\n\nFrom y")
		want := rec
		if err := w.message(&want, body); err != nil {
			t.Fatal(err)
		}
		from := off + want.state
		if to := from + int64(stateFixed+want.width) - 1; from/sector != to/sector {
			t.Errorf("at %d the state is from %d to %d", off, from, to)
		}
		got := record{off: off}
		if !got.parse(w.b.Bytes()) || got != want || got.end()-off != int64(w.b.Len()) {
			t.Fatalf("at %d: parsed %+v, want %+v in %d bytes", off, got, want, w.b.Len())
		}
		if want.prefix >= maxPrefix || want.prefix >= 1<<prefixBits {
			t.Fatalf("a prefix of %d bytes", want.prefix)
		}
	}
}

// TestState_torn: a state that was written up to any byte is the old or the new.
func TestState_torn(t *testing.T) {
	states := []state{{}, {knownFlags, 0}, {index.FlagSeen, 5}, {index.FlagForwarded | index.FlagDraft, 1 << 31}, {0, 1<<12 - 1}}
	for _, old := range states {
		for _, now := range states {
			a, b := old.append(nil, 7, padding), now.append(nil, 7, padding)
			for n := range len(a) + 1 {
				got, whole := parseState(append(slices.Clone(b[:n]), a[n:]...), 7, padding)
				if got != old && got != now || whole && n > 0 && n < len(a) && !bytes.Equal(b[n:], a[n:]) && !bytes.Equal(a[:n], b[:n]) {
					t.Errorf("%+v over %+v, cut after %d: %+v, %v", now, old, n, got, whole)
				}
			}
			for i := range b {
				for bit := range 8 {
					c := slices.Clone(b)
					c[i] ^= 1 << bit
					if got, whole := parseState(c, 7, padding); got != now || whole {
						t.Errorf("bit %d of byte %d (%q) of %+v: %+v, %v", bit, i, b[i], now, got, whole)
					}
				}
			}
		}
	}
}

func TestSide_flips(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "side")
	s, err := openSide(fsys.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	s.note(3, 4000, 17)
	s.close()
	b, _ := os.ReadFile(name)
	if s := (side{}); !s.parse(b) || s.gen != 3 || s.length != 4000 || s.last != 17 {
		t.Errorf("parsed %+v", s)
	}
	for i := range b {
		c := slices.Clone(b)
		c[i] ^= 0x10
		if s := (side{}); s.parse(c) || s.parse(b[:i]) {
			t.Errorf("byte %d changed, and nobody saw", i)
		}
	}
}

func FuzzParse(f *testing.F) {
	var w writer
	for i, b := range bodies[:12] {
		r := record{off: int64(i * 100), uid: uint32(i + 1), date: int64(i), now: state{index.Flags(i), uint32(i)}, width: padding}
		w.b.Reset()
		if err := w.message(&r, []byte(b)); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(w.b.Bytes()))
	}
	h := head{validity: 1, last: 2, gen: 3, length: headLen}
	f.Add(h.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h := parseHead(b); h.ok && string(h.append(nil)) != string(b) {
			t.Error("a head that nobody wrote")
		}
		new(side).parse(b)
		var r record
		if r.parse(b) {
			if r.prefix > int64(len(b)) || r.state+int64(stateFixed+r.width) != r.prefix || r.end() < r.prefix {
				t.Errorf("record %+v of %d bytes", r, len(b))
			}
		}
		// As a file of its own it is opened, or not, but nothing else happens.
		s := scanner{w: window{f: bytes.NewReader(b), size: int64(len(b))}}
		last := uint32(0)
		end, err := s.records(int64(len(b)/2), true, func(r *record) {
			if r.uid <= last || r.end() > int64(len(b)) {
				t.Errorf("record %+v after UID %d in %d bytes", r, last, len(b))
			}
			last = r.uid
		})
		if err != nil || end > max(headLen, int64(len(b))) {
			t.Errorf("end %d of %d, %v", end, len(b), err)
		}
	})
}

// TestExpunge_nameNotSynced: while the name of a file written anew may not last,
// nothing is acknowledged that would go with it: not by the Store that could not
// sync it, and not by one that finds it.
func TestExpunge_nameNotSynced(t *testing.T) {
	boom := errors.New("boom")
	for _, reopen := range []bool{false, true} {
		dir := t.TempDir()
		log, err := fsys.NewLog(fsys.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		fail := 0
		rec := fsys.Recording(fsys.OS, log)
		cfg := store.Config{Dir: dir, Unlocked: true, FS: fsys.Failing(rec, func(op fsys.Op, _ string, _ int64, _ int) error {
			if op == fsys.OpSyncDir && fail > 0 {
				fail--
				return boom
			}
			return nil
		})}
		s, err := store.Open(Format, cfg)
		if err != nil {
			t.Fatal(err)
		}
		keys := add(t, s, mail("1"), mail("2"))
		fail = 2
		if err := s.Expunge(keys[:1]); !errors.Is(err, boom) {
			t.Fatalf("expunge: %v", err)
		}
		if reopen { // as after a kill: the first is not closed
			fail = 0
			if s, err = store.Open(Format, cfg); err != nil {
				t.Fatal(err)
			}
		} else if _, err := s.Append([]store.Message{mail("no")}); !errors.Is(err, boom) {
			t.Errorf("append: %v", err)
		}
		add(t, s, mail("3"))
		after := t.TempDir()
		if err := log.Replay(after, log.Len(), fsys.Crash{Data: fsys.Lost, Names: fsys.Lost}); err != nil {
			t.Fatal(err)
		}
		got := view(t, open(t, store.Config{Dir: after}))
		if len(got) != 2 || !strings.Contains(got[0], "Subject: 2") || !strings.Contains(got[1], "Subject: 3") {
			t.Errorf("reopen=%v: after the power cut %q", reopen, got)
		}
	}
}
