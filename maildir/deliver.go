package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"mailbench/internal/fsys"
)

// SyncPolicy says what a delivery waits for.
type SyncPolicy uint8

const (
	SyncAlways SyncPolicy = iota // fsync of the file and of new/: a message once delivered survives a crash
	SyncNever                    // whatever the system does by itself
)

// DeliverOptions say how mail is delivered. The zero value delivers safely
// under names like Dovecot's.
type DeliverOptions struct {
	FS      fsys.FS          // nil: fsys.OS
	Sync    SyncPolicy       //
	Host    string           // last part of the name; "": os.Hostname
	Now     func() time.Time // nil: time.Now
	NoSizes bool             // leave out ,S= and ,W=
}

// A Deliverer puts messages into one maildir. It is safe for concurrent use,
// also beside other processes.
type Deliverer struct {
	opt           DeliverOptions
	tmp, new, cur string
	host          string
}

// NewDeliverer makes cur/, new/ and tmp/ where they are missing.
func NewDeliverer(path string, opt DeliverOptions) (*Deliverer, error) {
	if opt.FS == nil {
		opt.FS = fsys.OS
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	d := &Deliverer{opt: opt, host: opt.Host,
		tmp: filepath.Join(path, "tmp"), new: filepath.Join(path, "new"), cur: filepath.Join(path, "cur")}
	if d.host == "" {
		d.host, _ = os.Hostname() // any name does; the process and the time make it unique
	}
	// The characters with a meaning are written as the maildir page asks.
	d.host = strings.NewReplacer("/", `\057`, ":", `\072`, ",", `\054`).Replace(d.host)
	if d.host == "" {
		d.host = "localhost"
	}
	for _, dir := range []string{d.cur, d.new, d.tmp} {
		if err := opt.FS.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// lastMicro is the time of the last name in this process.
var lastMicro atomic.Int64

// unique returns a base name that no delivery of this process has had: the
// microsecond is moved on rather than used twice. Other processes differ in
// their number, other machines in their name.
func (d *Deliverer) unique() string {
	now := d.opt.Now().UnixMicro()
	for {
		last := lastMicro.Load()
		if now <= last {
			now = last + 1
		}
		if lastMicro.CompareAndSwap(last, now) {
			return fmt.Sprintf("%d.M%dP%d.%s", now/1e6, now%1e6, os.Getpid(), d.host)
		}
	}
}

// Deliver writes msg to tmp/, makes it last as the policy says, and renames it
// into new/. It returns the base name. After an error nothing is in new/,
// except when only the last fsync failed: then the name is returned with it.
func (d *Deliverer) Deliver(msg []byte) (base string, err error) {
	base = d.unique()
	if !d.opt.NoSizes {
		base = fmt.Sprintf("%s,S=%d,W=%d", base, len(msg), CRLFSize(msg))
	}
	fsys, temp := d.opt.FS, filepath.Join(d.tmp, base)
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(msg)
	if err == nil && d.opt.Sync == SyncAlways {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = fsys.Rename(temp, filepath.Join(d.new, base))
	}
	if err != nil {
		fsys.Remove(temp)
		return "", err
	}
	if d.opt.Sync == SyncAlways {
		return base, fsys.SyncDir(d.new)
	}
	return base, nil
}

// Deliver delivers one message; see Deliverer.
func Deliver(path string, msg []byte, opt DeliverOptions) (base string, err error) {
	d, err := NewDeliverer(path, opt)
	if err != nil {
		return "", err
	}
	return d.Deliver(msg)
}

// MoveNew does what a mail reader does first: it moves all of new/ to cur/,
// keeping the flags that names have and adding ":2," where there is no info.
// It is for scratch mailboxes; nothing in this module calls it on a user's. It
// returns how many it moved; files that vanish meanwhile are passed over.
func MoveNew(path string, o Options) (moved int, err error) {
	names, err := fsys.OS.ReadDir(filepath.Join(path, "new"))
	if err != nil {
		return 0, err
	}
	for _, file := range names {
		from := filepath.Join(path, "new", file)
		if st, err := fsys.OS.Stat(from); file[0] == '.' || err != nil || st.Dir {
			continue
		}
		to, n := file, Parse(file, o)
		if n.Base == "" { // no message: see Scan
			continue
		}
		if !n.HasInfo {
			to = Name{Base: file, HasInfo: true}.File(o)
		}
		err := fsys.OS.Rename(from, filepath.Join(path, "cur", to))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return moved, err
		}
		moved++
	}
	return moved, nil
}
