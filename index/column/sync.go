package column

import "mailbench/index"

// Sync brings the index up to date; the cache follows when something is asked
// that needs it. A damaged index is built anew under another UIDVALIDITY, which
// makes cache and answers stale.
func (m *mailbox) Sync() (index.Changes, error) {
	return m.base.Sync(m.cfg.Source)
}
