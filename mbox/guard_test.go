package mbox

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
)

// old opens an mbox whose time says of every later change.
func old(t *testing.T) (*File, string) {
	t.Helper()
	path := write(t, "a.mbox", listMail(200))
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !f.Mapped() {
		t.Skip("no map on this system: Guard has nothing to do")
	}
	return f, path
}

// guarded runs Guard and tells what came out of it.
func guarded(f *File, fn func()) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, f.Guard(fn)
}

// beyond indexes past what the file has, as code would that believed an
// earlier look at it.
func beyond(f *File) func() {
	n := len(f.Data())
	return func() { _ = f.Data()[n] }
}

// An error of the program is no change of the file.
func TestGuard_passesErrorsOfTheProgram(t *testing.T) {
	f, _ := old(t)
	var nilMap map[int]int
	var nilFile *File
	for name, fn := range map[string]func(){
		"index": beyond(f),
		"map":   func() { nilMap[1] = 1 },
		"nil":   func() { _ = nilFile.path },
	} {
		panicked, err := guarded(f, fn)
		if _, ok := panicked.(runtime.Error); !ok || err != nil {
			t.Errorf("%s: error %v, panic %v; want a panic of the runtime", name, err, panicked)
		}
	}
	if panicked, err := guarded(f, func() { panic("mine") }); err != nil || panicked != "mine" {
		t.Errorf("error %v, panic %v", err, panicked)
	}
}

// The same panic is ErrChanged when the file has changed: another size, time
// or inode, or gone.
func TestGuard_changedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"size": func(path string) error { return os.Truncate(path, 10) },
		"time": func(path string) error { return os.Chtimes(path, time.Now(), time.Now()) },
		"gone": os.Remove,
		"another": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+"~", b, 0o600)
			}
			return errors.Join(err, os.Chtimes(path+"~", info.ModTime(), info.ModTime()), os.Rename(path+"~", path))
		},
	} {
		f, path := old(t)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if panicked, err := guarded(f, beyond(f)); !errors.Is(err, ErrChanged) || panicked != nil {
			t.Errorf("%s: error %v, panic %v; want ErrChanged", name, err, panicked)
		}
	}
}

// A page that the device does not deliver leaves the file as it was. Here the
// file is cut, and its stat is made the one at open.
func TestGuard_unreadable(t *testing.T) {
	f, path := old(t)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	info, err := f.o.FS.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f.info = info
	if _, err := f.Scan(func(Message) bool { return true }); !errors.Is(err, ErrUnreadable) {
		t.Errorf("%v, want ErrUnreadable", err)
	}
}

// A file that was written a moment before it was opened may change without a
// change of its time.
func TestGuard_youngFile(t *testing.T) {
	f, _ := old(t)
	f.young = true
	if panicked, err := guarded(f, beyond(f)); !errors.Is(err, ErrChanged) || panicked != nil {
		t.Errorf("error %v, panic %v; want ErrChanged", err, panicked)
	}
}
