// Package storetest is the kit that every mail store passes: the invariants S1
// to S5 of package store, held against a plain model.
//
//	func TestStore(t *testing.T) { storetest.Run(t, Format) }
//
// # Parts
//
//	History     random appends (one and many), flags, expunges, purges and openings
//	Indexed     an index kept in step through the Source is like one made anew
//	Crashed     every event replayed as a crash: what was acknowledged is there
//	Crowd       the same with several callers at the same time
//	Unsynced    the same with NoSync: a killed process loses nothing, and a power
//	            cut does, which shows that Crashed can fail
//	Torn        what the last append wrote cut at every byte, or 400 of them but with MAILBENCH_LONG=1
//	Flipped     bytes of every file changed: a clear error, or right, or counted
//	Full        each changing call fails once, and from there on
//	Clients     20 goroutines append, and one reads (for the race detector)
//
// A part that needs the file layer is passed over for stores whose engine does
// its own input and output (Options.OwnIO).
package storetest

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mailbench/internal/fsys"
	"mailbench/internal/tempdir"
	"mailbench/store"
)

// Options say what is different about a store.
type Options struct {
	// Config makes the configuration of a new mailbox in dir; nil: Dir and the
	// default Extra. Called once for each mailbox; another opening of it uses the
	// same Config.
	Config func(t testing.TB, dir string) store.Config
	// OwnIO: an engine opens the files itself, Config.FS sees none of its calls.
	OwnIO bool
	// TrustsDisk: a changed byte of mail may be read back without a word. How
	// often is logged.
	TrustsDisk bool
	// LosesFlags: a damaged list is made again from the mail, with the flags of
	// the append, and expunged messages whose bytes are still there.
	LosesFlags bool
	// Behind are files that tell what has been synced, and are written after it: a
	// torn append never finds its own bytes told of there.
	Behind []string
	// TextOnly: every message ends its last line and has one.
	TextOnly bool
	// Short: fewer rounds, for stores that take milliseconds for each change.
	Short bool
}

var seedFlag = flag.Uint64("seed", 0, "replay a failure of the store kit (0: a fresh seed)")

// Run runs every part.
func Run(t *testing.T, f store.Format) { RunWith(t, f, Options{}) }

// RunWith runs every part that o allows.
func RunWith(t *testing.T, f store.Format, o Options) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", seed)
	k := &kit{f: f, o: o, seed: seed, base: memory(t)}
	for _, p := range []struct {
		name    string
		needsFS bool
		run     func(*testing.T, *kit)
	}{
		{"History", false, history},
		{"Indexed", false, indexed},
		{"Crashed", true, crashed},
		{"Crowd", true, crowd},
		{"Unsynced", true, unsynced},
		{"Torn", true, torn},
		{"Flipped", true, flipped},
		{"Full", true, full},
		{"Clients", false, clients},
	} {
		if p.needsFS && o.OwnIO {
			continue
		}
		t.Run(p.name, func(t *testing.T) { p.run(t, k) })
	}
}

// quick is a file system that does not wait for the disk: what is tested is what
// would last, not whether it does.
var quick = fsys.Unsynced(fsys.OS)

type kit struct {
	f    store.Format
	o    Options
	seed uint64
	base string
}

func (k *kit) rand(part uint64) *rand.Rand { return rand.New(rand.NewPCG(k.seed, part)) }

// memory is where mailboxes are made. Nothing here asks whether the disk keeps
// its promises, and a file system in memory makes thousands of mailboxes in
// seconds; "" where there is none.
func memory(t testing.TB) string {
	const shm = "/dev/shm"
	if _, set := os.LookupEnv("TMPDIR"); set {
		return ""
	}
	if _, err := os.Stat(shm); err != nil {
		return ""
	}
	dir, err := tempdir.Make(shm, "mailbench-storetest-")
	if err != nil {
		return ""
	}
	t.Cleanup(func() { dir.Remove() })
	return dir.Path
}

// temp is a new directory for a part.
func (k *kit) temp(t testing.TB) string {
	t.Helper()
	if k.base == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(k.base, "part")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// config is that of a new mailbox below a directory of its own.
func (k *kit) config(t testing.TB) store.Config {
	return k.configIn(t, filepath.Join(k.temp(t), "mail"))
}

func (k *kit) configIn(t testing.TB, dir string) store.Config {
	cfg := store.Config{Dir: dir}
	if k.o.Config != nil {
		cfg = k.o.Config(t, dir)
	}
	if cfg.FS == nil {
		cfg.FS = quick
	}
	return cfg
}

// at is cfg for another directory.
func at(cfg store.Config, dir string, fsy fsys.FS) store.Config {
	cfg.Dir, cfg.FS = dir, fsy
	cfg.Extra = maps.Clone(cfg.Extra)
	return cfg
}

func (k *kit) open(t testing.TB, cfg store.Config) store.Store {
	t.Helper()
	s, err := store.Open(k.f, cfg)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func mustClose(t testing.TB, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func mustCheck(t testing.TB, s store.Store) {
	t.Helper()
	for err := range s.Check() {
		t.Errorf("check: %v", err)
	}
	if t.Failed() {
		t.FailNow()
	}
}
