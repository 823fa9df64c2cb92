package temp

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// imageEnv makes the test binary a process that holds an image and waits.
const imageEnv = "MAILBENCH_TEST_IMAGE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(imageEnv); dir != "" {
		im, err := NewImage(dir, ImageBytes(10, 1<<20), 10)
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		fmt.Println(im.Device)
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// imageDir is a directory on a disk in which images can be made.
func imageDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", "testdata-image-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	if why := CanImage(dir); why != "" {
		t.Skip(why)
	}
	return dir
}

// reader is a Pauser with one open file.
type reader struct {
	path          string
	f             *os.File
	pause, resume int
}

func (r *reader) Pause() error { r.pause++; return r.f.Close() }

func (r *reader) Resume() (err error) {
	r.resume++
	r.f, err = os.Open(r.path)
	return err
}

// TestImage fills an image, cools it and reads it: data, names and inodes must
// come from the device each time, and from memory the second time.
func TestImage(t *testing.T) {
	dir := imageDir(t)
	const files, size = 2000, 5_000 // names of several blocks
	im, err := NewImage(dir, ImageBytes(files, files*size), files)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := im.Close(); err != nil {
			t.Error(err)
		}
	}()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v: an image in use has a name", left)
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(b), im.Device+" ") {
		t.Errorf("%v: the mount is seen by others", err)
	}
	mail := filepath.Join(im.Root(), "cur")
	if err := os.Mkdir(mail, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(mail, fmt.Sprintf("%0100d", i)), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := im.Files(im.Root(), "cur")
	if err != nil || set.Len() != files {
		t.Fatal(set.Len(), err)
	}
	if why := set.Unfit(Cold, 0, false); why != "" {
		t.Error(why)
	}
	held := &reader{path: filepath.Join(mail, fmt.Sprintf("%0100d", 7))}
	if held.f, err = os.Open(held.path); err != nil {
		t.Fatal(err)
	}
	im.Attach(held)
	for range 3 {
		if _, err := set.Make(Cold, random()); err != nil {
			t.Fatal(err)
		}
		before, ioErr := ProcessIO()
		names, err := os.ReadDir(mail)
		if err != nil || len(names) != files {
			t.Fatal(len(names), err)
		}
		listed, _ := ProcessIO()
		for _, n := range names {
			if _, err := os.Lstat(filepath.Join(mail, n.Name())); err != nil {
				t.Fatal(err)
			}
		}
		if err := set.Warm(); err != nil {
			t.Fatal(err)
		}
		all, _ := ProcessIO()
		if ioErr == nil {
			if listed.Read == before.Read {
				t.Error("the names came from no device")
			}
			if got := all.Sub(before).Read; got < files*size {
				t.Errorf("%d bytes came from the device, want %d", got, files*size)
			}
			if err := set.After(Cold, all.Sub(before).Read, files*size, random()); err != nil {
				t.Error(err)
			}
		}
		if err := set.Warm(); err != nil {
			t.Fatal(err)
		}
		// Under load the kernel takes pages back, of this program too: what was
		// read from the device again would be all of it, as the first time.
		if again, _ := ProcessIO(); ioErr == nil && again.Read-all.Read > files*size/10 {
			t.Errorf("%d bytes of %d came from the device a second time", again.Read-all.Read, files*size)
		}
	}
	if held.pause != 3 || held.resume != 3 || im.Cooled != 3 {
		t.Errorf("paused %d, resumed %d, cooled %d times", held.pause, held.resume, im.Cooled)
	}
	if _, err := set.Make(Cold, random()); err != nil {
		t.Fatal(err)
	}
	if err := set.After(Cold, 0, 0, random()); err != nil {
		t.Error("canaries of a cold image:", err)
	}
	if err := os.WriteFile(held.path, nil, 0o600); !errors.Is(err, unix.EROFS) {
		t.Errorf("%v: a cooled image can be written to", err)
	}
	if err := held.f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestImage_heldOpen holds that a file nobody pauses is found, not ignored.
func TestImage_heldOpen(t *testing.T) {
	im, err := NewImage(imageDir(t), ImageBytes(10, 1<<20), 10)
	if err != nil {
		t.Skip(err)
	}
	defer im.Close()
	f, err := os.Create(filepath.Join(im.Root(), "held"))
	if err != nil {
		t.Fatal(err)
	}
	if err := im.Cool(); err == nil || !strings.Contains(err.Error(), "open") {
		t.Errorf("%v, want an error about an open file", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestImage_killed holds that a killed process leaves neither file nor mount
// nor loop device.
func TestImage_killed(t *testing.T) {
	dir := imageDir(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), imageEnv+"="+dir)
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
	line, _ := bufio.NewReader(out).ReadString('\n')
	device := strings.TrimSpace(line)
	if !strings.HasPrefix(device, "/dev/") {
		c.Wait()
		t.Skip(device)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for wait := time.Millisecond; ; wait *= 2 {
		loop, err := os.Open(device)
		if err != nil {
			t.Skip(err)
		}
		st, err := unix.IoctlLoopGetStatus64(int(loop.Fd()))
		loop.Close()
		if errors.Is(err, unix.ENXIO) || err == nil && !strings.HasPrefix(string(st.File_name[:]), "mailbench") {
			break // free, or already another's
		}
		if wait > time.Second {
			t.Fatalf("%s is still in use: %v", device, err)
		}
		time.Sleep(wait)
	}
}

func random() *rand.Rand { return rand.New(rand.NewPCG(7, 8)) }
