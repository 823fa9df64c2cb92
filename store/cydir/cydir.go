// Package cydir is the mail store of one file for each message, with nothing
// in it but the mail.
//
// It is the format that Dovecot's author once made to see how fast a mailbox
// could be: the fastest in the benchmarks of 2007, and gone from Dovecot since
// 2020. Everything but the mail is in the index there; here it is in a list of
// the store's own:
//
//	cydir.list   uid, flags, keywords, date, sizes (catalog.List)
//	1.           the mail with UID 1, as it came
//	2.           ...
//
// # Invariants
//
// Y1. A message is in the mailbox if it is in the list. Its file lasts, and so
// does the file's name, before the row does.
//
// Y2. A file that is not in the list is left over: an append that a crash
// stopped, or a removal that was not finished. When the mailbox is opened the
// next time, unless it was closed in order, those that the list has taken out are
// removed. The others could be mail whose rows a list has lost that somebody cut;
// they get the name N..left and no key up to N is given any more: a person may
// look at them and remove them. Check does not tell of them. Other files with such
// names are left, and told of.
//
// Y3. A list that is damaged, or shorter than it had lasted, is an error with file
// and offset, and so is, after a crash, a row without a file: nothing else
// knows which files are mail and which are left over. A file that is longer or
// shorter than its row is one, too; a byte of mail that has changed is not
// noticed.
//
// Append of n messages costs n+2 syncs: each file, the directory, the list.
// SetFlags and Expunge cost one, of the list.
package cydir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=cydir.
var Format store.Format = format{}

type format struct{}

func (format) Name() string { return "cydir" }

func (format) Open(cfg store.Config) (store.Store, error) {
	s, err := catalog.OpenPerFile(cfg, layout{})
	if err != nil {
		return nil, fmt.Errorf("cydir: %w", err)
	}
	return s, nil
}

type layout struct{}

func (layout) Kind() string          { return "cydir" }
func (layout) File(id uint64) string { return strconv.FormatUint(id, 10) + "." }

func (layout) ID(name string) uint64 {
	digits, ok := strings.CutSuffix(name, ".")
	if !ok {
		return 0
	}
	return catalog.KeyID(digits)
}

func (layout) Encode(dst []byte, _ uint64, m *store.Message, r *catalog.Row) ([]byte, error) {
	r.Off = 0
	return append(dst, m.Body...), nil
}

func (layout) Decode([]byte) (catalog.Row, error) {
	return catalog.Row{}, fmt.Errorf("cydir: a file tells nothing but its mail: %w", errors.ErrUnsupported)
}

func (layout) Finds() bool { return false }

// Torn and Foreign: every file could be mail.
func (layout) Torn([]byte) bool    { return false }
func (layout) Foreign([]byte) bool { return false }
