package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mailbench/internal/fsys"
	"mailbench/store"
	"mailbench/store/formats"
)

// locks says whether this system has locks that end with a process.
var locks = runtime.GOOS == "linux"

// holder is set in the process that is to hold a Store: its format and directory.
const holder = "MAILBENCH_TEST_HOLD"

func TestMain(m *testing.M) {
	if name, dir, ok := strings.Cut(os.Getenv(holder), " "); ok {
		f, _ := formats.Lookup(name)
		_, err := store.Open(f, store.Config{Dir: dir, NoSync: true})
		fmt.Println(err)
		bufio.NewReader(os.Stdin).ReadByte() // until it is killed
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func locking() (fs []store.Format) {
	for _, f := range formats.All() {
		if s, ok := f.(store.Sharer); !ok || !s.Shares() {
			fs = append(fs, f)
		}
	}
	return fs
}

func add(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := s.Append([]store.Message{{Body: []byte("A: b\n\nbody\n")}}); err != nil {
		t.Error(err)
	}
}

// TestOpen_inUse: one Store has a directory, until it is closed.
func TestOpen_inUse(t *testing.T) {
	if !locks {
		t.Skip("no flock")
	}
	if len(locking()) < 5 {
		t.Errorf("only %d formats lock", len(locking()))
	}
	for _, f := range locking() {
		t.Run(f.Name(), func(t *testing.T) {
			cfg := store.Config{Dir: filepath.Join(t.TempDir(), "new", "mail"), NoSync: true}
			for range 3 {
				s, err := store.Open(f, cfg)
				if err != nil {
					t.Fatal(err)
				}
				add(t, s)
				if _, err := store.Open(f, cfg); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), cfg.Dir) {
					t.Errorf("the second: %v", err)
				}
				add(t, s)
				if err := errors.Join(s.Close(), s.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestOpen_inUseByProcess: the same with another process, until that is killed.
func TestOpen_inUseByProcess(t *testing.T) {
	if !locks {
		t.Skip("no flock")
	}
	f, _ := formats.Lookup("mbox")
	cfg := store.Config{Dir: t.TempDir(), NoSync: true}
	hold := func() (tells string, kill func()) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), holder+"=mbox "+cfg.Dir)
		out, err := c.StdoutPipe()
		if err == nil {
			_, err = c.StdinPipe()
		}
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		tells, _ = bufio.NewReader(out).ReadString('\n')
		return tells, func() { c.Process.Kill(); c.Wait() }
	}
	tells, kill := hold()
	if tells != "<nil>\n" {
		t.Errorf("it tells %q", tells)
	}
	_, err := store.Open(f, cfg)
	kill()
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("beside another process: %v", err)
	}
	s, err := store.Open(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tells, kill = hold()
	kill()
	if !strings.Contains(tells, store.ErrInUse.Error()) {
		t.Errorf("the other process tells %q", tells)
	}
}

// TestOpen_failed: an Open that fails holds nothing, and one that is told not to
// lock asks nobody.
func TestOpen_failed(t *testing.T) {
	boom := errors.New("boom")
	for _, f := range locking() {
		cfg := store.Config{Dir: t.TempDir(), NoSync: true}
		bad := cfg
		bad.FS = fsys.Failing(fsys.OS, func(op fsys.Op, _ string, _ int64, _ int) error {
			if op.Changes() {
				return boom
			}
			return nil
		})
		if _, err := store.Open(f, bad); !errors.Is(err, boom) {
			t.Errorf("%s: %v", f.Name(), err)
		}
		s, err := store.Open(f, cfg)
		if err != nil {
			t.Errorf("%s: after an Open that failed: %v", f.Name(), err)
			continue
		}
		cfg.Unlocked = true
		other, err := store.Open(f, cfg)
		if err != nil {
			t.Errorf("%s: unlocked: %v", f.Name(), err)
			continue
		}
		other.Close()
		s.Close()
	}
}
