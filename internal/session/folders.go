package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/box"
	maildirstore "mailbench/store/maildir"
)

// folderDir is the directory of a mailbox below INBOX. ok false: no mailbox can
// have that name. Maildir++ has the parts of a name behind dots: one that has a
// dot in it, or nothing, would be another mailbox or none.
func (m *Mailboxes) folderDir(name string) (dir string, ok bool) {
	if strings.ContainsAny(name, ".\x00") || strings.Contains("/"+name+"/", "//") || len(name) > 200 || strings.EqualFold(name, "INBOX") {
		return "", false
	}
	if m.boxed && m.cfg.Store.Name() != maildirstore.Format.Name() {
		return "", false
	}
	return filepath.Join(m.cfg.Path, "."+strings.ReplaceAll(name, "/", ".")), true
}

// create is CREATE: a Maildir++ folder.
func (m *Mailboxes) create(name string) error {
	if !m.cfg.Write {
		return refusal(errReadOnly.Error())
	}
	dir, ok := m.folderDir(strings.TrimSuffix(name, string(separator)))
	if !ok {
		return refusal("[CANNOT] no mailbox of that name can be made here")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refusal("[ALREADYEXISTS] the mailbox is there")
		}
		return err
	}
	for _, d := range []string{"tmp", "new", "cur"} { // cur last: it makes it one
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// remove is DELETE. A connection that has it selected sees it fail.
func (m *Mailboxes) remove(name string) error {
	if !m.cfg.Write {
		return refusal(errReadOnly.Error())
	}
	f, err := m.folder(name)
	if err != nil {
		return lacks(err)
	}
	dir, ok := m.folderDir(name)
	if !ok || f.path != dir {
		return refusal("[CANNOT] this mailbox cannot be deleted")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, name)
	if err := f.close(); err != nil {
		return err
	}
	// First the name, at once: half a mailbox is none.
	gone := filepath.Join(m.cfg.Path, "..deleted"+filepath.Base(dir))
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	// The index stays behind its UIDVALIDITY file, so that the next mailbox of
	// this name has a greater one.
	return os.RemoveAll(gone)
}

// copyTo is COPY: all of the messages or none. It returns the UIDVALIDITY of the
// target and the UIDs there, in the order of those that it copied.
func (c *conn) copyTo(uids []uint32, name string) (validity uint32, from, to []uint32, err error) {
	target, err := c.m.folder(name)
	if err != nil {
		if errors.Is(err, errNoSuch) {
			return 0, nil, nil, refusal("[TRYCREATE] " + errNoSuch.Error())
		}
		return 0, nil, nil, lacks(err)
	}
	if !c.m.cfg.Write {
		return 0, nil, nil, refusal(errReadOnly.Error())
	}
	if err := target.haveWords(); err != nil {
		return 0, nil, nil, lacks(err)
	}
	for len(uids) > 0 && err == nil {
		n := min(chunk, len(uids))
		err = c.copySome(uids[:n], target, func(uid, copied, val uint32) {
			from, to, validity = append(from, uid), append(to, copied), val
		})
		uids = uids[n:]
	}
	if err != nil {
		if len(to) > 0 {
			err = errors.Join(err, target.write(func(b *box.Box) error { return b.Expunge(to) }))
		}
		return 0, nil, nil, lacks(err)
	}
	return validity, from, to, nil
}

func (c *conn) copySome(uids []uint32, target *folder, done func(uid, copied, validity uint32)) error {
	v := c.view
	var mails []mail
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		var err error
		mails, err = v.mails(uids, nil)
		c.words = v.f.words
		return err
	})
	if err != nil {
		return err
	}
	if len(mails) < len(uids) {
		return refusal("[EXPUNGEISSUED] some of the messages are no longer there")
	}
	for i := range mails {
		msg, err := c.whole(&mails[i])
		if err != nil {
			return err
		}
		var names []string
		c.words.each(mails[i].words, func(name string) { names = append(names, name) })
		if _, msg.Keywords, err = target.parseFlags(names); err != nil {
			return err
		}
		uid, validity, err := target.append(msg)
		if err != nil {
			return err
		}
		done(mails[i].uid, uid, validity)
	}
	return nil
}

// whole is a message as APPEND takes it.
func (c *conn) whole(m *mail) (msg store.Message, err error) {
	f := c.view.f
	if err := f.ready(false); err != nil {
		return msg, err
	}
	defer f.life.RUnlock()
	cand := candidate{mail: *m, src: f.source(), s: &c.mail, size: -1}
	if err := cand.readBody(); err != nil {
		return msg, err
	}
	msg.Body, msg.Flags = cand.body, m.flags
	msg.Date, err = cand.internalDate()
	return msg, err
}
