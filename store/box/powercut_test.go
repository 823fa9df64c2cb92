package box

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// long reports whether the tests may take minutes.
func long() bool { return os.Getenv("MAILBENCH_LONG") != "" }

var quick = fsys.Unsynced(fsys.OS)

// A deed is what a client did to one of its messages: begun when the recording
// had from events, acknowledged when it had to.
type deed struct {
	kind     byte // 'A'ppend, 'F'lags, 'E'xpunge
	mail     int  // the client's own number of the message: its serial
	uid      uint32
	flags    index.Flags
	keywords uint32
	from, to int
}

// A history is all deeds of all clients; those on one message are in order.
type history struct {
	mu       sync.Mutex
	deeds    []deed
	validity uint32
	top      uint32 // the highest UID that is known to have been given
}

func (h *history) add(d deed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deeds = append(h.deeds, d)
}

// A witness is told of each deed before it is begun and when it is
// acknowledged.
type witness interface {
	begin(d *deed)
	done(d *deed)
}

// camera is the witness of a recording.
type camera struct {
	*history
	log *fsys.Log
}

func (c camera) begin(d *deed) { d.from = c.log.Len() }
func (c camera) done(d *deed)  { d.to = c.log.Len(); c.add(*d) }

// work is a client that tells w what it does. Its messages have serials from
// serial on.
func work(b *Box, w witness, seed uint64, serial, ops int) error {
	r := rand.New(rand.NewPCG(seed, 0xdeed))
	type mail struct {
		serial int
		uid    uint32
	}
	var mine []mail
	for i := range ops {
		d := deed{flags: index.Flags(r.IntN(64)), keywords: r.Uint32N(8)}
		var err error
		p := r.IntN(100)
		at := 0
		if len(mine) > 0 {
			at = r.IntN(len(mine))
		}
		switch {
		case len(mine) == 0 || p < 60:
			d.kind, d.mail = 'A', serial+i
			w.begin(&d)
			d.uid, err = b.Append(store.Message{Body: letter(d.mail), Flags: d.flags, Keywords: d.keywords, Date: 1_600_000_000 + int64(d.mail)})
			mine = append(mine, mail{d.mail, d.uid})
		case p < 85:
			d.kind, d.mail, d.uid = 'F', mine[at].serial, mine[at].uid
			w.begin(&d)
			err = b.SetFlags([]uint32{d.uid}, func(uint32, index.Flags, uint32) (index.Flags, uint32) { return d.flags, d.keywords })
		default:
			d.kind, d.mail, d.uid = 'E', mine[at].serial, mine[at].uid
			w.begin(&d)
			err = b.Expunge([]uint32{d.uid})
			mine = slices.Delete(mine, at, at+1)
		}
		if err != nil {
			return err
		}
		w.done(&d)
	}
	return nil
}

// A letterbox is what may be found of one message.
type letterbox struct {
	uid    uint32
	acked  bool // an append of it was acknowledged
	gone   bool // an expunge of it was acknowledged
	dying  bool // an expunge was begun
	states []state
}

type state struct {
	flags    index.Flags
	keywords uint32
}

// expect is what may be found when the machine stopped after n events.
func (h *history) expect(n int) map[int]*letterbox {
	out := map[int]*letterbox{}
	for _, d := range h.deeds {
		if d.from > n || d.from == n && d.to > n {
			continue
		}
		l := out[d.mail]
		if l == nil {
			l = &letterbox{}
			out[d.mail] = l
		}
		acked := d.to <= n
		switch d.kind {
		case 'A':
			l.uid, l.acked, l.states = d.uid, acked, []state{{d.flags, d.keywords}}
		case 'F':
			if acked {
				l.states = nil
			}
			l.states = append(l.states, state{d.flags, d.keywords})
		case 'E':
			l.gone, l.dying = acked, true
		}
	}
	return out
}

// survey holds what is found against what may be found. lost counts the
// acknowledged messages that are not there; wrong is everything else.
func (h *history) survey(b *Box, n int) (lost int, wrong []string) {
	want := h.expect(n)
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	anyAcked, last, top := h.top > 0, uint32(0), h.top
	for _, l := range want {
		if l.acked {
			anyAcked, top = true, max(top, l.uid)
		}
	}
	st := b.Status()
	if anyAcked && st.UIDValidity != h.validity {
		bad("uidvalidity %d, it was %d: the index was built anew", st.UIDValidity, h.validity)
	}
	if st.UIDNext <= top {
		bad("uidnext %d, but uid %d was given", st.UIDNext, top)
	}
	found := map[int]bool{}
	err := b.Query(func(m index.Mailbox) error {
		return m.Messages(func(msg index.Message) bool {
			if msg.UID <= last {
				bad("uid %d after %d", msg.UID, last)
			}
			last = msg.UID
			body, err := b.Read(msg.UID, nil)
			if err != nil {
				bad("uid %d: %v", msg.UID, err)
				return true
			}
			serial := serialOf(body)
			l := want[serial]
			switch {
			case serial < 0:
				bad("uid %d: torn, %d bytes: %.60q", msg.UID, len(body), body)
			case found[serial]:
				bad("uid %d: message %d is there twice", msg.UID, serial)
			case l == nil:
				bad("uid %d: message %d, which nobody had begun to append", msg.UID, serial)
			case l.gone:
				bad("uid %d: message %d was expunged", msg.UID, serial)
			case l.acked && l.uid != msg.UID:
				bad("message %d has uid %d, it was acknowledged as %d", serial, msg.UID, l.uid)
			case !l.acked && msg.UID <= top && l.uid != msg.UID:
				for _, o := range want {
					if o.acked && o.uid == msg.UID {
						bad("uid %d is message %d, it was acknowledged as another", msg.UID, serial)
					}
				}
			case !slices.Contains(l.states, state{msg.Flags, msg.Keywords}):
				bad("uid %d: flags %v %d, may be %v", msg.UID, msg.Flags, msg.Keywords, l.states)
			}
			found[serial] = true
			return true
		})
	})
	if err != nil {
		bad("%v", err)
	}
	for serial, l := range want {
		if l.acked && !l.dying && !found[serial] {
			lost++
		}
	}
	return lost, wrong
}

// filmed is a mailbox at which clients worked, and the recording.
type filmed struct {
	history
	f    store.Format
	d    index.Design
	root string
	log  *fsys.Log
}

func film(t *testing.T, f store.Format, d index.Design, p Fsync, clients, ops int) *filmed {
	t.Helper()
	v := &filmed{f: f, d: d, root: filepath.Join(t.TempDir(), "root")}
	if err := os.MkdirAll(v.root, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if v.log, err = fsys.NewLog(quick, v.root); err != nil {
		t.Fatal(err)
	}
	b, err := Open(v.config(v.root, fsys.Recording(quick, v.log), p))
	if err != nil {
		t.Fatal(err)
	}
	v.validity = b.Status().UIDValidity
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			if err := work(b, camera{&v.history, v.log}, uint64(i), 1000*i, ops); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	return v
}

func (v *filmed) config(root string, fsy index.FS, p Fsync) Config {
	return Config{Store: v.f, Design: v.d, Dir: filepath.Join(root, "mail"), IndexDir: filepath.Join(root, "index"), FS: fsy, Fsync: p, Cache: true,
		StoreExtra: map[string]string{"rotate": "65536"}}
}

// cut stops the machine after n events and looks at what is found.
func (v *filmed) cut(t *testing.T, n int, c fsys.Crash) (lost int, wrong []string) {
	t.Helper()
	root, err := os.MkdirTemp(filepath.Dir(v.root), "cut")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	if err := v.log.Replay(root, n, c); err != nil {
		t.Fatal(err)
	}
	b, err := Open(v.config(root, quick, Always))
	if err != nil {
		return 0, []string{err.Error()}
	}
	defer b.Close()
	lost, wrong = v.survey(b, n)
	next := b.Status().UIDNext
	if uid, err := b.Append(store.Message{Body: letter(999_999)}); err != nil || uid < next {
		wrong = append(wrong, fmt.Sprintf("an append afterwards: uid %d, uidnext was %d: %v", uid, next, err))
	}
	if got, want, err := answersOf(t, b); err != nil || got != want {
		wrong = append(wrong, fmt.Sprintf("answers %s, want %s: %v", got, want, err))
	}
	for err := range b.Check() { // now, not before: a design may leave a crash's mark until it next writes
		if v.d.Integrity() == index.TrustsDisk && errors.Is(err, index.ErrCorrupt) {
			continue // in a cache that it does not wait for; it has answered right
		}
		wrong = append(wrong, err.Error())
	}
	return lost, wrong
}

// cuts are the events after which the machine stops, and how.
func (v *filmed) cuts(most int) (points []int, crashes []fsys.Crash) {
	add := func(n int, c fsys.Crash) { points, crashes = append(points, n), append(crashes, c) }
	for i, d := range v.deeds { // right after each acknowledgement, when all that no sync has covered goes
		add(d.to, fsys.Crash{Data: fsys.Lost, Names: fsys.Lost})
		add(d.to, fsys.Crash{Data: fsys.Mixed, Names: fsys.Mixed, Torn: true, Seed: uint64(i)})
	}
	r := rand.New(rand.NewPCG(uint64(v.log.Len()), 1))
	for range len(v.deeds) {
		n := r.IntN(v.log.Len() + 1)
		all := fsys.Crashes(uint64(n))
		add(n, all[r.IntN(len(all))])
	}
	r.Shuffle(len(points), func(i, j int) {
		points[i], points[j], crashes[i], crashes[j] = points[j], points[i], crashes[j], crashes[i]
	})
	if most > 0 && len(points) > most {
		points, crashes = points[:most], crashes[:most]
	}
	end := v.log.Len()
	add(end, fsys.Crash{Data: fsys.Lost, Names: fsys.Lost})
	return points, crashes
}

// A pair is a store and a design.
type pair struct {
	f store.Format
	d index.Design
}

func (p pair) String() string { return p.f.Name() + "+" + p.d.Name() }

// pairs are those that can be recorded: an engine's own input and output cannot
// be. Short: every store with the first design, and every design with one store.
func pairs() (out []pair) {
	for _, f := range everyFormat() {
		for _, d := range everyDesign {
			if f.Name() == "sql" || index.AxesOf(d).OwnIO {
				continue
			}
			if long() || d.Name() == everyDesign[0].Name() || f.Name() == "spool" {
				out = append(out, pair{f, d})
			}
		}
	}
	return out
}

// TestPowerCut_losesNothing: what was acknowledged with fsync=always or group
// is there after the machine stopped at any moment, byte for byte, with its
// UID and its flags.
func TestPowerCut_losesNothing(t *testing.T) {
	for _, x := range pairs() {
		for _, p := range []Fsync{Always, Group} {
			t.Run(x.String()+"/"+p.String(), func(t *testing.T) {
				most, ops := 12, 10
				switch {
				case long():
					most, ops = 150, 15
				case testing.Short():
					most, ops = 3, 6
				}
				v := film(t, x.f, x.d, p, 4, ops)
				points, crashes := v.cuts(most)
				for i, n := range points {
					if lost, wrong := v.cut(t, n, crashes[i]); lost > 0 || len(wrong) > 0 {
						t.Fatalf("event %d of %d, %v: %d acknowledged messages lost; %v", n, v.log.Len(), crashes[i], lost, wrong)
					}
				}
			})
		}
	}
}

// TestPowerCut_neverLoses: the same test does find losses where there must be
// some. With fsync=never a power cut takes acknowledged mail; the death of the
// process alone takes none.
func TestPowerCut_neverLoses(t *testing.T) {
	for _, x := range pairs() {
		t.Run(x.String(), func(t *testing.T) {
			v := film(t, x.f, x.d, Never, 4, 10)
			n := v.log.Len()
			for _, e := range v.log.Events() {
				if e.Op == fsys.OpSync || e.Op == fsys.OpSyncDir {
					t.Fatalf("fsync=never waits for the disk: %v of %s", e.Op, e.Name)
				}
			}
			if lost, wrong := v.cut(t, n, fsys.Crash{}); lost > 0 || len(wrong) > 0 {
				t.Errorf("killed: %d acknowledged messages lost; %v", lost, wrong)
			}
			if lost, _ := v.cut(t, n, fsys.Crash{Data: fsys.Lost, Names: fsys.Lost}); lost == 0 {
				t.Error("power cut: nothing is lost; either something does sync or this test sees nothing")
			}
		})
	}
}

// TestPowerCut_cacheLasts: what an acknowledged append told the cache is on
// disk, too: nothing of the mail is read for THREAD and SORT afterwards.
func TestPowerCut_cacheLasts(t *testing.T) {
	cachers := 0
	for _, d := range everyDesign {
		if index.AxesOf(d).OwnIO {
			continue
		}
		f := &memory{spool: true}
		v := film(t, f, d, Always, 1, 12)
		for i, done := range v.deeds {
			root := filepath.Join(t.TempDir(), "cut")
			if err := v.log.Replay(root, done.to, fsys.Crash{Data: fsys.Lost, Names: fsys.Lost}); err != nil {
				t.Fatal(err)
			}
			b, err := Open(v.config(root, quick, Always))
			if err != nil {
				t.Fatal(err)
			}
			cacher, before := false, f.reads.Load()
			err = b.Query(func(m index.Mailbox) error {
				_, cacher = m.(index.Cacher)
				_, err := answers(m)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if reads := f.reads.Load() - before; cacher && reads > 0 {
				t.Errorf("%s: %d mails are read after a power cut behind deed %d of %d", d.Name(), reads, i, len(v.deeds))
			}
			if cacher {
				cachers++
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cachers == 0 {
		t.Error("no design is an index.Cacher")
	}
}
