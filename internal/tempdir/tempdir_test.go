package tempdir

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

const childEnv = "MAILBENCH_TEST_TEMPDIR"

// TestMain is also the process that is killed: it makes a directory, tells
// its name, and waits.
func TestMain(m *testing.M) {
	if base := os.Getenv(childEnv); base != "" {
		d, err := Make(base, "run-")
		if err != nil {
			os.Exit(3)
		}
		os.Stdout.WriteString(d.Path + "\n")
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What a killed process left goes, what a living one holds stays, and so does
// what only looks alike.
func TestMakeRemovesWhatTheKilledLeft(t *testing.T) {
	base := t.TempDir()
	own := []string{"run-", "run-mine", "run-12x", "index-123"}
	for _, name := range own {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "run-77"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	start := func() (string, *exec.Cmd) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+base)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line[:len(line)-1], c
	}
	dead, c1 := start()
	alive, c2 := start()
	defer func() { c2.Process.Kill(); c2.Wait() }()
	if err := os.WriteFile(filepath.Join(dead, "big"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c1.Process.Kill()
	c1.Wait()
	unowned := filepath.Join(base, "run-new-5")
	young := filepath.Join(base, "run-new-6")
	for _, name := range []string{unowned, young} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(unowned, at, at); err != nil {
		t.Fatal(err)
	}
	d, err := Make(base, "run-")
	if err != nil {
		t.Fatal(err)
	}
	if d.hold != nil && exists(unowned) {
		t.Errorf("%s is left", unowned)
	}
	if d.hold != nil && exists(dead) {
		t.Errorf("%s is left", dead)
	}
	for _, path := range []string{alive, d.Path, young, filepath.Join(base, "run-77")} {
		if !exists(path) {
			t.Errorf("%s has gone", path)
		}
	}
	for _, name := range own {
		if !exists(filepath.Join(base, name)) {
			t.Errorf("%s has gone", name)
		}
	}
	if err := d.Remove(); err != nil || exists(d.Path) || d.Remove() != nil {
		t.Errorf("%s: %v", d.Path, err)
	}
}

// Nobody loses a directory because others make theirs.
func TestMakeAtOnce(t *testing.T) {
	base := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				d, err := Make(base, "run-")
				if err == nil {
					err = os.WriteFile(filepath.Join(d.Path, "f"), nil, 0o600)
				}
				if err == nil {
					err = d.Remove()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// A directory may be made in one that is held: a run's children work in its
// directory.
func TestMakeBelowAnother(t *testing.T) {
	d, err := Make(t.TempDir(), "run-")
	if err != nil {
		t.Fatal(err)
	}
	below, err := Make(d.Path, "run-")
	if err != nil || filepath.Dir(below.Path) != d.Path {
		t.Fatal(below, err)
	}
	if err := d.Remove(); err != nil || exists(d.Path) {
		t.Error(err)
	}
	if err := below.Remove(); err != nil {
		t.Error(err)
	}
}

// A run that is interrupted goes on writing until the process ends.
func TestRemoveBusy(t *testing.T) {
	base := t.TempDir()
	d, err := Make(base, "run-")
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := filepath.Join(d.Path, strconv.Itoa(i%7))
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("x"), 0o644)
		}
	}()
	time.Sleep(10 * time.Millisecond)
	if err := d.RemoveBusy(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(base)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	close(stop)
	<-stopped
}
