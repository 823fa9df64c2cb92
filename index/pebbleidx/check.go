package pebbleidx

import (
	"errors"
	"iter"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/index"
)

// ChangesSince looks at every row.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	if err := m.load(); err != nil {
		return err
	}
	t := m.table
	for i, s := range t.ModSeqs() {
		if s > modseq && !changed(t.Message(i)) {
			return nil
		}
	}
	for _, v := range t.Vanished() {
		if v.ModSeq > modseq && !vanished(v.UID) {
			return nil
		}
	}
	return nil
}

// Counts are since Open.
func (m *mailbox) Counts() map[string]int64 {
	return map[string]int64{"cache-lookups": m.lookups, "keys-read": m.keys, "bytes-decoded": m.decoded, "mails-opened": m.opened, "compares": m.sorts.Compares()}
}

// Check reads every key, and lets pebble look at its levels.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		m.table = nil
		if err := m.load(); err != nil {
			yield(err)
			return
		}
		if !m.have {
			return
		}
		var found []error
		bad := func(what string) bool {
			found = append(found, &index.CorruptError{File: m.cfg.Dir, What: what})
			return len(found) < 1000
		}
		m.table.Problems(bad)
		enough := errors.New("enough")
		err := m.engine.read(func(db *pebble.DB) error {
			if err := db.CheckLevels(nil); err != nil {
				return err
			}
			for _, kind := range cachedKinds {
				err := scan(db, kind, func(key, value []byte) error {
					uid, ok := uidOf(key)
					if _, there := m.table.Row(uid); (!ok || !there) && !bad("a key without a row") {
						return enough
					}
					value, sealed := unseal(m.st.identity, kind, uid, value)
					if (!sealed || !wellFormed(kind, value)) && !bad("value of a key") {
						return enough
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			found = append(found, err)
		}
		for _, err := range found {
			if !yield(err) {
				return
			}
		}
	}
}

func wellFormed(kind byte, value []byte) bool {
	switch kind {
	case keyFields:
		var f index.Fields
		rest, ok := index.ParseFields(value, &f)
		return ok && len(rest) == 0 && f.DateOK
	case keyEnvelope:
		var env [10][]byte
		return parseEnvelope(value, &env)
	}
	return len(value) > 0
}

// Stats lists the files.
func (m *mailbox) Stats() (out []index.FileStat) {
	list, err := m.cfg.FS.ReadDir(m.cfg.Dir)
	if err != nil {
		return nil
	}
	for _, name := range list {
		if name != index.ValidityFile && !ours(name) {
			continue
		}
		if in, err := m.cfg.FS.Stat(filepath.Join(m.cfg.Dir, name)); err == nil {
			out = append(out, index.FileStat{Name: name, Bytes: in.Size})
		}
	}
	return out
}
