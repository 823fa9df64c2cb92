package linked

import (
	"errors"
	"io/fs"
	"iter"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Design is the design, named "linked".
var Design index.Design = design{}

type design struct{}

func (design) Name() string               { return "linked" }
func (design) Integrity() index.Integrity { return index.TrustsDisk }

// Axes implements index.HasAxes.
func (design) Axes() index.Axes {
	return index.Axes{Fields: []string{"thread", "envelope"}, Compacts: true, Open: true, Fetches: true, ModSeqs: true, Extra: extras}
}

// Open reads the header of the index file and what the log has beyond it. Rows
// are read when something is asked that needs them, or when the log has
// changes of them.
func (design) Open(cfg index.Config) (index.Mailbox, error) {
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &mailbox{cfg: cfg, fs: cfg.FS}
	var err error
	if m.opt, err = parseOptions(cfg.Options); err != nil {
		return nil, err
	}
	if m.opt.fsync == fsyncNever {
		m.fs = fsys.Unsynced(cfg.FS)
	}
	if m.opt.pread {
		m.fs = fsys.Unmapped(m.fs)
	}
	if _, err := m.load(); err != nil {
		return nil, err
	}
	return m, nil
}

type mailbox struct {
	cfg   index.Config
	fs    index.FS // cfg.FS, or one that does not wait for the disk
	opt   options
	disk  disk
	track index.Tracker

	table     *index.Table // of the view's rows; nil: not loaded
	deadLines int          // lines of expunged messages in the uidlist
	cache     *cache       // nil: not opened
	threads   *threads     // nil: not loaded
	checked   bool         // whether the cache file is due for a purge, in this session
	gen       uint64       // raised whenever the view may have other rows

	counts  counts
	readers [index.MaxReaders]parsed
	vals    [][]byte
	todo    []missing
	made    []parsedAt
	buf     []byte
	scratch []byte
	rows    []int32
	order   []int32
	answer  index.Answer

	threadScratch thread.Scratch
	sortScratch   mailsort.Scratch
}

// forget drops what belongs to the view.
func (m *mailbox) forget() {
	m.table, m.threads = nil, nil
	if m.cache != nil {
		m.cache.close()
		m.cache = nil
	}
	m.gen++
}

// ensure makes the rows of the view ready, with a Sync if there is no index.
func (m *mailbox) ensure() error {
	if !m.disk.ok {
		if _, err := m.Sync(); err != nil {
			return err
		}
	}
	return m.loadRows()
}

// Status implements index.Mailbox.
func (m *mailbox) Status() index.Status {
	if !m.disk.ok {
		return index.Status{}
	}
	return m.disk.status()
}

// Messages implements index.Mailbox.
func (m *mailbox) Messages(fn func(index.Message) bool) error {
	err := m.ensure()
	var t *index.Table
	if err == nil {
		t, err = m.loadTable()
	}
	if err != nil {
		return m.damaged(err)
	}
	for i := range t.Len() {
		if !fn(t.Message(i)) {
			break
		}
	}
	return nil
}

// Counts implements index.Counter.
func (m *mailbox) Counts() map[string]int64 {
	c := &m.counts
	return map[string]int64{"cache-lookups": c.lookups, "records-read": c.records, "bytes-decoded": c.decoded, "mails-opened": c.mails,
		"index-rewrites": c.folds, "cache-purges": c.purges,
		"compares": c.compares + m.sortScratch.Compares()}
}

// Stats implements index.Mailbox.
func (m *mailbox) Stats() []index.FileStat {
	var out []index.FileStat
	n := int64(m.Status().Messages)
	for _, f := range []struct {
		name string
		rows int64
	}{{indexFile, n}, {logFile, 0}, {logOld, 0}, {cacheName, n}, {threadName, n}, {listFile, n}, {lockFile, 0}, {index.ValidityFile, 0}} {
		if in, err := m.cfg.FS.Stat(m.path(f.name)); err == nil {
			out = append(out, index.FileStat{Name: f.name, Bytes: in.Size, Rows: f.rows})
		}
	}
	return append(out, m.fieldStats()...)
}

// fieldStats are the fields of the cache file: bytes and messages of each.
func (m *mailbox) fieldStats() (out []index.FileStat) {
	if !m.disk.ok || m.loadRows() != nil || m.openCache() != nil || m.cache.f == nil {
		return nil
	}
	c := m.cache
	if c.remap() != nil {
		return nil
	}
	vals, slot := make([][]byte, len(c.fields)), make([]int8, len(c.fields))
	for i := range slot {
		if slot[i] = int8(i); i > 120 {
			slot[i] = -1
		}
	}
	stats := make([]index.FileStat, len(c.fields))
	for _, off := range m.disk.recs(extCache) {
		clear(vals)
		c.lookup(off, slot, vals, -1, &counts{})
		for i, v := range vals {
			if v != nil {
				stats[i].Rows++
				stats[i].Bytes += int64(align(len(v), 4) + 4)
				if !c.fields[i].fixed() {
					stats[i].Bytes += 4
				}
			}
		}
	}
	for i, s := range stats {
		if s.Rows > 0 {
			s.Name, s.Part = cacheName, c.fields[i].name+" ("+c.fields[i].decision.String()+")"
			out = append(out, s)
		}
	}
	return out
}

// Close implements index.Mailbox.
func (m *mailbox) Close() error {
	m.disk.close()
	m.forget()
	m.track = index.Tracker{}
	return nil
}

// Check implements index.Mailbox. Without checksums it can tell only what
// contradicts something else.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		if damaged, err := m.load(); err != nil || damaged {
			if err == nil {
				err = corrupt(indexFile, "index and log do not fit together")
			}
			yield(err)
			return
		}
		if !m.disk.ok {
			return
		}
		t, err := m.loadTable()
		if err != nil {
			yield(err)
			return
		}
		stop := false
		tell := func(file, format string, a ...any) bool {
			stop = stop || !yield(corrupt(file, format, a...))
			return !stop
		}
		t.Problems(func(what string) bool { return tell(indexFile, "%s", what) })
		if stop {
			return
		}
		if b, err := readWhole(m.fs, m.path(listFile), 1<<32); err != nil {
			yield(err)
			return
		} else if what := checkList(b); what != "" && !tell(listFile, "%s", what) {
			return
		}
		m.checkCache(tell)
		if stop {
			return
		}
		b, err := readWhole(m.fs, m.path(threadName), 1<<32)
		if err != nil {
			yield(err)
		} else if _, ok := decodeThreads(b, &m.disk.view); b != nil && !ok {
			tell(threadName, "cannot be read: it will be made anew")
		}
	}
}

func (m *mailbox) checkCache(tell func(file, format string, a ...any) bool) {
	if e := m.disk.ext(extCache); e == nil || e.reset == 0 {
		return
	}
	if in, err := m.fs.Stat(m.path(cacheName)); errors.Is(err, fs.ErrNotExist) {
		tell(cacheName, "is missing")
		return
	} else if err != nil || in.Size == 0 {
		tell(cacheName, "%d bytes, %v", in.Size, err)
		return
	}
	if err := m.openCache(); err != nil || m.cache.f == nil {
		tell(cacheName, "header or registry, or another index's: %v", err)
		return
	}
	have := make([]bool, len(m.cache.fields))
	for i, off := range m.disk.recs(extCache) {
		if off != 0 && !m.cache.present(off, have) && !tell(cacheName, "record of uid %d", m.disk.uid[i]) {
			return
		}
	}
}
