package bboltidx

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Names of the files.
const (
	File        = "mailbench.bolt"
	NewFile     = File + ".new"     // a database that is being made, to be renamed
	DamagedFile = File + ".damaged" // a database that could not be read, kept to look at
)

// Design is the design, named "bbolt".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "bbolt" }
func (design) Integrity() index.Integrity { return index.TrustsDisk }

// The options, each with its default first.
var (
	optSync     = index.Extra{Name: "sync", Values: []string{"yes", "no"}, Help: "wait for the disk at the end of a transaction (no: NoSync)", Unsynced: "no"}
	optFreeSync = index.Extra{Name: "freelist_sync", Values: []string{"yes", "no"}, Help: "write the list of free pages (no: NoFreelistSync, an opening that writes reads the whole file)"}
	optFreeType = index.Extra{Name: "freelist", Values: []string{"hashmap", "array"}, Help: "the list of free pages in memory"}
	optFill     = index.Extra{Name: "fill_pct", Values: []string{"95", "50"}, Help: "how full a page gets before it is split (FillPercent)"}
	optPage     = index.Extra{Name: "page_size", Values: []string{"4096", "16384"}, Help: "bytes of a page of a new database"}
	optFields   = index.Extra{Name: "headers", Values: []string{"use", "delivery"}, Help: "when records of new mail's headers are written"}
)

// Axes are what the benchmarks sweep.
func (design) Axes() index.Axes {
	return index.Axes{Fields: []string{"thread", "envelope"}, Compacts: true, Open: true, Fetches: true, ModSeqs: true, OwnIO: true,
		Extra: []index.Extra{optSync, optFreeSync, optFreeType, optFill, optPage, optFields}}
}

// ReadsAtSync: with headers=delivery.
func (design) ReadsAtSync(o index.Options) bool { return optFields.Value(o) == "delivery" }

// Open reads the record of the mailbox, if there is a database.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, path: filepath.Join(cfg.Dir, File)}
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

	engine         *bbolt.Options
	noFreelistSync bool
	fill           float64
	atDelivery     bool
	fields         set // what is cached together

	kept    *store // for reading, not locked; nil: not opened
	box     box    // as last read
	table   *index.Table
	tableOf uint64 // box.changed that table belongs to
	track   index.Tracker

	keys, opened, bytes int64 // records read, mails opened, bytes of records read

	answer  index.Answer
	threads thread.Scratch
	sorts   mailsort.Scratch
	order   []int32
	uids    []uint32
	sorted  []uint32
}

func (m *mailbox) readOptions() error {
	o := m.cfg.Options
	for _, x := range []index.Extra{optSync, optFreeSync, optFreeType, optFields} {
		if v := x.Value(o); !slices.Contains(x.Values, v) {
			return fmt.Errorf("bboltidx: %s is one of %s, not %q", x.Name, strings.Join(x.Values, ", "), v)
		}
	}
	number := func(x index.Extra, low, high int) (int, error) {
		n, err := strconv.Atoi(x.Value(o))
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("bboltidx: %s: %q is no number from %d to %d", x.Name, x.Value(o), low, high)
		}
		return n, nil
	}
	fill, err := number(optFill, 10, 100)
	if err != nil {
		return err
	}
	page, err := number(optPage, 4096, 65536)
	if err != nil {
		return err
	}
	if page&(page-1) != 0 {
		return fmt.Errorf("bboltidx: %s: %d is no power of two", optPage.Name, page)
	}
	m.fill = float64(fill) / 100
	m.noFreelistSync = optFreeSync.Value(o) == "no"
	m.atDelivery = optFields.Value(o) == "delivery"
	m.engine = &bbolt.Options{Timeout: lockPatience, NoSync: optSync.Value(o) == "no", NoFreelistSync: m.noFreelistSync,
		FreelistType: bbolt.FreelistType(optFreeType.Value(o)), PageSize: page, NoStatistics: true}
	m.fields = 1 << groupThread
	if o.Fields == "envelope" {
		m.fields |= 1<<groupAddress | 1<<groupEnvelope
	}
	return nil
}

func (m *mailbox) compat() index.Compat {
	if m.cfg.Options.Compat == index.CompatDovecot {
		return mailsort.Dovecot
	}
	return mailsort.RFC
}

// A group is what is read from a mail and kept together, in a bucket of its own.
type group uint8

const (
	groupThread   group = iota // what THREAD and SORT DATE, SUBJECT want
	groupAddress               // keys of SORT FROM, TO, CC, DISPLAYFROM, DISPLAYTO
	groupEnvelope              // values of ENVELOPE's fields
	groupArrival               // INTERNALDATE
	groupSize                  // RFC822.SIZE
	groups
)

// set is a set of groups: bit g.
type set uint8

func (s set) has(g group) bool { return s>>g&1 != 0 }

// header is the groups that come from the header.
const header set = 1<<groupThread | 1<<groupAddress | 1<<groupEnvelope

// The buckets.
var (
	bucketMeta     = []byte("meta")
	bucketMessages = []byte("messages")
	bucketVanished = []byte("vanished")
	bucketUnread   = []byte("unread")
	bucketOf       = [groups][]byte{[]byte("thread"), []byte("address"), []byte("envelope"), []byte("arrival"), []byte("size")}
	keyBox         = []byte("mailbox")
)

var buckets = append([][]byte{bucketMeta, bucketMessages, bucketVanished, bucketUnread}, bucketOf[:]...)

func appendUID(dst []byte, uid uint32) []byte { return binary.BigEndian.AppendUint32(dst, uid) }
