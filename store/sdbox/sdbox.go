// Package sdbox is the mail store of one file for each message, each with
// enough about itself that the mailbox can be made again from the files: after
// the description of Dovecot's single-dbox, written anew and not its format to
// the byte.
//
//	sdbox.list   id, flags, keywords, date, sizes (catalog.List)
//	u.1          message 1: a line about the file, head, mail, metadata (catalog/dbox.go)
//	u.2          ...
//
// # Invariants
//
// D1. A message is in the mailbox if it is in the list, or if its file is whole
// and its id one that the list has not seen: then the crash came between the
// file and the list. The next opening takes it in, with the flags of the append,
// which are in the file. So an append need not wait for the list.
//
// D2. A file that is not in the list, with an id that the list has seen, is left
// over from a removal, or from an append that failed. When the mailbox is opened the
// next time, unless it was closed in order, it is removed if the list has taken it
// out, or if it is torn; else it is put aside as u.N.left, of which Check does not
// tell. Files that do not begin like one of sdbox's are left, and told of.
//
// D3. A list that is damaged, shorter than it had lasted or missing is made again from the files: all that
// are whole, with the flags of the append; changes of flags are lost, and what
// was expunged comes back if its file had. Files that are not whole are put aside
// as u.N.damaged, of which Check tells. Keys go on above the files that there are: one
// above them all that was expunged is given again.
//
// D4. A message is checked as a whole (xxhash64) when it is read as a whole; a
// header that is read alone is not.
//
// Append of n messages costs n+1 syncs: each file, and the directory. When
// several append at the same time and a later id comes first into the list, it
// costs one more, of the list (catalog, L6). SetFlags and Expunge cost one, of the list.
//
// # Not done
//
// Alternate storage, attachments kept apart, POP3 UIDLs.
package sdbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=sdbox.
var Format store.Format = format{}

type format struct{}

func (format) Name() string { return "sdbox" }

func (format) Open(cfg store.Config) (store.Store, error) {
	s, err := catalog.OpenPerFile(cfg, &layout{now: cfg.Now, guids: catalog.NewGUIDs()})
	if err != nil {
		return nil, fmt.Errorf("sdbox: %w", err)
	}
	return s, nil
}

type layout struct {
	now   func() time.Time
	guids catalog.GUIDs
}

func (*layout) Kind() string          { return "sdbox" }
func (*layout) File(id uint64) string { return "u." + strconv.FormatUint(id, 10) }

func (*layout) ID(name string) uint64 {
	digits, ok := strings.CutPrefix(name, "u.")
	if !ok {
		return 0
	}
	return catalog.KeyID(digits)
}

func (l *layout) Encode(dst []byte, id uint64, m *store.Message, r *catalog.Row) ([]byte, error) {
	start := len(dst)
	dst = append(dst, catalog.DboxFile(l.now())...)
	r.Off = int64(len(dst)-start) + catalog.DboxHead
	return catalog.AppendDbox(dst, id, l.guids.Of(id), m.Body, r)
}

func (*layout) Decode(file []byte) (catalog.Row, error) {
	n := catalog.DboxFileLen(file)
	if n == 0 {
		return catalog.Row{}, errors.New("no dbox file, or of another version")
	}
	r, length, err := catalog.ParseDbox(file[n:])
	if err == nil && int64(n)+length != int64(len(file)) {
		err = fmt.Errorf("%d bytes behind the message", int64(len(file)-n)-length)
	}
	r.Off = int64(n) + catalog.DboxHead
	return r, err
}

func (*layout) Finds() bool { return true }

func (*layout) Torn(file []byte) bool    { return catalog.DboxTorn(file) }
func (*layout) Foreign(file []byte) bool { return catalog.DboxForeign(file) }
