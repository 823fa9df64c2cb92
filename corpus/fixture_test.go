package corpus

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary run with this set makes a fixture there until it is killed.
const makerEnv = "MAILBENCH_TEST_MAKER"

func TestMain(m *testing.M) {
	if root := os.Getenv(makerEnv); root != "" {
		if _, err := Cached(context.Background(), root, Spec{Messages: 2_000_000}, "maildir", nil); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestCached(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cache")
	spec := Spec{Messages: 500}
	for _, format := range []string{"maildir", "mbox"} {
		first, err := Cached(t.Context(), root, spec, format, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &counting{}
		again, err := Cached(t.Context(), root, spec, format, p)
		if err != nil || p.total != 0 || again.Path != first.Path || again.Digest != first.Digest || len(again.Answers) != len(Questions) {
			t.Errorf("%s: %+v then %+v, %v", format, first, again, err)
		}
		truth, err := NewTruth(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range Questions {
			if want, _ := truth.Digest(q); again.Answers[q] != want {
				t.Errorf("%s: %s: %s, want %s", format, q, again.Answers[q], want)
			}
		}
		if again.Digest != truth.Info.Digest || again.Bytes != truth.Info.Bytes {
			t.Errorf("%s: %+v, want %+v", format, again, truth.Info)
		}
		// Without its marker it is made again.
		if err := os.Remove(filepath.Join(filepath.Dir(first.Path), readyFile)); err != nil {
			t.Fatal(err)
		}
		if _, err := Cached(t.Context(), root, spec, format, p); err != nil || p.total != 500 {
			t.Errorf("%s: %v, %+v", format, err, p)
		}
	}
	if _, err := Cached(t.Context(), root, spec, "mbx", nil); !errors.Is(err, ErrSpec) {
		t.Errorf("format mbx: %v", err)
	}
}

func TestCached_twoMakers(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	made := make([]counting, 4)
	for i := range made {
		wg.Go(func() {
			if _, err := Cached(t.Context(), root, Spec{Messages: 1000}, "maildir", &made[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	makers := 0
	for i := range made {
		if made[i].total > 0 {
			makers++
		}
	}
	if makers != 1 {
		t.Errorf("%d makers", makers)
	}
}

func TestCached_stopped(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Cached(ctx, root, Spec{Messages: 5000}, "maildir", &counting{after: 500, stop: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if list, _ := filepath.Glob(filepath.Join(root, "*tmp*")); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}

func TestCached_killed(t *testing.T) {
	root := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maker := exec.Command(self)
	maker.Env = append(os.Environ(), makerEnv+"="+root)
	var stderr strings.Builder
	maker.Stderr = &stderr
	if err := maker.Start(); err != nil {
		t.Fatal(err)
	}
	begun := false
	for deadline := time.Now().Add(30 * time.Second); !begun && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		list, _ := filepath.Glob(filepath.Join(root, "*.tmp-*", "mail", "cur", "1*"))
		begun = len(list) > 100
	}
	_ = maker.Process.Kill()
	_ = maker.Wait() // it was killed
	if !begun {
		if strings.Contains(stderr.String(), ErrNoSpace.Error()) {
			t.Skip("not enough disk for the corpus of the process to kill")
		}
		t.Fatalf("the maker did not begin: %s", &stderr)
	}
	if list, _ := filepath.Glob(filepath.Join(root, "*", readyFile)); len(list) > 0 {
		t.Fatalf("ready: %v", list)
	}
	// What is left does not look like a fixture, and the next maker removes it.
	// (Its own spec, but small enough to be made here: only sweep is looked at.)
	name := Spec{Messages: 2_000_000}.Name() + ".maildir"
	if f := readFixture(filepath.Join(root, name), Fixture{}); f != nil {
		t.Fatal("a half corpus was taken for a whole one")
	}
	unlock, err := lock(t.Context(), filepath.Join(root, name+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := sweep(root, name); err != nil {
		t.Fatal(err)
	}
	if list, _ := filepath.Glob(filepath.Join(root, "*tmp*")); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}

func TestLock_waiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestCheckSpace(t *testing.T) {
	dir := t.TempDir()
	if err := checkSpace(dir, Spec{Messages: 10}, "maildir"); err != nil {
		t.Error(err)
	}
	free, _, err := freeSpace(dir)
	if err != nil || free < 0 {
		t.Skip("the free space cannot be asked here")
	}
	spec := Spec{Messages: MaxMessages, Body: BodyReal}
	if spec.DiskBytes("maildir") < free {
		t.Skip("this disk holds the largest corpus there is")
	}
	_, err = Cached(t.Context(), dir, spec, "maildir", nil)
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "free") {
		t.Errorf("too large: %v", err)
	}
}

// DiskBytes must not promise too little.
func TestDiskBytes(t *testing.T) {
	for _, spec := range []Spec{{Messages: 20000}, {Messages: 20000, Body: BodyReal}, {Messages: 20000, Body: BodyNone}, {Messages: 2000, Shape: Deep}, {Messages: 2000, Shape: ManyRefs}} {
		truth, err := NewTruth(spec)
		if err != nil {
			t.Fatal(err)
		}
		if guess := spec.DiskBytes("mbox"); truth.Info.Bytes > guess || guess > 3*truth.Info.Bytes+8<<20 {
			t.Errorf("%s: %d octets, guessed %d", spec, truth.Info.Bytes, guess)
		}
	}
}

func sameTree(t *testing.T, a, b string) {
	t.Helper()
	err := filepath.WalkDir(a, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(a, path)
		x, errX := os.Stat(path)
		y, errY := os.Stat(filepath.Join(b, rel))
		if errX != nil || errY != nil || x.Mode() != y.Mode() || !x.ModTime().Equal(y.ModTime()) || !e.IsDir() && x.Size() != y.Size() {
			t.Errorf("%s differs: %v %v", rel, errX, errY)
		} else if !e.IsDir() {
			p, errP := os.ReadFile(path)
			q, errQ := os.ReadFile(filepath.Join(b, rel))
			if errP != nil || errQ != nil || string(p) != string(q) {
				t.Errorf("%s: other bytes", rel)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestClone(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	if _, err := WriteMaildir(t.Context(), src, Spec{Messages: 300}, nil); err != nil {
		t.Fatal(err)
	}
	for i, how := range []CloneHow{CloneAuto, CloneCopy, CloneReflink, CloneHardlink} {
		dst := filepath.Join(dir, "clones", string(rune('a'+i)))
		err := Clone(t.Context(), src, dst, how)
		if how == CloneReflink && err != nil {
			if _, err := os.Stat(dst); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a failed clone is left: %v", err)
			}
			continue // this file system has none
		}
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, src, dst)
		if err := Clone(t.Context(), src, dst, how); !errors.Is(err, fs.ErrExist) {
			t.Errorf("cloning onto a clone: %v", err)
		}
	}
	mbox := filepath.Join(dir, "mbox")
	if _, err := WriteMbox(t.Context(), mbox, Spec{Messages: 100}, nil); err != nil {
		t.Fatal(err)
	}
	if err := Clone(t.Context(), mbox, mbox+"2", CloneAuto); err != nil {
		t.Fatal(err)
	}
	sameTree(t, mbox, mbox+"2")
	if err := Clone(t.Context(), filepath.Join(dir, "nothing"), filepath.Join(dir, "x"), CloneAuto); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cloning nothing: %v", err)
	}
	if err := os.Symlink("cur", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	if err := Clone(t.Context(), src, filepath.Join(dir, "y"), CloneAuto); err == nil {
		t.Error("a symbolic link was cloned")
	}
}
