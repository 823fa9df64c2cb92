package index

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mailbench/internal/fsys"
)

// quick is the operating system's files without waiting for the disk.
var quick FS = noSync{fsys.OS}

type noSync struct{ FS }

type noSyncFile struct{ File }

func (noSyncFile) Sync() error     { return nil }
func (noSyncFile) Datasync() error { return nil }

func (noSync) SyncDir(string) error { return nil }
func (n noSync) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := n.FS.OpenFile(name, flag, perm)
	return noSyncFile{f}, err
}

func testRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func openTestBase(t *testing.T, fsy FS, dir string) *Base {
	t.Helper()
	b, err := OpenBase(fsy, dir, BaseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustSync(t *testing.T, b *Base, src Source) Changes {
	t.Helper()
	c, err := b.Sync(src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// model is what the index must say.
type model struct {
	uids map[string]uint32
	last uint32 // highest UID ever
	msgs map[string]memMsg
}

func snapshot(m *memSource) map[string]memMsg {
	out := make(map[string]memMsg, len(m.msgs))
	for k, v := range m.msgs {
		out[k] = *v
	}
	return out
}

// sync assigns UIDs as the rules say.
func (mo *model) sync(m *memSource) {
	for k := range mo.uids {
		if m.msgs[k] == nil {
			delete(mo.uids, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m.msgs)) {
		if mo.uids[k] == 0 {
			mo.last++
			mo.uids[k] = mo.last
		}
	}
	mo.msgs = snapshot(m)
}

// compare returns what differs between the table and the model.
func (mo *model) compare(b *Base) error {
	t, err := b.Table()
	if err != nil {
		return err
	}
	if t.Len() != len(mo.uids) {
		return fmt.Errorf("%d rows, want %d", t.Len(), len(mo.uids))
	}
	for i := range t.Len() {
		m := t.Message(i)
		want, ok := mo.msgs[m.Key]
		if !ok || mo.uids[m.Key] != m.UID {
			return fmt.Errorf("uid %d has key %q, want uid %d", m.UID, m.Key, mo.uids[m.Key])
		}
		if m.Flags != want.flags || m.Keywords != want.keywords || m.Folder != Folder(want.dir) {
			return fmt.Errorf("uid %d: %v, want %v", m.UID, m, want)
		}
	}
	h := b.Header()
	if h.Messages != len(mo.uids) || h.UIDNext != mo.last+1 {
		return fmt.Errorf("status %+v", h.Status)
	}
	return nil
}

func TestBaseHistory(t *testing.T) {
	r := testRand(t)
	walked, filled := 0, 0
	defer func() {
		if walked == 0 || filled == 0 {
			t.Errorf("%d walks, %d whole listings", walked, filled)
		}
	}()
	for round := range 40 {
		dir := t.TempDir()
		src := newMemSource()
		w := &walker{memSource: src, r: r}
		from := Source(src)
		if round%2 == 1 { // entries for new messages only
			from = w
		}
		mo := &model{uids: map[string]uint32{}}
		b := openTestBase(t, quick, dir)
		defer func() { walked, filled = walked+int(w.seen.Load()), filled+w.fill }()
		var modseq uint64
		flagsAt := map[uint32]string{}
		for step := range 60 {
			what := ""
			for range r.IntN(4) {
				what += src.mutate(r) + " "
			}
			if r.IntN(10) == 0 {
				if err := b.Compact(); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(3) == 0 {
				b.Close()
				b = openTestBase(t, quick, dir)
			}
			src.racy = r.IntN(2) == 0
			c := mustSync(t, b, from)
			mo.sync(src)
			if err := mo.compare(b); err != nil {
				t.Fatalf("step %d (%s): %v", step, what, err)
			}
			for err := range b.Check() {
				t.Fatalf("step %d (%s): %v", step, what, err)
			}
			// I6: MODSEQ rises with each change, and only with a change.
			h := b.Header()
			if changed := c.Rebuilt || c.Added+c.Removed+c.Flagged > 0; changed != (h.HighestModSeq > modseq) {
				t.Fatalf("step %d: changes %+v, highestmodseq %d after %d", step, c, h.HighestModSeq, modseq)
			}
			tab, _ := b.Table()
			got := map[uint32]bool{}
			tab.ChangedSince(modseq, func(row int) { got[tab.UIDs()[row]] = true }, func(uid uint32) {
				if flagsAt[uid] == "" {
					t.Fatalf("vanished %d was not there", uid)
				}
				delete(flagsAt, uid)
			})
			now := map[uint32]string{}
			for i := range tab.Len() {
				m := tab.Message(i)
				now[m.UID] = fmt.Sprint(m.Flags, m.Keywords, ".")
				if (flagsAt[m.UID] != now[m.UID]) != got[m.UID] {
					t.Fatalf("step %d: uid %d: %q to %q, reported %v", step, m.UID, flagsAt[m.UID], now[m.UID], got[m.UID])
				}
				delete(flagsAt, m.UID)
			}
			if len(flagsAt) > 0 {
				t.Fatalf("step %d: not reported as vanished: %v", step, flagsAt)
			}
			flagsAt, modseq = now, h.HighestModSeq
			// Each row has its entry, however the index was brought up to date.
			if err := b.Naming(from); err != nil {
				t.Fatal(err)
			}
			for i := range tab.Len() {
				var e Entry
				if got, _ := b.EntryInto(i, &e, nil); got == nil || got.Key != string(tab.Key(i)) {
					t.Fatalf("step %d: entry of row %d is %+v, want key %q", step, i, got, tab.Key(i))
				}
			}
			if r.IntN(4) == 0 {
				if missing, err := b.Locate(from); err != nil || missing > 0 {
					t.Fatalf("step %d: %d missing, %v", step, missing, err)
				}
				for i := range tab.Len() {
					if got := b.Entry(i); got == nil || got.Key != string(tab.Key(i)) {
						t.Fatalf("step %d: entry of row %d is %+v", step, i, got)
					}
				}
			}
		}
	}
}

func readDir(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func writeDir(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	es, _ := os.ReadDir(dir)
	for _, e := range es {
		os.Remove(filepath.Join(dir, e.Name()))
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// smallIndex is an index with a base, a log of several records and a note.
func smallIndex(t *testing.T, dir string) (*memSource, *model) {
	t.Helper()
	src := newMemSource()
	mo := &model{uids: map[string]uint32{}}
	for i := range 4 {
		src.deliver(fmt.Sprintf("15000000%02d.M1P2.host,S=%d", i, 100+i))
	}
	b := openTestBase(t, quick, dir)
	mustSync(t, b, src)
	mo.sync(src)
	for i := range 3 {
		src.deliver(fmt.Sprintf("16000000%02d.M1P2.host", i))
		mustSync(t, b, src)
		mo.sync(src)
	}
	delete(src.msgs, "1500000001.M1P2.host,S=101")
	delete(src.msgs, "1600000002.M1P2.host") // the highest UID: its number must not come back
	src.tick++
	mustSync(t, b, src)
	mo.sync(src)
	src.msgs["1500000002.M1P2.host,S=102"].flags = FlagSeen
	src.tick++
	mustSync(t, b, src)
	mo.sync(src)
	src.tick++
	mustSync(t, b, src) // a note
	if err := mo.compare(b); err != nil {
		t.Fatal(err)
	}
	return src, mo
}

// Each byte of each file flipped: an error, the same answer, or a rebuild
// under a greater UIDVALIDITY.
func TestBaseByteFlipped(t *testing.T) {
	dir := t.TempDir()
	src, mo := smallIndex(t, dir)
	good := readDir(t, dir)
	before := openTestBase(t, quick, dir).Header()
	errs, rebuilt, same := 0, 0, 0
	step := 5
	if os.Getenv("MAILBENCH_LONG") != "" {
		step = 1
	}
	for name, text := range good {
		for i := rand.IntN(step); i < len(text); i += step {
			bad := maps.Clone(good)
			f := []byte(text)
			f[i] ^= 1 << (i % 8)
			bad[name] = string(f)
			writeDir(t, dir, bad)
			b, err := OpenBase(quick, dir, BaseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// Without a Sync: the old answer or an error.
			if b.Damage() == nil {
				h := b.Header()
				if name == LogFile {
					h.State = before.State // a note may get lost: the next Sync lists again
				}
				if h != before {
					t.Fatalf("%s byte %d: header %+v, want %+v", name, i, h, before)
				}
				if err := mo.compare(b); err == nil {
					same++
					continue
				} else if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s byte %d: %v", name, i, err)
				}
			}
			errs++
			if name == BaseFile && i%16 != 0 {
				continue
			}
			c := mustSync(t, b, src)
			if !c.Rebuilt || b.Header().UIDValidity <= before.UIDValidity {
				t.Fatalf("%s byte %d: %+v %+v", name, i, c, b.Header())
			}
			rebuilt++
			for err := range b.Check() {
				t.Fatal(err)
			}
			fresh := &model{uids: map[string]uint32{}}
			fresh.sync(src)
			if err := fresh.compare(b); err != nil {
				t.Fatalf("%s byte %d, rebuilt: %v", name, i, err)
			}
		}
	}
	t.Logf("%d damaged, %d rebuilt, %d bytes without effect", errs, rebuilt, same)
}

// The log cut at every byte gives the state before the record that was cut.
func TestLogTorn(t *testing.T) {
	dir := t.TempDir()
	src, last := smallIndex(t, dir)
	good := readDir(t, dir)
	uidValidity := openTestBase(t, quick, dir).Header().UIDValidity
	full := openTestBase(t, quick, dir).Header().HighestModSeq
	for n := logHead; n <= len(good[LogFile]); n++ {
		for _, zero := range []bool{false, true} {
			cut := maps.Clone(good)
			cut[LogFile] = good[LogFile][:n]
			if zero {
				cut[LogFile] += string(make([]byte, len(good[LogFile])-n))
				if n%sectorSize != 0 && n != logHead {
					continue // a torn write is whole sectors
				}
			}
			writeDir(t, dir, cut)
			b := openTestBase(t, quick, dir)
			h := b.Header()
			if h.UIDValidity != uidValidity || h.HighestModSeq > full {
				t.Fatalf("cut at %d: %+v", n, h)
			}
			tab, err := b.Table()
			if err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
			if tab.Len() != h.Messages || tab.HighestModSeq != h.HighestModSeq {
				t.Fatalf("cut at %d: %d rows, %+v", n, tab.Len(), h)
			}
			c := mustSync(t, b, src)
			if c.Rebuilt {
				t.Fatalf("cut at %d: rebuilt", n)
			}
			for err := range b.Check() {
				t.Fatalf("cut at %d: %v", n, err)
			}
			if b.Header().Messages != len(last.uids) {
				t.Fatalf("cut at %d: %d messages", n, b.Header().Messages)
			}
		}
	}
}

// A crash at every call of a history: what is opened afterwards is the state
// before or after the interrupted Sync, and a Sync brings it up to date.
func TestBaseCrash(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	root := t.TempDir()
	log, err := fsys.NewLog(fsys.OS, root)
	if err != nil {
		t.Fatal(err)
	}
	rec := fsys.Recording(fsys.OS, log)
	src := newMemSource()
	mo := &model{uids: map[string]uint32{}}
	type state struct {
		at  int // events so far
		mo  model
		src map[string]memMsg
	}
	var states []state
	note := func() {
		states = append(states, state{log.Len(), model{uids: maps.Clone(mo.uids), last: mo.last, msgs: snapshot(src)}, snapshot(src)})
	}
	note()
	b := openTestBase(t, rec, root)
	for i := range 14 {
		for range 1 + r.IntN(3) {
			src.mutate(r)
		}
		mustSync(t, b, src)
		mo.sync(src)
		note()
		if i%3 == 1 {
			src.tick++
			mustSync(t, b, src)
			note()
		}
		if i%5 == 4 {
			if err := b.Compact(); err != nil {
				t.Fatal(err)
			}
			note()
		}
	}
	dir := filepath.Join(t.TempDir(), "crashed")
	tried := 0
	for k := 1; k < len(states); k++ {
		for n := states[k-1].at; n <= states[k].at; n++ {
			for _, crash := range fsys.Crashes(uint64(n)) {
				os.RemoveAll(dir)
				if err := log.Replay(dir, n, crash); err != nil {
					t.Fatal(err)
				}
				tried++
				b, err := OpenBase(quick, dir, BaseOptions{Now: func() time.Time { return time.Unix(1, 0) }})
				if err != nil {
					t.Fatalf("event %d, %+v: %v", n, crash, err)
				}
				if b.Damage() != nil {
					t.Fatalf("event %d, %+v: %v", n, crash, b.Damage())
				}
				old, now := states[k-1].mo, states[k].mo
				err1, err2 := old.compare(b), now.compare(b)
				if !b.exists {
					// Before the first Sync has ended there is nothing.
					if k > 1 {
						t.Fatalf("event %d, %+v: no index", n, crash)
					}
				} else if err1 != nil && err2 != nil {
					t.Fatalf("event %d, %+v: neither old (%v) nor new (%v)", n, crash, err1, err2)
				}
				s := newMemSource()
				s.tick = 1 << 40
				for k, v := range states[k].src {
					s.msgs[k] = &v
				}
				c := mustSync(t, b, s)
				if c.Rebuilt && k > 1 {
					t.Fatalf("event %d, %+v: rebuilt", n, crash)
				}
				if err := now.compare(b); err != nil {
					t.Fatalf("event %d, %+v, after a sync: %v", n, crash, err)
				}
				for err := range b.Check() {
					t.Fatalf("event %d, %+v: %v", n, crash, err)
				}
			}
		}
	}
	t.Logf("%d crashes", tried)
}

// Every failing call leaves the old state readable, and a later Sync completes.
func TestBaseFailing(t *testing.T) {
	boom := errors.New("no space left")
	for _, short := range []int{0, 1, 100} {
		for at := 0; ; at++ {
			dir := t.TempDir()
			src, mo := smallIndex(t, dir)
			calls, failed := 0, false
			fail := true
			fsy := fsys.Failing(quick, func(op fsys.Op, name string, off int64, n int) error {
				if !op.Changes() || !fail {
					return nil
				}
				calls++
				if calls <= at {
					return nil
				}
				failed = true
				if op == fsys.OpWrite && n > short {
					return &fsys.ShortWrite{N: short, Err: boom}
				}
				return boom
			})
			b := openTestBase(t, fsy, dir)
			old := *mo
			old.uids = maps.Clone(mo.uids)
			src.deliver("1700000000.new")
			_, err := b.Sync(src)
			if err == nil {
				err = b.Compact()
				mo.sync(src)
				old = *mo
			} else {
				mo.sync(src)
			}
			if !failed {
				break
			}
			if err != nil && !errors.Is(err, boom) {
				t.Fatalf("call %d: %v", at, err)
			}
			// Another process, or the next query, sees the old or new state.
			b2 := openTestBase(t, quick, dir)
			if err1, err2 := old.compare(b2), mo.compare(b2); err1 != nil && err2 != nil {
				t.Fatalf("call %d: neither old (%v) nor new (%v)", at, err1, err2)
			}
			fail = false
			mustSync(t, b, src)
			if err := mo.compare(b); err != nil {
				t.Fatalf("call %d: %v", at, err)
			}
			for err := range b.Check() {
				t.Fatal(err)
			}
		}
	}
}

func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	src, mo := smallIndex(t, dir)
	a, b := openTestBase(t, quick, dir), openTestBase(t, quick, dir)
	for i := range 20 {
		src.deliver(fmt.Sprintf("17000000%02d.x", i))
		mo.sync(src)
		one := a
		if i%2 == 1 {
			one = b
		}
		mustSync(t, one, src)
		if i%7 == 6 {
			if err := one.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		if err := mo.compare(one); err != nil {
			t.Fatal(err)
		}
	}
}

// A name that is missing in one listing only is not expunged.
func TestHiddenName(t *testing.T) {
	dir := t.TempDir()
	src, mo := smallIndex(t, dir)
	b := openTestBase(t, quick, dir)
	hide := 1
	src.tick++
	src.msgs["1500000000.M1P2.host,S=100"].flags = FlagFlagged
	mo.sync(src)
	src.onList = func(l *Listing) {
		if hide > 0 {
			hide--
			src.tick++ // another process renames while we read
			l.Entries = l.Entries[1:]
			l.Digest.Sum[0]++
		}
	}
	if c := mustSync(t, b, src); c.Removed != 0 {
		t.Fatalf("%+v", c)
	}
	if err := mo.compare(b); err != nil {
		t.Fatal(err)
	}
	// The same name under two flag sets counts once.
	src.onList = func(l *Listing) {
		e := l.Entries[0]
		e.Flags ^= FlagAnswered
		l.Entries = append(l.Entries, e)
		l.Digest.Sum[0]++
	}
	src.tick++
	if c := mustSync(t, b, src); c.Removed+c.Added != 0 {
		t.Fatalf("%+v", c)
	}
}
