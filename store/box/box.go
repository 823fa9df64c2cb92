package box

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// ErrClosed reports a call after Close.
var ErrClosed = errors.New("box: closed")

// Fsync says when the disk is waited for.
type Fsync uint8

// The policies.
const (
	Always Fsync = iota // each append waits for its own syncs
	Group               // appends that wait at the same time share theirs
	Never               // nothing waits: acknowledged mail survives the process, not the machine
)

var fsyncNames = [...]string{"always", "group", "never"}

// String gives "always", "group" or "never", as in fsync=NAME.
func (f Fsync) String() string {
	if int(f) < len(fsyncNames) {
		return fsyncNames[f]
	}
	return fmt.Sprintf("fsync(%d)", uint8(f))
}

// ParseFsync is the inverse of String.
func ParseFsync(s string) (Fsync, error) {
	for i, name := range fsyncNames {
		if s == name {
			return Fsync(i), nil
		}
	}
	return 0, fmt.Errorf("box: fsync %q is none of always, group, never", s)
}

// Config is what a Box is opened with.
type Config struct {
	Store      store.Format
	Design     index.Design
	Dir        string   // of the mail; the Box has it for itself
	IndexDir   string   // of the index files; "" = Dir with "-index" behind it
	FS         index.FS // of Dir; nil = the operating system
	IndexFS    index.FS // of IndexDir; nil = FS
	Fsync      Fsync
	Cache      bool // an append also fills the design's cache, see package comment
	Options    index.Options
	StoreExtra map[string]string // store.Config.Extra
	Now        func() time.Time  // nil = time.Now
}

// A Box is one opened mailbox. All methods may be called from any number of
// goroutines.
type Box struct {
	cfg   Config
	store store.Store
	src   index.Source
	namer index.Namer

	gate   sync.Mutex
	closed bool
	calls  sync.WaitGroup // on their way; Close waits for them

	mu   sync.Mutex // of the index: whoever has it is alone with mbox
	mbox index.Mailbox
	seen index.Status // what known is brought in line with

	known   rows
	arrival arrival
	group   group
}

// Open opens the mailbox, makes it if there is none, and brings the index up to
// date with it. O(mailbox): the keys are held in memory, some 100 B a message.
func Open(cfg Config) (*Box, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.IndexFS == nil {
		cfg.IndexFS = cfg.FS
	}
	if cfg.IndexDir == "" {
		cfg.IndexDir = cfg.Dir + "-index"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Fsync > Never {
		return nil, fmt.Errorf("box: unknown policy %v", cfg.Fsync)
	}
	if cfg.Fsync == Never {
		cfg.IndexFS, cfg.Options = fsys.Unsynced(cfg.IndexFS), unsynced(cfg.Design, cfg.Options)
	}
	s, err := openStore(cfg)
	if err != nil {
		return nil, err
	}
	b := &Box{cfg: cfg, store: s, src: s.Source(), arrival: arrival{cache: cfg.Cache}}
	b.namer, _ = b.src.(index.Namer)
	if b.namer == nil {
		return nil, errors.Join(fmt.Errorf("box: store %s cannot name its messages", cfg.Store.Name()), s.Close())
	}
	if err := b.openIndex(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return b, nil
}

func openStore(cfg Config) (store.Store, error) {
	return store.Open(cfg.Store, store.Config{Dir: cfg.Dir, FS: cfg.FS, NoSync: cfg.Fsync == Never, Now: cfg.Now, Extra: cfg.StoreExtra})
}

// unsynced is o for a design that never waits for the disk, by an option of its
// own where it does not use the FS that it is given.
func unsynced(d index.Design, o index.Options) index.Options {
	for _, x := range index.AxesOf(d).Extra {
		if x.Unsynced != "" {
			extra := map[string]string{x.Name: x.Unsynced}
			for name, v := range o.Extra {
				if name != x.Name {
					extra[name] = v
				}
			}
			o.Extra = extra
		}
	}
	return o
}

func (b *Box) openIndex() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.reopen(); err != nil {
		return err
	}
	if err := b.sync(); err != nil {
		return errors.Join(err, b.closeIndex())
	}
	return nil
}

// enter begins a call; leave ends it.
func (b *Box) enter() error {
	b.gate.Lock()
	defer b.gate.Unlock()
	if b.closed {
		return ErrClosed
	}
	b.calls.Add(1)
	return nil
}

func (b *Box) leave() { b.calls.Done() }

// Close waits for the calls that are on their way. Everything acknowledged is
// on disk already. A second Close is ErrClosed.
func (b *Box) Close() error {
	b.gate.Lock()
	was := b.closed
	b.closed = true
	b.gate.Unlock()
	if was {
		return ErrClosed
	}
	b.calls.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.closeIndex(), b.store.Close())
}

// Status is that of the last change that was acknowledged. O(1), never waits
// for the disk.
func (b *Box) Status() index.Status { return b.known.status() }
