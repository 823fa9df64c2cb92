package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"mailbench/maildir"
	"mailbench/store/catalog"
)

// Check compares the directories with the catalog and reads every message.
// Nothing else may change anything meanwhile: it waits.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		m.change.Lock()
		defer m.change.Unlock()
		m.naming.Lock()
		defer m.naming.Unlock()
		for err := range m.check() {
			if !yield(fmt.Errorf("store/maildir: %w", err)) {
				return
			}
		}
	}
}

func (m *mailbox) check() iter.Seq[error] {
	return func(yield func(error) bool) {
		if _, err := m.readNewest(); err != nil && !errors.Is(err, fs.ErrNotExist) && !yield(err) {
			return
		}
		entries, err := m.list()
		if err != nil {
			yield(err)
			return
		}
		there := make(map[string]bool, len(entries))
		for i := range entries {
			e := &entries[i]
			r, ok := m.cat.Get(e.Base)
			name := filepath.Join(m.path(uint8(e.Dir)), e.File)
			switch {
			case there[e.Base]:
				err = fmt.Errorf("%s: another file has the same base name", name)
			case !ok:
				err = fmt.Errorf("%s: not in the catalog", name)
			case name != m.file(&r):
				err = fmt.Errorf("%s: should be %s", name, m.file(&r))
			default:
				err = m.checkFile(&r)
			}
			there[e.Base] = true
			if err != nil && !yield(err) {
				return
			}
		}
		var errs []error
		last := ""
		m.cat.Each(func(r catalog.Row) bool {
			if !there[r.Key] {
				errs = append(errs, fmt.Errorf("%s: message %s has no file", m.dir, r.Key))
			}
			if last != "" && maildir.Compare(last, r.Key) >= 0 {
				errs = append(errs, fmt.Errorf("%s: message %s is behind %s", m.dir, r.Key, last))
			}
			last = r.Key
			return len(errs) < 1000
		})
		for _, err := range errs {
			if !yield(err) {
				return
			}
		}
	}
}

// checkFile holds the sizes in the name against the file.
func (m *mailbox) checkFile(r *catalog.Row) error {
	b, err := m.ReadMessage(*r, nil)
	if err != nil {
		return err
	}
	if v := maildir.CRLFSize(b); r.VSize >= 0 && v != r.VSize {
		return fmt.Errorf("%s: %d bytes with CRLF line ends, the name tells %d", m.file(r), v, r.VSize)
	}
	return nil
}
