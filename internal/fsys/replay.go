package fsys

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The model of a disk that Replay holds against a recording:
//
// A file is a body of bytes with a list of writes, truncations and set times that no
// fsync has covered yet; a directory is a set of names with a list of creates,
// renames and removes that no SyncDir of a directory concerned has covered
// yet. Covered changes survive. What is not covered survives as the Crash says,
// each change on its own: the model is harsher than a file system that keeps
// its journal in order, and as harsh as POSIX allows, with two exceptions.
// Directories that were made, renamed or removed stay so, and bytes never mix
// within a 4 KiB page except in a torn write.

// A Fate is what a crash does to changes that nothing has made to last.
type Fate uint8

const (
	Kept  Fate = iota // all reached the disk, as when only the process dies
	Lost              // none reached the disk
	Mixed             // each by a coin; of a write each 4 KiB page
)

func (f Fate) String() string {
	switch f {
	case Kept:
		return "kept"
	case Lost:
		return "lost"
	case Mixed:
		return "mixed"
	}
	return fmt.Sprintf("fate(%d)", uint8(f))
}

// A Crash says what is found afterwards. The zero Crash is the death of the
// process alone.
type Crash struct {
	Data  Fate // writes and truncations since the file's last Sync
	Names Fate // creates, renames, removes since the last SyncDir
	Torn  bool // the last write, if not synced, is cut inside, whatever Data says
	Seed  uint64
}

func (c Crash) String() string {
	return fmt.Sprintf("data=%v names=%v torn=%v seed=%d", c.Data, c.Names, c.Torn, c.Seed)
}

// Crashes lists the kinds of crash that a test should try after each event:
// every pair of plain fates, a torn last write, and mixed draws from seed.
func Crashes(seed uint64) []Crash {
	return []Crash{
		{}, {Torn: true, Seed: seed},
		{Data: Lost}, {Names: Lost}, {Data: Lost, Names: Lost},
		{Data: Mixed, Names: Kept, Seed: seed}, {Data: Kept, Names: Mixed, Seed: seed + 1},
		{Data: Mixed, Names: Mixed, Seed: seed + 2}, {Data: Mixed, Names: Mixed, Torn: true, Seed: seed + 3},
	}
}

type body struct {
	lasting  []byte
	pending  []*Event
	modified int64 // what an OpChtimes has set, unix nanoseconds
	dated    bool
}

func (b *body) apply(e *Event, data []byte) {
	if e.Op == OpChtimes {
		b.modified, b.dated = e.Off, true
		return
	}
	b.dated = false
	if e.Op == OpTruncate {
		b.lasting = resize(b.lasting, e.Off)
		return
	}
	if end := e.Off + int64(len(data)); end > int64(len(b.lasting)) {
		b.lasting = resize(b.lasting, end)
	}
	copy(b.lasting[e.Off:], data)
}

func (b *body) sync() {
	for _, e := range b.pending {
		b.apply(e, e.Data)
	}
	b.pending = b.pending[:0]
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size] // capped: growing again must find zeros, not the old bytes
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

type nameChange struct {
	e *Event
	b *body
}

func parent(name string) string {
	if d := path.Dir(name); d != "." {
		return d
	}
	return ""
}

func (n nameChange) apply(names map[string]*body) {
	switch n.e.Op {
	case OpOpen:
		names[n.e.Name] = n.b
	case OpRename:
		if names[n.e.Name] == n.b {
			delete(names, n.e.Name)
		}
		names[n.e.To] = n.b
	case OpRemove:
		delete(names, n.e.Name)
	}
}

// disk is the model at one moment.
type disk struct {
	now, lasting map[string]*body // names as programs see them; names that survive
	pending      []nameChange
	dirs         map[string]bool
	handles      map[int]*body
	last         *Event // the last change of bytes
}

func (d *disk) step(e *Event) {
	switch e.Op {
	case OpOpen:
		if e.Create {
			b := &body{}
			d.now[e.Name] = b
			d.pending = append(d.pending, nameChange{e, b})
		}
		if d.now[e.Name] == nil { // came to be behind the recorder's back
			b := &body{}
			d.now[e.Name], d.lasting[e.Name] = b, b
		}
		d.handles[e.Handle] = d.now[e.Name]
	case OpWrite, OpTruncate, OpChtimes:
		b := d.handles[e.Handle]
		b.pending = append(b.pending, e)
		if e.Op != OpChtimes {
			d.last = e
		}
	case OpSync:
		d.handles[e.Handle].sync()
	case OpMkdir:
		for dir := e.Name; dir != ""; dir = parent(dir) {
			d.dirs[dir] = true
		}
	case OpRename:
		if d.dirs[e.Name] {
			d.renameDir(e.Name, e.To)
			return
		}
		n := nameChange{e, d.now[e.Name]}
		n.apply(d.now)
		d.pending = append(d.pending, n)
	case OpRemove:
		if d.dirs[e.Name] {
			delete(d.dirs, e.Name)
			return
		}
		n := nameChange{e, nil}
		n.apply(d.now)
		d.pending = append(d.pending, n)
	case OpSyncDir:
		d.syncDir(e.Name)
	}
}

// syncDir makes the changes that concern dir last, and with a rename between
// two directories all that came before it in either: applied later, they would
// undo it.
func (d *disk) syncDir(dir string) {
	dirs := map[string]bool{dir: true}
	lasts := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		n := d.pending[i]
		from, to := parent(n.e.Name), parent(n.e.To)
		if n.e.Op != OpRename {
			to = from
		}
		if lasts[i] = dirs[from] || dirs[to]; lasts[i] {
			dirs[from], dirs[to] = true, true
		}
	}
	rest := d.pending[:0]
	for i, n := range d.pending {
		if lasts[i] {
			n.apply(d.lasting)
		} else {
			rest = append(rest, n)
		}
	}
	d.pending = rest
}

func (d *disk) renameDir(from, to string) {
	for _, n := range d.pending {
		n.apply(d.lasting)
	}
	d.pending = nil
	for _, names := range []map[string]*body{d.now, d.lasting} {
		for name, b := range names {
			if rest, ok := strings.CutPrefix(name, from+"/"); ok {
				delete(names, name)
				names[to+"/"+rest] = b
			}
		}
	}
	for dir := range d.dirs {
		if rest, ok := strings.CutPrefix(dir+"/", from+"/"); ok {
			delete(d.dirs, dir)
			d.dirs[strings.TrimSuffix(to+"/"+rest, "/")] = true
		}
	}
}

// crash settles what was pending.
func (d *disk) crash(c Crash) {
	r := rand.New(rand.NewPCG(c.Seed, 0x5bd1e995))
	survives := func(f Fate) bool { return f == Kept || f == Mixed && r.IntN(2) == 0 }
	for _, n := range d.pending {
		if survives(c.Names) {
			n.apply(d.lasting)
		}
	}
	done := map[*body]bool{}
	for _, name := range sortedKeys(d.lasting) { // sorted: the draws must not depend on map order
		b := d.lasting[name]
		if done[b] {
			continue
		}
		done[b] = true
		for _, e := range b.pending {
			switch {
			case c.Torn && e == d.last && e.Op == OpWrite:
				b.apply(e, e.Data[:r.IntN(len(e.Data))])
			case c.Data == Mixed && e.Op == OpWrite:
				b.applyPages(e, r)
			case survives(c.Data):
				b.apply(e, e.Data)
			}
		}
		b.pending = nil
	}
}

func (b *body) applyPages(e *Event, r *rand.Rand) {
	const page = 4096
	for from := 0; from < len(e.Data); {
		to := min(len(e.Data), from+page-int((e.Off+int64(from))%page))
		if r.IntN(2) == 0 {
			part := Event{Op: OpWrite, Off: e.Off + int64(from)}
			b.apply(&part, e.Data[from:to])
		}
		from = to
	}
}

// Replay writes into dir, which is made if need be and should be empty, what
// the log's root would hold if the machine stopped after the first n events in
// the way of c. The same arguments give the same bytes. It uses package os.
func (l *Log) Replay(dir string, n int, c Crash) error {
	events := l.Events()
	if n < 0 || n > len(events) {
		return fmt.Errorf("fsys: replay of %d events, the log has %d", n, len(events))
	}
	d := &disk{now: map[string]*body{}, lasting: map[string]*body{}, dirs: map[string]bool{}, handles: map[int]*body{}}
	for name, data := range l.files {
		b := &body{lasting: data[:len(data):len(data)]}
		d.now[name], d.lasting[name] = b, b
	}
	for _, name := range l.dirs {
		d.dirs[name] = true
	}
	owned := map[*body]bool{}
	for i := range n {
		e := &events[i]
		d.step(e)
		if b := d.handles[e.Handle]; e.Op == OpOpen && b != nil && !owned[b] {
			owned[b] = true
			b.lasting = append([]byte(nil), b.lasting...) // the log's copy stays as it is
		}
	}
	d.crash(c)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range sortedKeys(d.dirs) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o700); err != nil {
			return err
		}
	}
	for name, b := range d.lasting {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if parent(name) != "" && !d.dirs[parent(name)] {
			continue // its directory was removed
		}
		if err := os.WriteFile(file, b.lasting, 0o600); err != nil {
			return err
		}
		if !b.dated {
			continue
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(0, b.modified)); err != nil {
			return err
		}
	}
	return nil
}
