package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"mailbench/internal/fsys"
	"mailbench/maildir"
	"mailbench/store"
	"mailbench/store/catalog"
)

const (
	syncBatch = 64 // files of a group that are open at the same time
	syncers   = 16 // of them fsynced beside each other: the journal takes them together
)

// Append adds messages, see the package comment.
func (m *mailbox) Append(msgs []store.Message) ([]string, error) {
	if m.closed.Load() {
		return nil, errClosed
	}
	if len(msgs) == 0 {
		return nil, nil
	}
	d := &delivery{files: make([]written, len(msgs)), wake: make(chan bool, 1)}
	now := m.now().Unix()
	for i := range msgs {
		msg := &msgs[i]
		if msg.Keywords >= 1<<26 {
			return nil, fmt.Errorf("%w: %#x", ErrKeyword, msg.Keywords)
		}
		r := &d.files[i].row
		*r = catalog.Row{Flags: msg.Flags & allFlags, Keywords: msg.Keywords, Size: int64(len(msg.Body)), VSize: maildir.CRLFSize(msg.Body), Date: msg.Date}
		if r.Date == 0 {
			r.Date = now
		}
		if r.Flags == 0 && r.Keywords == 0 {
			r.Dir = m.into
		}
	}
	for from := 0; from < len(msgs); from += syncBatch {
		to := min(from+syncBatch, len(msgs))
		if err := m.write(d.files[from:to], msgs[from:to]); err != nil {
			m.drop(d.files)
			return nil, fmt.Errorf("store/maildir: append: %w", err)
		}
	}
	m.line.publish(d, m.publish)
	return d.keys, d.err
}

// written is a message that is in tmp/, and what it will be.
type written struct {
	temp string // "" when it is not there, or no more
	row  catalog.Row
}

// write makes files of messages and makes them last.
func (m *mailbox) write(files []written, msgs []store.Message) (err error) {
	open := make([]fsys.File, 0, len(files))
	for i := range files {
		w := &files[i]
		name := m.tempName()
		f, err := m.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return errors.Join(err, closeAll(open))
		}
		w.temp = name
		open = append(open, f)
		if len(msgs[i].Body) > 0 {
			_, err = f.WriteAt(msgs[i].Body, 0)
		}
		if err == nil {
			err = f.Chtimes(time.Unix(w.row.Date, 0))
		}
		if err != nil {
			return errors.Join(err, closeAll(open))
		}
	}
	return errors.Join(syncAll(open), closeAll(open))
}

// syncAll fsyncs files. One after the other each would wait for a commit of the
// journal of its own.
func syncAll(files []fsys.File) error {
	if len(files) == 1 {
		return files[0].Sync()
	}
	errs := make([]error, min(syncers, len(files)))
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() {
			for i := n; i < len(files) && errs[n] == nil; i += len(errs) {
				errs[n] = files[i].Sync()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func closeAll(files []fsys.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// drop removes what is still in tmp/, best effort: a later opening does it too.
func (m *mailbox) drop(files []written) {
	for i := range files {
		if files[i].temp != "" {
			m.fs.Remove(files[i].temp)
			files[i].temp = ""
		}
	}
}

// publish gives the messages of a batch their names, syncs the directories, and
// tells the catalog.
func (m *mailbox) publish(batch []*delivery) {
	m.naming.Lock()
	defer m.naming.Unlock()
	var rows []catalog.Row
	var touched [2]bool
	if err := m.settle(); err != nil {
		for _, d := range batch {
			m.drop(d.files)
			d.err = fmt.Errorf("store/maildir: append: %w", err)
		}
		return
	}
	for _, d := range batch {
		for i := range d.files {
			w := &d.files[i]
			var err error
			if w.row.Key, err = m.base(w.row.Size, w.row.VSize); err == nil {
				err = m.fs.Rename(w.temp, m.file(&w.row))
			}
			if err != nil {
				d.err = fmt.Errorf("store/maildir: append: %w", err)
				break
			}
			w.temp = ""
			touched[w.row.Dir] = true
			d.keys = append(d.keys, w.row.Key)
			rows = append(rows, w.row)
		}
		m.drop(d.files)
	}
	if err := m.syncDirs(touched); err != nil {
		m.takeBack(batch, rows, fmt.Errorf("store/maildir: append: %w", err))
		return
	}
	if len(rows) > 0 {
		m.newest = rows[len(rows)-1].Key
		m.cat.Add(rows...)
	}
}

// takeBack removes a batch of which nobody knows whether it lasts.
func (m *mailbox) takeBack(batch []*delivery, rows []catalog.Row, err error) {
	for i := range rows {
		m.stray = append(m.stray, m.file(&rows[i]))
	}
	m.settle() // best effort: before anything else is published it must work
	for _, d := range batch {
		d.keys, d.err = nil, err
	}
}

// settle removes what could not be taken back before. m.naming is held.
func (m *mailbox) settle() error {
	for len(m.stray) > 0 {
		if err := m.fs.Remove(m.stray[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		m.stray = m.stray[1:]
	}
	return nil
}

func (m *mailbox) syncDirs(touched [2]bool) error {
	for dir, touched := range touched {
		if touched {
			if err := m.fs.SyncDir(m.path(uint8(dir))); err != nil {
				return err
			}
		}
	}
	return nil
}
