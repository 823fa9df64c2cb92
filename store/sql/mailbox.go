package sqlstore

import (
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"mailbench/internal/fsys"
)

// inbox is the name of the only mailbox of an SQLite file: the directory can be
// moved and copied with it.
const inbox = "INBOX"

// identity is the file in Config.Dir that says which mailbox of a server it
// stands for: two lines, the name, and the path that the directory had when it
// got that name. A directory with another path is a copy, and gets a copy of
// the mailbox: rows of mailbench_messages that share the mail, as IMAP's COPY
// does in dbmail. So a grown mailbox can be copied with cp, on a server too.
const identity = "mailbox"

const identityHead = "mailbench sql mailbox 1\n"

// maxMailbox bounds a mailbox's name: what a unique index of MariaDB takes.
const maxMailbox = 1000

// mailbox finds or makes the mailbox and sets s.id.
func (s *Store) mailbox(name string, embedded bool) error {
	if embedded && name == "" {
		name = inbox
	}
	if len(name) > maxMailbox {
		return fmt.Errorf("mailbox: a name of %d bytes: %d are possible", len(name), maxMailbox)
	}
	if name != "" {
		id, err := s.findMailbox(name)
		if err == nil && id == 0 {
			id, err = s.makeMailbox(name, 0)
		}
		s.id = id
		return err
	}
	path, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	known, at, err := s.readIdentity()
	if err != nil {
		return err
	}
	if known != "" {
		if s.id, err = s.findMailbox(known); err != nil {
			return err
		}
		if s.id == 0 {
			return fmt.Errorf("%s: mailbox %s is not in this database", filepath.Join(s.dir, identity), known)
		}
		if at == path {
			return nil
		}
	}
	var random [16]byte
	rand.Read(random[:])
	name = hex.EncodeToString(random[:])
	// The mailbox first: a crash leaves one that nobody names, not a name
	// without a mailbox.
	if s.id, err = s.makeMailbox(name, s.id); err != nil {
		return err
	}
	return fsys.WriteFileAtomic(s.fs, filepath.Join(s.dir, identity), func(w io.Writer) error {
		_, err := io.WriteString(w, identityHead+name+"\n"+path+"\n")
		return err
	})
}

// readIdentity returns "" when the directory stands for no mailbox yet.
func (s *Store) readIdentity() (name, path string, err error) {
	file := filepath.Join(s.dir, identity)
	f, err := s.fs.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, 0, 1<<20), 1<<20))
	if err != nil {
		return "", "", err
	}
	return parseIdentity(file, string(b))
}

func parseIdentity(file, text string) (name, path string, err error) {
	rest, ok := strings.CutPrefix(text, identityHead)
	if !ok {
		return "", "", fmt.Errorf("%s: offset 0: it does not begin with %q", file, strings.TrimSpace(identityHead))
	}
	name, rest, ok = strings.Cut(rest, "\n")
	if _, err := hex.DecodeString(name); err != nil || len(name) != 32 || !ok {
		return "", "", fmt.Errorf("%s: offset %d: no name of a mailbox", file, len(identityHead))
	}
	path, rest, ok = strings.Cut(rest, "\n")
	if !ok || path == "" || rest != "" {
		return "", "", fmt.Errorf("%s: offset %d: no path", file, len(identityHead)+len(name)+1)
	}
	return name, path, nil
}

// findMailbox returns 0 when there is no mailbox of that name.
func (s *Store) findMailbox(name string) (id int64, err error) {
	err = s.db.read(func(c *session) error {
		id, _, err = c.integer("SELECT mailbox_id FROM mailbench_mailboxes WHERE name = ?", name)
		return err
	})
	return id, err
}

// makeMailbox makes a mailbox, with the messages of another one (0: none).
func (s *Store) makeMailbox(name string, from int64) (id int64, err error) {
	if id, err = s.ids(1); err != nil {
		return 0, err
	}
	found := id
	err = s.db.change(func(c *session) error {
		epoch := int64(0)
		if from != 0 {
			// Its keys go on above those of the copied messages.
			if epoch, _, err = c.integer("SELECT epoch FROM mailbench_mailboxes WHERE mailbox_id = ?", from); err != nil {
				return err
			}
		}
		n, err := c.insertRows(&insertMailbox, 1, nil, func(args []any, _ int) []any { return append(args, id, name, epoch) })
		if err != nil {
			return err
		}
		if n == 0 { // somebody else was faster
			found, _, err = c.integer("SELECT mailbox_id FROM mailbench_mailboxes WHERE name = ?", name)
			return err
		}
		if from == 0 {
			return nil
		}
		_, err = c.exec(`INSERT INTO mailbench_messages (mailbox_id, uid, physmessage_id, flags, keywords, status)
			SELECT b.mailbox_id, m.uid, m.physmessage_id, m.flags, m.keywords, m.status FROM mailbench_messages m, mailbench_mailboxes b
			WHERE b.mailbox_id = ? AND m.mailbox_id = ? AND m.status = ?`, id, from, statusLive)
		return err
	})
	return found, err
}

var insertMailbox = insert{"INTO mailbench_mailboxes (mailbox_id, name, epoch)", 3, true}

// nextEpoch takes an epoch that no opening of this mailbox has had: the upper
// half of the keys that it gives. So keys are never used twice, whatever was
// expunged and purged, whatever a killed process's server does later, and even
// when two processes have the mailbox open, which they must not.
func (s *Store) nextEpoch() (epoch int64, err error) {
	err = s.db.change(func(c *session) error {
		n, err := c.exec("UPDATE mailbench_mailboxes SET epoch = epoch + 1 WHERE mailbox_id = ?", s.id)
		if err != nil {
			return err
		}
		if n != 1 {
			return errors.New("the mailbox is not in the database any more")
		}
		epoch, _, err = c.integer("SELECT epoch FROM mailbench_mailboxes WHERE mailbox_id = ?", s.id)
		return err
	})
	return epoch, err
}

// load fills the catalog.
func (s *Store) load() error {
	type loaded struct{ uid, phys, flags, keywords, size, vsize, date int64 }
	var all []loaded
	err := s.db.read(func(c *session) error {
		all = all[:0]
		return c.query(`SELECT m.uid, m.physmessage_id, m.flags, m.keywords, p.messagesize, p.rfcsize, p.internal_date
			FROM mailbench_messages m JOIN mailbench_physmessage p ON p.id = m.physmessage_id
			WHERE m.mailbox_id = ? AND m.status = ? ORDER BY m.uid`, func(row []driver.Value) error {
			var l loaded
			err := ints(row, &l.uid, &l.phys, &l.flags, &l.keywords, &l.size, &l.vsize, &l.date)
			all = append(all, l)
			return err
		}, s.id, statusLive)
	})
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.size < 0 || l.uid < 0 {
			return fmt.Errorf("%w: uid %d has %d bytes", errDamaged, l.uid, l.size)
		}
		s.cat.Add(makeRow(l.uid, l.phys, l.flags, l.keywords, l.size, l.vsize, l.date))
	}
	return nil
}
