package mbox

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The mail is the user's: nothing about the file may change, not even the time
// of the last access where O_NOATIME is allowed (own files).
func TestOpen_leavesNoTrace(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
	}{{"a.mbox", listMail(20)}, {"a.gz", gz(listMail(20))}, {"a.zst", zst(1<<20, listMail(20))}} {
		path := write(t, test.name, test.data)
		// An access time before the modification is what relatime would move.
		if err := unix.UtimesNano(path, []unix.Timespec{unix.NsecToTimespec(1e18), unix.NsecToTimespec(1.1e18)}); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		var before, after unix.Stat_t
		if err := unix.Stat(path, &before); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, m := range f.Messages() {
			sum += len(Unquote(nil, f.Bytes(m), MboxRD))
		}
		f.Close()
		if err := unix.Stat(path, &after); err != nil {
			t.Fatal(err)
		}
		if before != after || sum == 0 {
			t.Errorf("%s: stat was %+v, is %+v", test.name, before, after)
		}
	}
}

// Files of /proc have content and a size of 0: no empty mailbox.
func TestOpen_contentWithoutSize(t *testing.T) {
	if b, err := os.ReadFile("/proc/self/status"); err != nil || len(b) == 0 {
		t.Skip("no /proc here")
	}
	if f, err := Open("/proc/self/status", Options{}); err == nil {
		f.Close()
		t.Error("taken for an empty mbox")
	}
}
