package column

import (
	"fmt"
	"path/filepath"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Design is the column design.
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "column" }
func (design) Integrity() index.Integrity { return index.DetectsDamage }

// Axes are what the benchmarks sweep.
func (design) Axes() index.Axes {
	return index.Axes{Fields: []string{"thread", "envelope"}, Answers: []string{"stored", "computed"}, Compacts: true, Open: true, Fetches: true, ModSeqs: true,
		Extra: []index.Extra{extraIO}}
}

var extraIO = index.Extra{Name: "io", Values: []string{"mmap", "pread"}, Help: "files are mapped, or the parts of them that are needed are read"}

// Open opens the index: the header pages of the base, nothing of the cache.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	switch io := extraIO.Value(cfg.Options); io {
	case "mmap":
	case "pread":
		cfg.FS = fsys.Unmapped(cfg.FS)
	default:
		return nil, fmt.Errorf("column: option io: %q is neither mmap nor pread", io)
	}
	base, err := index.OpenBase(cfg.FS, cfg.Dir, index.BaseOptions{UIDList: cfg.Options.UIDList, UIDValidity: cfg.Options.UIDValidity, Now: cfg.Now})
	if err != nil {
		return nil, err
	}
	m := &mailbox{cfg: cfg, fs: cfg.FS, base: base,
		cachePath: filepath.Join(cfg.Dir, CacheFile), tailPath: filepath.Join(cfg.Dir, TailFile), answersPath: filepath.Join(cfg.Dir, AnswersFile)}
	if cfg.Options.Compat == index.CompatDovecot {
		m.compat = mailsort.Dovecot
	}
	m.memo.bound = cfg.Options.CacheBytes
	if m.memo.bound <= 0 {
		m.memo.bound = defaultCacheBytes
	}
	m.memo.least = memoAtLeast
	m.tailRows = tailRows
	return m, nil
}

// Names of the files beside index.BaseFile and index.LogFile.
const (
	CacheFile   = "mailbench.cache"
	AnswersFile = "mailbench.answers"
)

const defaultCacheBytes = 64 << 20

// mailbox is an opened mailbox.
type mailbox struct {
	cfg    index.Config
	fs     index.FS
	base   *index.Base
	compat mailsort.Compat

	cachePath, tailPath, answersPath string

	st              *store // nil: not opened
	view            view   // of st
	tail            *tail  // nil: not read
	tailRows        int    // records from which the tail becomes rows of the cache
	told            []byte // scratch of Cache
	delivering      bool   // Cache makes rows: nobody asks for a column before they are written
	answers         *answersFile
	memo            memo
	pending         chan struct{} // closed when the cache that is being published is on disk
	forget          bool          // the answers file is known to be damaged: to be written anew
	lost, lostCache error         // the last failure to write the answers, the cache: reported by Check

	counts counts

	answer  index.Answer // what Thread returned
	uids    []uint32     // what Sort returned
	order   []int32
	rows    []int32
	col     []uint64
	replies []uint8
	forest  thread.Forest
	threads thread.Scratch
	sorts   mailsort.Scratch
}

// identity is what ties the cache and the answers to an index.
type identity struct {
	id          uint64
	uidValidity uint32
	compat      mailsort.Compat
}

func (m *mailbox) identity(h *index.BaseHeader) identity {
	return identity{h.ID, h.UIDValidity, m.compat}
}

// A set names a set of messages of one index: UIDs and names.
type set struct {
	identity
	uidNext  uint32
	messages int
	hash     index.SetHash
}

func (m *mailbox) set(h *index.BaseHeader) set {
	return set{m.identity(h), h.UIDNext, h.Messages, h.Set}
}

func (m *mailbox) stored() bool { return m.cfg.Options.Answers != "computed" }

func (m *mailbox) Status() index.Status { return m.base.Header().Status }

func (m *mailbox) Messages(fn func(index.Message) bool) error {
	t, err := m.base.Table()
	if err != nil {
		return err
	}
	for i := range t.Len() {
		if !fn(t.Message(i)) {
			return nil
		}
	}
	return nil
}

// Close lets go of maps and memory; everything is on disk already.
func (m *mailbox) Close() error {
	m.drop()
	m.closeAnswers()
	m.tail.close()
	m.tail = nil
	m.memo.close()
	return m.base.Close()
}

// drop forgets the opened cache.
func (m *mailbox) drop() {
	m.wait()
	if m.st != nil {
		m.st.close()
	}
	m.st, m.view = nil, view{}
}
