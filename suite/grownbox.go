package suite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/cespare/xxhash/v2"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/store/box"
)

// A grownSize is how much mail is there before a row writes.
type grownSize struct {
	name     string // value of grown=
	messages int
}

var (
	grownNone  = grownSize{"0", 0}
	grownSizes = []grownSize{{"10k", 10_000}, {"100k", 100_000}}
)

// grownVersion is raised when the mailboxes on disk are made otherwise.
const grownVersion = 3

// A grownBox is a mailbox that has grown by appends: its files, in mail and
// index below dir, and what it holds.
type grownBox struct {
	dir  string
	held ledger
}

// grownBox makes or opens the mailbox that rows of s begin with; nil: none.
// It is kept beside the corpora, its name being the mark that it is complete,
// and read through once in each run: code that no longer understands it makes
// it anew.
func (r *Runner) grownBox(s setting) (*grownBox, error) {
	n := s.grown.messages
	if n == 0 {
		return nil, nil
	}
	if s.store.remote() {
		return nil, skip("the mail lies in a database, which cannot be copied for each sample")
	}
	if isFresh() {
		n = min(n, 300)
	}
	name := fmt.Sprintf("v%d.%s.%s.cache-%v.seed%d.%d", grownVersion, plainValue(s.design.Name()), plainValue(s.store.name), s.cache, r.seed(), n)
	if options := tuning(s.design); options != "" {
		name += fmt.Sprintf(".options-%016x", xxhash.Sum64String(options))
	}
	root := filepath.Join(r.cfg.CacheDir, "grown")
	g := &grownBox{dir: filepath.Join(root, name)}
	if r.grownBoxes[name] != nil {
		return r.grownBoxes[name], nil
	}
	if err := g.read(s); err != nil {
		if err := os.RemoveAll(g.dir); err != nil {
			return nil, err
		}
		if err := r.growBox(root, name, s, n); err != nil {
			return nil, err
		}
		if err := g.read(s); err != nil {
			return nil, err
		}
	}
	if r.grownBoxes == nil {
		r.grownBoxes = map[string]*grownBox{}
	}
	r.grownBoxes[name] = g
	return g, nil
}

// read loads what g holds and reads it through, in a copy.
func (g *grownBox) read(s setting) error {
	if _, err := os.Stat(g.dir); err != nil {
		return err
	}
	if err := g.load(); err != nil {
		return err
	}
	base, err := s.ground.own("grown")
	if err != nil {
		return err
	}
	st := &stand{setting: s, base: base}
	st.fsync, st.slow = box.Never, slowness{}
	err = st.renew(g.dir)
	if err == nil {
		err = g.held.verify(st.box)
	}
	return errors.Join(err, st.remove())
}

const growers = 32

// growBox makes a mailbox of n messages by appends: its index has lived through
// them.
func (r *Runner) growBox(root, name string, s setting, n int) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(root, name+".tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	s.fsync, s.slow = box.Never, slowness{}
	st := &stand{setting: s, base: tmp, mail: filepath.Join(tmp, "mail"), index: filepath.Join(tmp, "index")}
	if err := errors.Join(os.Mkdir(st.mail, 0o755), os.Mkdir(st.index, 0o755), st.open(box.Never, false)); err != nil {
		return err
	}
	held, err := fill(st.box, r.filling(n))
	if err := errors.Join(err, st.shut()); err != nil {
		return err
	}
	if err := errors.Join(held.save(filepath.Join(tmp, "held")), settleDisk(tmp)); err != nil {
		return err
	}
	err = os.Rename(tmp, filepath.Join(root, name))
	if errors.Is(err, os.ErrExist) { // another process was faster
		return nil
	}
	return err
}

// fill appends all messages of g, several at a time.
func fill(b *box.Box, g *corpus.Generator) (ledger, error) {
	held := ledger{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for range growers {
		wg.Go(func() {
			var body []byte
			for {
				var m corpus.Message
				mu.Lock()
				if failed != nil || !g.Next(&m) {
					mu.Unlock()
					return
				}
				body = append(body[:0], m.Data...)
				mu.Unlock()
				l := newLetter(&m, body)
				uid, err := b.Append(l.Message)
				mu.Lock()
				if failed = errors.Join(failed, err); err == nil {
					held[uid] = entry{sum: l.sum, flags: l.Flags}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return held, failed
}

// heldBytes is the size of a message in the file of what a mailbox holds: UID,
// digest, flags.
const heldBytes = 4 + 8 + 2

func (l ledger) save(file string) error {
	b := make([]byte, 0, len(l)*heldBytes)
	for uid, e := range l {
		b = binary.LittleEndian.AppendUint32(b, uid)
		b = binary.LittleEndian.AppendUint64(b, e.sum)
		b = binary.LittleEndian.AppendUint16(b, uint16(e.flags))
	}
	return os.WriteFile(file, b, 0o644)
}

func (g *grownBox) load() error {
	b, err := os.ReadFile(filepath.Join(g.dir, "held"))
	if err != nil {
		return err
	}
	g.held = make(ledger, len(b)/heldBytes)
	for ; len(b) >= heldBytes; b = b[heldBytes:] {
		g.held[binary.LittleEndian.Uint32(b)] = entry{sum: binary.LittleEndian.Uint64(b[4:]), flags: index.Flags(binary.LittleEndian.Uint16(b[12:]))}
	}
	return nil
}

// messageFile are the names of files that hold one message in the formats that
// have such: they are never written to again, so a copy may be a link.
var messageFile = regexp.MustCompile(`^(u\.)?[0-9]`)

var oneFileEach = map[string]bool{"maildir": true, "cydir": true, "sdbox": true}

// copyMail copies the directory from to the new directory to: messages of the
// formats that keep each in a file of its own as links, where that can be,
// everything else as bytes. Nothing is synced.
func copyMail(from, to, format string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, d := range list {
		a, b := filepath.Join(from, d.Name()), filepath.Join(to, d.Name())
		switch {
		case d.IsDir():
			err = copyMail(a, b, format)
		case oneFileEach[format] && messageFile.MatchString(d.Name()) && os.Link(a, b) == nil:
			err = nil
		default:
			err = copyBytes(a, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyBytes copies a file, by the file system's own means where io.Copy finds
// them, with its modification time.
func copyBytes(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
