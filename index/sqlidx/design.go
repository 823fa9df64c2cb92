package sqlidx

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// File is the database; the engine puts "-wal", "-shm" or "-journal" beside it
// while it works.
const File = "mailbench.sqlite"

// DamagedFile is a database that could not be read, kept to look at.
const DamagedFile = File + ".damaged"

// Design is the design, named "sqlite".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "sqlite" }
func (design) Integrity() index.Integrity { return index.TrustsDisk }

// The options, each with its default first.
var (
	optJournal = index.Extra{Name: "journal_mode", Values: []string{"wal", "delete", "truncate"}, Help: "how a transaction is made atomic"}
	optSync    = index.Extra{Name: "synchronous", Values: []string{"full", "normal", "off"}, Help: "when the engine waits for the disk", Unsynced: "off"}
	optCache   = index.Extra{Name: "cache_kib", Values: []string{"65536", "2000", "524288"}, Help: "the engine's page cache in KiB (cache_size)"}
	optPage    = index.Extra{Name: "page_size", Values: []string{"4096", "8192", "16384"}, Help: "bytes of a page of a new database"}
	optHeaders = index.Extra{Name: "headers", Values: []string{"delivery", "use"}, Help: "when the header rows of new mail are inserted"}
)

// Axes are what the benchmarks sweep.
func (design) Axes() index.Axes {
	return index.Axes{Fields: []string{"thread", "envelope"}, Compacts: true, Open: true, Fetches: true, ModSeqs: true, OwnIO: true,
		Extra: []index.Extra{optJournal, optSync, optCache, optPage, optHeaders}}
}

// ReadsAtSync: with headers=delivery.
func (design) ReadsAtSync(o index.Options) bool { return optHeaders.Value(o) == "delivery" }

// Open opens the database if there is one and reads the row of the mailbox.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, path: filepath.Join(cfg.Dir, File), fields: fieldsThread}
	if err := m.readOptions(); err != nil {
		return nil, err
	}
	if _, err := m.known(); err != nil && !isCorrupt(err) { // damage is Sync's to repair
		return nil, err
	}
	return m, nil
}

// mailbox is an opened mailbox.
type mailbox struct {
	cfg  index.Config
	path string

	journal, sync string
	cacheKiB      int
	pageSize      int
	atDelivery    bool
	fields        rfc5322.Mask // what is inserted of each new message

	db      *engine // nil: there is none, or not opened
	box     box     // its row as last read
	table   *index.Table
	tableOf int64 // box.changed that table belongs to
	track   index.Tracker

	counts  [2]int64 // rows, statements of engines that are closed
	opened  int64    // mails
	answer  index.Answer
	threads thread.Scratch
	uids    []uint32
}

func (m *mailbox) readOptions() error {
	o := m.cfg.Options
	if o.Fields == "envelope" {
		m.fields = fieldsEnvelope
	}
	for _, x := range []index.Extra{optJournal, optSync, optHeaders} {
		if v := x.Value(o); !slices.Contains(x.Values, v) {
			return fmt.Errorf("sqlidx: %s is one of %s, not %q", x.Name, strings.Join(x.Values, ", "), v)
		}
	}
	m.journal, m.sync, m.atDelivery = optJournal.Value(o), optSync.Value(o), optHeaders.Value(o) == "delivery"
	var err error
	if m.cacheKiB, err = strconv.Atoi(optCache.Value(o)); err != nil || m.cacheKiB < 64 {
		return fmt.Errorf("sqlidx: %s: %q is no number of at least 64", optCache.Name, optCache.Value(o))
	}
	if m.pageSize, err = strconv.Atoi(optPage.Value(o)); err != nil || m.pageSize < 512 || m.pageSize > 65536 || bits.OnesCount(uint(m.pageSize)) != 1 {
		return fmt.Errorf("sqlidx: %s: %q is no power of two from 512 to 65536", optPage.Name, optPage.Value(o))
	}
	if o.CacheBytes > 0 {
		m.cacheKiB = int(max(64, o.CacheBytes>>10))
	}
	return nil
}

func (m *mailbox) compat() index.Compat {
	if m.cfg.Options.Compat == index.CompatDovecot {
		return mailsort.Dovecot
	}
	return mailsort.RFC
}
