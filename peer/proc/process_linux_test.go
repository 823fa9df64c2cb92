package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const childEnv = "MAILBENCH_TEST_CHILD"

const big = 48 << 20

// child does one thing that can be measured, says so, and waits for the end of
// its standard input.
func child() {
	what, arg, _ := strings.Cut(os.Getenv(childEnv), " ")
	pages := func(fd int, size int) []byte {
		flags := unix.MAP_PRIVATE
		if fd < 0 {
			flags |= unix.MAP_ANON
		}
		prot := unix.PROT_READ
		if fd < 0 {
			prot |= unix.PROT_WRITE
		}
		b, err := unix.Mmap(fd, 0, size, prot, flags)
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		return b
	}
	switch what {
	case "anon", "spike":
		b := pages(-1, big)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		if what == "spike" {
			unix.Munmap(b)
		}
	case "file":
		f, err := os.Open(arg)
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		b, sum := pages(int(f.Fd()), big), byte(0)
		for i := 0; i < len(b); i += 4096 {
			sum += b[i]
		}
		if sum != 0 {
			os.Exit(4)
		}
	case "threads": // each uses a processor and ends
		done := make(chan bool)
		for range 3 {
			go func() {
				runtime.LockOSThread() // and never unlocked: the thread ends too
				for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
				}
				done <- true
			}()
		}
		for range 3 {
			<-done
		}
	}
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func start(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// startChild starts child and waits until it has done what.
func startChild(t *testing.T, what string) *Process {
	t.Helper()
	p := start(t, Command{Path: os.Args[0], Env: []string{childEnv + "=" + what}})
	line, err := bufio.NewReader(p).ReadString('\n')
	if err != nil || line != "done\n" {
		t.Fatalf("%q %v", line, err)
	}
	return p
}

func wait(t *testing.T, p *Process) Usage {
	t.Helper()
	u, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func shell(script string) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}
}

func diskDir(t *testing.T, u *User) *Dir {
	t.Helper()
	d, err := MakeDir("", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestMemory(t *testing.T) {
	d := diskDir(t, nil)
	file := filepath.Join(d.Path, "zeros")
	if err := os.WriteFile(file, make([]byte, big), 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := startChild(t, "nothing")
	base := nothing.Usage()
	if u := wait(t, nothing); u.Peak < base.Peak || u.PeakAnon < base.PeakAnon || u.PeakFile < base.PeakFile {
		t.Errorf("%+v, and at the end %+v", base, u)
	}
	if base.Peak < 1<<20 || base.PeakAnon <= 0 || base.PeakFile <= 0 || base.Peak > big {
		t.Fatalf("a child that does nothing: %+v", base)
	}
	const some = 8 << 20
	near := func(got, want int64) bool { return got > want-some && got < want+some }
	for _, c := range []struct {
		what             string
		peak, anon, file int64
	}{
		{"anon", base.Peak + big, base.PeakAnon + big, base.PeakFile},
		{"file " + file, base.Peak + big, base.PeakAnon, base.PeakFile + big},
	} {
		p := startChild(t, c.what)
		alive := p.Usage()
		u := wait(t, p)
		for _, u := range []Usage{alive, u} {
			if !near(u.Peak, c.peak) || !near(u.PeakAnon, c.anon) || !near(u.PeakFile, c.file) {
				t.Errorf("%s: peak %d, want %d; anonymous %d, want %d; of files %d, want %d", c.what, u.Peak, c.peak, u.PeakAnon, c.anon, u.PeakFile, c.file)
			}
		}
	}
	p := startChild(t, "spike") // is over before we look
	if u := p.Usage(); !near(u.Peak, base.Peak+big) {
		t.Errorf("spike: peak %d, want %d", u.Peak, base.Peak+big)
	}
	wait(t, p)
}

// A child's peak must not contain what its parent has.
func TestMemory_notOurs(t *testing.T) {
	mine, err := unix.Mmap(-1, 0, big, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mine)
	for i := 0; i < len(mine); i += 4096 {
		mine[i] = 1
	}
	u := wait(t, start(t, shell("sleep 0.05")))
	if u.Peak <= 0 || u.Peak > big/2 {
		t.Errorf("peak of a shell: %d bytes", u.Peak)
	}
}

// The CPU clock and wait4 tell the same, threads that have ended included.
func TestCPU(t *testing.T) {
	p := startChild(t, "threads")
	alive := p.CPU()
	u := wait(t, p)
	dead := p.CPU()
	if alive <= 0 || dead < alive {
		t.Errorf("alive %v, then %v", alive, dead)
	}
	if diff := math.Abs(float64(dead - u.User - u.Sys)); diff > float64(2*time.Millisecond) {
		t.Errorf("CPU clock %v, wait4 %v", dead, u.User+u.Sys)
	}
	if u.Wall <= 0 {
		t.Error("no wall time")
	}
}

// What the device got is known after the end, as an ordinary user's process too.
func TestIO_afterTheEnd(t *testing.T) {
	u, err := OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	d := diskDir(t, u)
	c := shell("dd if=/dev/zero of=f bs=1M count=4 conv=fsync 2>/dev/null; exec dd if=f of=/dev/null bs=1M count=3 2>/dev/null")
	c.Dir, c.User = d.Path, u
	got := wait(t, start(t, c))
	if got.WrittenChars < 7<<20 || got.ReadChars < 7<<20 || got.Exit != 0 {
		t.Errorf("%+v", got)
	}
	if got.Written < 4<<20 {
		t.Errorf("4 MB on the disk, counted %d", got.Written)
	}
}

func TestConversation(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c := shell("echo to the log >&2; cat; exit 7")
	c.Stderr = log
	p := start(t, c)
	var conn Conn = p
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 6)
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != "hello\n" {
		t.Fatalf("%q %v", b, err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	u := wait(t, p)
	if u.Exit != 7 {
		t.Errorf("exit %d", u.Exit)
	}
	if again := wait(t, p); again != u || p.Usage() != u {
		t.Errorf("%+v, then %+v", u, again)
	}
	if b, err := os.ReadFile(log); err != nil || string(b) != "to the log\n" {
		t.Errorf("%q %v", b, err)
	}
}

// One that nobody listens to ends all the same.
func TestWait_discards(t *testing.T) {
	u := wait(t, start(t, shell("head -c 1000000 /dev/zero; cat >/dev/null")))
	if u.Exit != 0 {
		t.Errorf("exit %d", u.Exit)
	}
}

func TestTimeouts(t *testing.T) {
	why := errors.New("took too long")
	t.Run("of Start", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p, err := Start(ctx, shell("sleep 1000"))
		if err != nil {
			t.Fatal(err)
		}
		cancel(why)
		u, err := p.Wait(t.Context())
		if !errors.Is(err, why) || u.Exit != 128+9 {
			t.Errorf("%+v %v", u, err)
		}
		if _, err := Start(ctx, shell("exit 0")); !errors.Is(err, context.Canceled) {
			t.Errorf("start after the end: %v", err)
		}
	})
	t.Run("of Wait", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		p := start(t, shell("trap '' TERM; sleep 1000 & wait"))
		if u, err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || u.Exit != 128+9 {
			t.Errorf("%+v %v", u, err)
		}
	})
	t.Run("of a read", func(t *testing.T) {
		p := start(t, shell("sleep 1000"))
		if err := p.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}

// What a process leaves in its group ends with it.
func TestGroup_endsWithItsLeader(t *testing.T) {
	seconds := fmt.Sprintf("850.%d", os.Getpid())
	wait(t, start(t, shell("sleep "+seconds+" & exit 0")))
	waitFor(t, "it is gone", within, func() bool { return sleepers(t, seconds) == 0 })
}

// A child lives on when the thread of the goroutine that started it ends.
func TestStart_survivesItsThread(t *testing.T) {
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		p, err := Start(t.Context(), shell("cat"))
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	if p == nil {
		return
	}
	time.Sleep(50 * time.Millisecond)
	if _, err := io.WriteString(p, "x"); err != nil {
		t.Error(err)
	}
	if u := wait(t, p); u.Exit != 0 {
		t.Errorf("exit %d", u.Exit)
	}
}

func TestStart_errors(t *testing.T) {
	for name, c := range map[string]Command{
		"missing":     {Path: "/nonexistent/imap"},
		"no path":     {Path: "sh"},
		"no log":      {Path: "/bin/sh", Stderr: "/nonexistent/log"},
		"no such dir": {Path: "/bin/sh", Dir: "/nonexistent"},
	} {
		if p, err := Start(t.Context(), c); err == nil || p != nil || !strings.HasPrefix(err.Error(), "proc: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The environment is what the command says, and the mark of the run.
func TestEnvironment(t *testing.T) {
	c := shell("env")
	c.Env = append(c.Env, "A=b", markEnv+"=another")
	p := start(t, c)
	b, err := io.ReadAll(p)
	wait(t, p)
	if err != nil || !bytes.Contains(b, []byte("A=b\n")) || bytes.Contains(b, []byte("another")) || bytes.Contains(b, []byte("HOME=")) {
		t.Errorf("%q %v", b, err)
	}
	if want := markEnv + "=" + theGuard().id + "\n"; !bytes.Contains(b, []byte(want)) {
		t.Errorf("%q lacks %q", b, want)
	}
}

func TestMarked(t *testing.T) {
	h := hunt{id: "12-34"}
	for env, want := range map[string]bool{
		"":                                 false,
		"A=b\x00" + markEnv + "=12-34\x00": true,
		markEnv + "=12-34.56-7\x00":        true, // of a run within it
		markEnv + "=12-345\x00":            false,
		markEnv + "=0-1.12-34\x00":         false, // the same numbers, of another run
		"X" + markEnv + "=12-34\x00":       false,
	} {
		if got := h.marked([]byte(env)); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}

// KillAll ends a daemon that has left everything but the environment.
func TestKillAll(t *testing.T) {
	seconds := fmt.Sprintf("860.%d", os.Getpid())
	wait(t, start(t, shell("setsid sh -c '(sleep "+seconds+" &)'")))
	waitFor(t, "it sleeps", within, func() bool { return sleepers(t, seconds) == 1 })
	KillAll()
	if n := sleepers(t, seconds); n != 0 {
		t.Errorf("%d are left", n)
	}
}

type halves struct {
	io.WriteCloser
	io.Reader
}

func (h halves) CloseWrite() error { return h.WriteCloser.Close() }

func TestAttach(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "head -c 100000 /dev/zero >/dev/null; echo ready; exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	p, err := Attach(halves{in, out}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 6)
	if _, err := io.ReadFull(p, b); err != nil || string(b) != "ready\n" {
		t.Fatalf("%q %v", b, err)
	}
	alive := p.Usage()
	u := wait(t, p)
	if alive.Peak <= 0 || alive.ReadChars < 100000 || p.CPU() <= 0 || u.Peak < alive.Peak || u.ReadChars < 100000 || p.PID() != cmd.Process.Pid {
		t.Errorf("alive %+v, then %+v, CPU %v", alive, u, p.CPU())
	}
	if _, err := Attach(halves{in, out}, math.MaxInt32); err == nil {
		t.Error("attached to nothing")
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 1 2 3 0 -1 4194304 5 6 7 8 9 10 11 12 20 0 1 0 13 14 15 16"))
	f.Add([]byte("12 (cat S 1"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseStat(b); ok && s.state == 0 {
			t.Errorf("%q: no state", b)
		}
	})
}

func TestParseStat(t *testing.T) {
	s, ok := parseStat([]byte("12 (a) b) S 1 2 3 0 -1 4194304 5 6 7 8 9 10 11 12 20 0 1 0 13 14 15 16"))
	if want := (stat{'S', 1, 2, 3, 9 + 11, 10 + 12, 13}); !ok || s != want {
		t.Errorf("%+v %v, want %+v", s, ok, want)
	}
	if s, ok := readStat(os.Getpid()); !ok || s.parent != os.Getppid() || s.startTicks == 0 {
		t.Errorf("ours: %+v %v", s, ok)
	}
}
