package catalog

import (
	"math"
	"sync"
	"time"

	"mailbench/index"
	"mailbench/store"
)

// NoDate is the Row.Date of a message whose INTERNALDATE is not known without
// looking, and -1 the Size and VSize of one whose sizes are not: a Stater is
// asked for them.
const NoDate = math.MinInt64

// AllFlags are the flags that there are: stores keep no other bits.
const AllFlags = index.FlagDraft | index.FlagFlagged | index.FlagForwarded | index.FlagAnswered | index.FlagSeen | index.FlagDeleted

// DateOf is the INTERNALDATE that a message to be appended gets. NoDate, which
// nobody can mean, is the second after it.
func DateOf(m *store.Message, now func() time.Time) int64 {
	if m.Date == 0 {
		return max(now().Unix(), NoDate+1)
	}
	return max(m.Date, NoDate+1)
}

// A Row is a message as a store knows it.
type Row struct {
	Key         string // never used again
	Flags       index.Flags
	Keywords    uint32
	Dir         uint8 // index.DirCur, DirNew or DirNone
	Size, VSize int64 // bytes as stored, and with CRLF line ends; -1 unknown
	Date        int64 // INTERNALDATE, unix seconds
	File, Off   int64 // where it lies: the store's own
}

// A Reader reads the mail that a row stands for. Both methods append to
// buf[:0], may be called from several goroutines, beside changes too, and give
// an error that wraps fs.ErrNotExist when nothing is in that place any more:
// the catalog then looks whether the message has another place.
type Reader interface {
	ReadHead(r Row, buf []byte) ([]byte, error) // the header, perhaps with something of the body
	ReadMessage(r Row, buf []byte) ([]byte, error)
}

// A Stater is a Reader that can tell what a Row leaves unknown.
type Stater interface {
	Stat(r Row) (size, date int64, err error)
}

// A Catalog is the rows of a mailbox. All methods may be called from several
// goroutines.
type Catalog struct {
	kind, path string
	read       Reader

	mu     sync.RWMutex
	rows   []row // in the order of append, dead ones among them
	dead   int
	serial uint32
	slots  []uint32 // open addressing by the hash of the key: position in rows + 1
	keys   arena
	digest index.Digest
	recent ring
	src    source

	loading bool
}

// row is a Row as it is kept.
type row struct {
	key         string
	size, vsize int64
	date        int64
	file, off   int64
	keywords    uint32
	serial      uint32 // ascends in the order of append
	flags       index.Flags
	dir         uint8
	dead        bool
}

// New makes an empty catalog. kind and path are what its Source tells of itself.
func New(kind, path string, read Reader) *Catalog {
	c := &Catalog{kind: kind, path: path, read: read}
	c.src.c = c
	return c
}

// Add adds messages at the end. Keys are copied. One that is there already is
// Set instead: a store must not do that.
func (c *Catalog) Add(rows ...Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(rows)
}

// Load is Add of messages that were there before: none of the changes so far
// are remembered after it. For stores that are being opened.
func (c *Catalog) Load(rows ...Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loading = true
	c.add(rows)
	c.loading = false
	c.recent = ring{was: c.digest}
}

func (c *Catalog) add(rows []Row) {
	c.grow(len(rows))
	for i := range rows {
		r := &rows[i]
		h := hashKey(r.Key)
		at, slot := c.find(h, r.Key)
		if at >= 0 {
			c.set(at, h, r)
			continue
		}
		c.serial++
		c.rows = append(c.rows, row{key: c.keys.add(r.Key), size: r.Size, vsize: r.VSize, date: r.Date, file: r.File, off: r.Off,
			keywords: r.Keywords, serial: c.serial, flags: r.Flags, dir: r.Dir})
		c.slots[slot] = uint32(len(c.rows))
		to := &c.rows[len(c.rows)-1]
		c.changed(to, h, mark{}, to.mark())
	}
}

// Set gives a message other flags, keywords, dir, date, sizes and place. ok
// false: it is not there.
func (c *Catalog) Set(r Row) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := hashKey(r.Key)
	at, _ := c.find(h, r.Key)
	if at >= 0 {
		c.set(at, h, &r)
	}
	return at >= 0
}

func (c *Catalog) set(at int, h uint64, r *Row) {
	to := &c.rows[at]
	old := to.mark()
	to.size, to.vsize, to.date, to.file, to.off = r.Size, r.VSize, r.Date, r.File, r.Off
	to.flags, to.keywords, to.dir = r.Flags, r.Keywords, r.Dir
	if now := to.mark(); now != old {
		c.changed(to, h, old, now)
	}
}

// Remove takes messages out and returns those that were there.
func (c *Catalog) Remove(keys ...string) (removed []Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		h := hashKey(key)
		at, _ := c.find(h, key)
		if at < 0 {
			continue
		}
		r := &c.rows[at]
		removed = append(removed, r.public())
		old := r.mark()
		r.dead = true
		c.dead++
		c.changed(r, h, old, mark{})
	}
	if c.dead > 64 && c.dead > len(c.rows)/2 {
		c.compact()
	}
	return removed
}

// Get returns the row of a key.
func (c *Catalog) Get(key string) (Row, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if at, _ := c.find(hashKey(key), key); at >= 0 {
		return c.rows[at].public(), true
	}
	return Row{}, false
}

// Len is the number of messages.
func (c *Catalog) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.rows) - c.dead
}

// Each calls fn for each message in the order of append until it returns
// false. fn must not change the catalog.
func (c *Catalog) Each(fn func(Row) bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i := range c.rows {
		if r := &c.rows[i]; !r.dead && !fn(r.public()) {
			return
		}
	}
}

// Digest is the running digest.
func (c *Catalog) Digest() index.Digest {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.digest
}

// Source is the catalog as an index sees it: the same one each time.
func (c *Catalog) Source() index.Source { return &c.src }

func (r *row) public() Row {
	return Row{Key: r.key, Flags: r.flags, Keywords: r.keywords, Dir: r.dir, Size: r.size, VSize: r.vsize, Date: r.date, File: r.file, Off: r.off}
}

func (r *row) mark() mark { return mark{there: true, flags: r.flags, dir: r.dir, keywords: r.keywords} }
