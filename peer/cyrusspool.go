package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mailbench/maildir"
)

// cyrusHeader is in the directory of a mailbox, and says what it is called.
const cyrusHeader = "cyrus.header"

// findSpool finds the directory of the only mailbox: it is named by an id that
// Cyrus has made up, and by the user's name in versions before 3.6.
func (x *cyrusInstance) findSpool() (string, error) {
	var found string
	err := filepath.WalkDir(x.dir("spool"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == cyrusHeader {
			found = filepath.Dir(path)
			return fs.SkipAll
		}
		return err
	})
	if err == nil && found == "" {
		err = errors.New("CREATE made no mailbox in the spool")
	}
	if err != nil {
		return "", fmt.Errorf("cyrus: %w", err)
	}
	return found, nil
}

// load writes the mail of the corpus into the spool: the message of UID 7 is the
// file "7.", with CRLF, its INTERNALDATE the time of the file. UIDs are given in
// the order in which a server that finds the maildir gives them. A message that
// vanishes meanwhile leaves its UID unused.
func (x *cyrusInstance) load(ctx context.Context) error {
	list, err := os.Create(x.names())
	if err != nil {
		return fmt.Errorf("cyrus: %w", err)
	}
	defer list.Close()
	if x.run.Corpus == "" {
		return nil
	}
	begin := time.Now()
	var scan maildir.Scan
	if err := scan.Read(x.run.Corpus, maildir.Options{}); err != nil {
		return fmt.Errorf("cyrus: %w", err)
	}
	scan.Unique()
	maildir.SortBase(scan.Entries)
	fmt.Fprintf(x.run.Log, "cyrus: writing %d messages\n", len(scan.Entries))
	names := bufio.NewWriter(list)
	for i := range scan.Entries {
		fmt.Fprintf(names, "%q\n", scan.Entries[i].Base) // a name may hold a line end
	}
	if err := names.Flush(); err != nil {
		return fmt.Errorf("cyrus: %w", err)
	}
	mail, err := maildir.Open(x.run.Corpus, maildir.Options{})
	if err != nil {
		return fmt.Errorf("cyrus: %w", err)
	}
	defer mail.Close()

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, empty atomic.Int64
	var all sync.WaitGroup
	const writers = 2 // the disk's work more than ours
	for range writers {
		all.Go(func() {
			w := spoolWriter{x: x, mail: mail}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(scan.Entries) {
					return
				}
				err := w.write(&scan.Entries[i], i+1)
				switch {
				case errors.Is(err, errEmptyMessage):
					empty.Add(1)
				case err != nil:
					stop(fmt.Errorf("cyrus: %w", err))
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if n := empty.Load(); n > 0 {
		x.desc.Notes = append(x.desc.Notes, fmt.Sprintf("cyrus lacks %d empty message(s): it takes a file without bytes for a lost one", n))
	}
	fmt.Fprintf(x.run.Log, "cyrus: written in %s\n", time.Since(begin).Round(100*time.Millisecond))
	return nil
}

var errEmptyMessage = errors.New("empty message")

// A spoolWriter writes one message after the other.
type spoolWriter struct {
	x    *cyrusInstance
	mail *maildir.Reader
	in   []byte
	out  []byte
}

func (w *spoolWriter) write(e *maildir.Entry, uid int) (err error) {
	w.in, err = w.mail.ReadAll(e, w.in[:0])
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(w.in) == 0 {
		return errEmptyMessage
	}
	_, mtime, err := w.mail.Stat(e)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	w.out = appendCRLF(w.out[:0], w.in)
	path := filepath.Join(w.x.spool, fmt.Sprintf("%d.", uid))
	if err := os.WriteFile(path, w.out, 0o600); err != nil {
		return err
	}
	t := time.Unix(0, mtime)
	if err := os.Chtimes(path, t, t); err != nil {
		return err
	}
	const keep = 1 << 20
	if cap(w.in) > keep {
		w.in = nil // one large message is no reason to hold so much
	}
	if cap(w.out) > keep {
		w.out = nil
	}
	return w.x.run.User.Chown(path)
}

// appendCRLF appends msg with every line end a CRLF. A CR alone stays.
func appendCRLF(dst, msg []byte) []byte {
	for len(msg) > 0 {
		i := bytes.IndexByte(msg, '\n')
		if i < 0 {
			return append(dst, msg...)
		}
		if i > 0 && msg[i-1] == '\r' {
			dst = append(dst, msg[:i+1]...)
		} else {
			dst = append(append(dst, msg[:i]...), "\r\n"...)
		}
		msg = msg[i+1:]
	}
	return dst
}

// names is a file of the base names in the order of UIDs from 1 on. It is not
// held in memory, which would make the peak of our children hard to see.
func (x *cyrusInstance) names() string { return x.dir("names") }

// UIDNames are the base names by UID.
func (x *cyrusInstance) UIDNames() (map[uint32]string, error) {
	f, err := os.Open(x.names())
	if err != nil {
		return nil, fmt.Errorf("cyrus: %w", err)
	}
	defer f.Close()
	names := map[uint32]string{}
	lines := bufio.NewScanner(f)
	for uid := uint32(1); lines.Scan(); uid++ {
		if names[uid], err = strconv.Unquote(lines.Text()); err != nil {
			return nil, fmt.Errorf("cyrus: %s: line %d: %w", x.names(), uid, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cyrus: %w", err)
	}
	return names, nil
}

// Fresh removes all that Cyrus has made of the mail. It cannot select the mailbox
// then: reconstruct makes it one again.
func (x *cyrusInstance) Fresh(context.Context) error {
	all, err := x.own()
	for _, path := range all {
		if filepath.Base(path) == cyrusHeader {
			continue
		}
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// own are Cyrus' own files in the directory of the mailbox.
func (x *cyrusInstance) own() ([]string, error) {
	return filepath.Glob(filepath.Join(globQuote(x.spool), "cyrus.*"))
}

// Files lists those, and its databases of mailboxes and users.
func (x *cyrusInstance) Files() (files []File, err error) {
	add := func(path, class string) error {
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(x.run.Dir, path)
		files = append(files, File{Class: class, Path: rel, Size: st.Size()})
		return err
	}
	all, err := x.own()
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		class := strings.TrimPrefix(filepath.Base(path), "cyrus.")
		if class != "index" && class != "cache" {
			class = "other"
		}
		if err := add(path, class); err != nil {
			return nil, err
		}
	}
	err = filepath.WalkDir(x.dir("config"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		switch filepath.Ext(path) {
		case ".db":
			return add(path, "list")
		case ".seen", ".sub", ".conversations":
			return add(path, "other")
		}
		return nil
	})
	return files, err
}
