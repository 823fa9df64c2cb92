package proc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOrdinaryUser(t *testing.T) {
	u, err := OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if u != nil {
			t.Errorf("%+v, and we are not root", u)
		}
		if _, err := OrdinaryUser("root"); err == nil {
			t.Error("root accepted")
		}
		return
	}
	if u == nil || u.UID == 0 || u.Name != "nobody" {
		t.Errorf("%+v", u)
	}
	for _, name := range []string{"root", "0", "nobody-of-that-name", "-1"} {
		if u, err := OrdinaryUser(name); err == nil {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

func TestMakeDir(t *testing.T) {
	u, err := OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	d := diskDir(t, u)
	sub, err := d.Mkdir("dovecot")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{d.Path, sub} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Fatal(info, err)
		}
		if st := info.Sys().(*syscall.Stat_t); u != nil && (st.Uid != u.UID || st.Gid != u.GID) {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
	}
	if !strings.HasPrefix(filepath.Base(d.Path), "mailbench-peers-") {
		t.Error(d.Path)
	}
	// Whom it is for can work in it.
	c := shell("echo x >f && cat f")
	c.Dir, c.User = sub, u
	if got := wait(t, start(t, c)); got.Exit != 0 {
		t.Errorf("%+v", got)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(d.Path); !os.IsNotExist(err) {
		t.Error(err)
	}
	if err := d.Remove(); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

func TestReachable(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(base, 0o700); err != nil {
		t.Fatal(err)
	}
	mine := &User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Name: "me"}
	other := &User{UID: 54321, GID: 54321, Name: "other"}
	if err := reachable(base, other); err == nil || !strings.Contains(err.Error(), "user other may not pass") {
		t.Error(err)
	}
	for _, u := range []*User{mine, nil} {
		if err := reachable(filepath.Join(base, "not", "yet"), u); err != nil {
			t.Error(err)
		}
	}
	if err := reachable("/", other); err != nil {
		t.Error(err)
	}
	if d, err := MakeDir(filepath.Join(base, "below"), other); err == nil {
		t.Error("made ", d.Path)
	}
}

// Without its watchdog a killed program's child still ends (Pdeathsig), and its
// directory goes with the next one made in the same place.
func TestKilled_withoutWatchdog(t *testing.T) {
	k := startVictim(t, "plain", 950)
	dog := watchdogs(k.cmd.Process.Pid)
	if len(dog) != 1 {
		t.Fatalf("watchdogs: %v", dog)
	}
	if err := unix.Kill(dog[0], unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.cmd.Process.Kill()
	k.cmd.Wait()
	waitFor(t, "no child is left", within, func() bool { return sleepers(t, k.seconds) == 0 })
	if _, err := os.Lstat(k.dir); err != nil {
		t.Fatalf("somebody has removed it: %v", err)
	}
	d, err := MakeDir(filepath.Dir(k.dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	if _, err := os.Lstat(k.dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", k.dir, err)
	}
}
