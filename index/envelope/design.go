package envelope

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Names of the files; cache and names have the generation behind.
const (
	IndexFile   = "envelope.index"
	JournalFile = "envelope.journal"
	CachePrefix = "envelope.cache."
	NamesPrefix = "envelope.names."
	DamagedFile = "envelope.index.damaged" // an index that could not be read
)

// Design is the design, named "envelope".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "envelope" }
func (design) Integrity() index.Integrity { return index.DetectsDamage }

var (
	extraRead = index.Extra{Name: "read", Values: []string{"message", "header"},
		Help: "what is read of a new message: all of it, for its digest, lines and size, or the header where the name tells the size"}
	extraHeaders = index.Extra{Name: "headers", Values: []string{"list", "most"},
		Help: "header fields cached beside the envelope: those of lists and threads, or all but traces, signatures and X-..."}
	extraRepack = index.Extra{Name: "repack", Values: []string{"30pct", "10pct", "60pct", "never"},
		Help: "share of dead bytes in the cache above which a Sync compacts", Trigger: true}
)

// Axes are what the benchmarks sweep.
func (design) Axes() index.Axes {
	return index.Axes{Compacts: true, Open: true, Fetches: true, ModSeqs: true,
		Extra: []index.Extra{extraRead, extraHeaders, extraRepack}}
}

// ReadsAtSync: the cache is filled when a message is first seen.
func (design) ReadsAtSync(index.Options) bool { return true }

// Open reads the header page of the index, nothing else.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, fs: cfg.FS, compat: mailsort.RFC}
	if cfg.Options.Compat == index.CompatDovecot {
		m.compat = mailsort.Dovecot
		m.flavour |= flavourDovecot
	}
	if extraHeaders.Value(cfg.Options) == "list" {
		m.flavour |= flavourList
	}
	for _, x := range []index.Extra{extraRead, extraHeaders} {
		if v := x.Value(cfg.Options); !slices.Contains(x.Values, v) {
			return nil, fmt.Errorf("envelope: %s is one of %s, not %q", x.Name, strings.Join(x.Values, ", "), v)
		}
	}
	m.wholeMail = extraRead.Value(cfg.Options) != "header"
	m.repackAt = -1
	if v := extraRepack.Value(cfg.Options); v != "never" {
		n, err := strconv.Atoi(strings.TrimSuffix(v, "pct"))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("envelope: repack is never or a share as 30pct, not %q", v)
		}
		m.repackAt = n
	}
	if err := m.refresh(); err != nil {
		return nil, err
	}
	return m, nil
}

// mailbox is an opened mailbox. It holds no file open between calls.
type mailbox struct {
	cfg       index.Config
	fs        index.FS
	compat    mailsort.Compat
	flavour   uint32
	wholeMail bool
	repackAt  int // percent; negative: never

	h       header
	have    bool // h is of an index that is there
	damaged bool // what is there cannot be used: the next Sync builds it anew
	twins   bool // both slots of the header are of the state of h, but for notes
	applied bool // the journal of h is in the records

	table *index.Table
	raw   []byte   // records of the table's rows
	slot  []uint32 // row -> record number in the file
	track index.Tracker

	lookups, records, decoded, opened int64 // Counts

	answer  index.Answer
	threads thread.Scratch
	sorts   mailsort.Scratch
	order   []int32
	rows    []int32
	uids    []uint32
}

func (m *mailbox) path(name string) string { return filepath.Join(m.cfg.Dir, name) }

func (m *mailbox) cacheName(generation uint64) string {
	return m.path(CachePrefix + strconv.FormatUint(generation, 10))
}

func (m *mailbox) namesName(generation uint64) string {
	return m.path(NamesPrefix + strconv.FormatUint(generation, 10))
}

// Status is what the header says.
func (m *mailbox) Status() index.Status {
	if !m.have {
		return index.Status{}
	}
	h := &m.h
	return index.Status{UIDValidity: h.uidValidity, UIDNext: h.uidNext, Messages: int(h.live),
		Unseen: int(h.unseen), Deleted: int(h.deleted), HighestModSeq: h.highest, Generation: h.generation}
}

// Messages lists the rows.
func (m *mailbox) Messages(fn func(index.Message) bool) error {
	if err := m.load(); err != nil {
		return err
	}
	for i := range m.table.Len() {
		if !fn(m.table.Message(i)) {
			break
		}
	}
	return nil
}

// Sync brings the index up to date; new messages are read and cached.
func (m *mailbox) Sync() (index.Changes, error) {
	c, err := m.track.Follow(m.cfg.Source, keeper{m}, func() *index.UIDListData {
		return index.ReadUIDList(m.fs, m.cfg.Source, m.cfg.Options.UIDList)
	})
	if err != nil {
		m.drop()
	}
	return c, err
}

// Close lets go of memory; everything is on disk already.
func (m *mailbox) Close() error {
	m.drop()
	m.track = index.Tracker{}
	return nil
}

// drop forgets the rows.
func (m *mailbox) drop() {
	m.table, m.raw, m.slot = nil, nil, nil
	m.applied = false
}
