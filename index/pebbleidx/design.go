package pebbleidx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Design is the design, named "pebble".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "pebble" }
func (design) Integrity() index.Integrity { return index.DetectsDamage }

var (
	extraSync = index.Extra{Name: "sync", Values: []string{"on", "off"},
		Help: "whether a commit waits for the disk"}
	extraFlush = index.Extra{Name: "flush", Values: []string{"close", "never"},
		Help: "whether Close writes the memtable to a table, or leaves it to the log"}
	extraMemtable = index.Extra{Name: "memtable", Values: []string{"16MiB", "4MiB", "64MiB"},
		Help: "size of a memtable"}
	extraCompression = index.Extra{Name: "compression", Values: []string{"snappy", "zstd", "none"},
		Help: "compression of tables, at every level"}
)

const defaultCacheBytes = 16 << 20

// Axes are what the benchmarks sweep.
func (design) Axes() index.Axes {
	return index.Axes{Fields: []string{"thread", "envelope"}, Compacts: true, Open: true, Fetches: true, ModSeqs: true,
		Extra: []index.Extra{extraSync, extraFlush, extraMemtable, extraCompression}}
}

// Open opens pebble for reading and reads the state of the mailbox.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for _, x := range []index.Extra{extraSync, extraFlush, extraCompression} {
		if v := x.Value(cfg.Options); !slices.Contains(x.Values, v) {
			return nil, fmt.Errorf("pebbleidx: %s is one of %s, not %q", x.Name, strings.Join(x.Values, ", "), v)
		}
	}
	set := settings{sync: extraSync.Value(cfg.Options) != "off", flush: extraFlush.Value(cfg.Options) != "never",
		cache: cfg.Options.CacheBytes, compression: extraCompression.Value(cfg.Options)}
	v := extraMemtable.Value(cfg.Options)
	n, err := strconv.ParseUint(strings.TrimSuffix(v, "MiB"), 10, 12)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("pebbleidx: memtable is a number of MiB below 4096 as 16MiB, not %q", v)
	}
	set.memtable = n << 20
	if set.cache <= 0 {
		set.cache = defaultCacheBytes
	}
	m := &mailbox{cfg: cfg, compat: mailsort.RFC, envelopes: cfg.Options.Fields == "envelope"}
	if cfg.Options.Compat == index.CompatDovecot {
		m.compat = mailsort.Dovecot
	}
	if m.engine, err = attach(cfg.FS, cfg.Dir, set); err != nil {
		return nil, err
	}
	if err := m.refresh(); err != nil {
		m.engine.detach()
		return nil, err
	}
	return m, nil
}

// mailbox is an opened mailbox.
type mailbox struct {
	cfg       index.Config
	engine    *engine
	compat    mailsort.Compat
	envelopes bool // fields=envelope

	st      state
	have    bool // st is of an index that is there
	damaged bool // what is there cannot be used: the next Sync builds it anew

	table *index.Table
	track index.Tracker

	denied map[uint32]found // by UID: what counts in this question of mail that may not be read

	lookups, keys, decoded, opened int64 // Counts

	answer  index.Answer
	threads thread.Scratch
	sorts   mailsort.Scratch
	order   []int32
	rows    []int32
	uids    []uint32
}

// Status is what the state says.
func (m *mailbox) Status() index.Status {
	if !m.have {
		return index.Status{}
	}
	return m.st.Status
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

// Sync brings rows up to date. It reads no mail.
func (m *mailbox) Sync() (index.Changes, error) {
	c, err := m.track.Follow(m.cfg.Source, keeper{m}, func() *index.UIDListData {
		return index.ReadUIDList(m.cfg.FS, m.cfg.Source, m.cfg.Options.UIDList)
	})
	if err != nil {
		m.table = nil
	}
	return c, err
}

// Close lets go of pebble; the last one in the process closes it.
func (m *mailbox) Close() error {
	if m.engine == nil {
		return nil
	}
	err := m.engine.detach()
	m.engine, m.table, m.track = nil, nil, index.Tracker{}
	return err
}
