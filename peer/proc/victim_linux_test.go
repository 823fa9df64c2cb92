package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const victimEnv = "MAILBENCH_TEST_VICTIM"

// victimScripts are the children of a program that gets killed. Each ends in a
// process that sleeps for long. They tell nobody their number: the test finds
// all of them by the time they sleep.
var victimScripts = map[string]string{
	"plain":   "exec sleep %s",
	"child":   "sleep %s & wait",
	"setsid":  "setsid sleep %s & wait",
	"daemon":  "setsid sh -c '(sleep %s &)'",
	"ignores": "trap '' INT TERM HUP; sleep %s & wait; wait",
}

// victim is the program: it makes a directory, starts a child, and waits.
func victim() {
	mode, seconds, _ := strings.Cut(os.Getenv(victimEnv), " ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	u, err := OrdinaryUser("")
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	d, err := MakeDir("", u)
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	clone, err := d.Mkdir("clone")
	if err == nil {
		err = os.WriteFile(filepath.Join(clone, "mail"), []byte("x"), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	p, err := Start(ctx, Command{Path: "/bin/sh", Args: []string{"-c", fmt.Sprintf(victimScripts[mode], seconds)},
		Env: []string{"PATH=/usr/bin:/bin"}, User: u})
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println(d.Path)
	if mode == "daemon" {
		<-ctx.Done() // the shell ends at once, its daemon does not
	}
	p.Wait(ctx)
	KillAll()
	if err := d.Remove(); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("removed")
	os.Exit(0)
}

// sleepers counts processes that sleep for so many seconds.
func sleepers(t *testing.T, seconds string) (n int) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range procs {
		b, _ := os.ReadFile(path)
		if string(b) == "sleep\x00"+seconds+"\x00" {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, what string, d time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// within is when all must be gone. It takes some 30 ms; a busy machine gets more
// than anybody would wait for.
const within = 10 * time.Second

var longest time.Duration

type killed struct {
	cmd     *exec.Cmd
	out     *bufio.Reader
	dir     string
	seconds string
}

func startVictim(t *testing.T, mode string, n int) *killed {
	t.Helper()
	k := &killed{seconds: fmt.Sprintf("%d.%d", 900+n, os.Getpid())}
	k.cmd = exec.Command(os.Args[0])
	k.cmd.Env = append(os.Environ(), victimEnv+"="+mode+" "+k.seconds)
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.cmd.Process.Kill() }) // of a test that fails
	k.out = bufio.NewReader(out)
	line, err := k.out.ReadString('\n')
	k.dir = strings.TrimSpace(line)
	if err != nil || !filepath.IsAbs(k.dir) {
		k.cmd.Process.Kill()
		k.cmd.Wait()
		t.Fatalf("%q %v", line, err)
	}
	waitFor(t, "the child sleeps", 10*time.Second, func() bool { return sleepers(t, k.seconds) == 1 })
	if _, err := os.Lstat(filepath.Join(k.dir, "clone", "mail")); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killed) gone(t *testing.T) {
	t.Helper()
	begin := time.Now()
	waitFor(t, "no child is left", within, func() bool { return sleepers(t, k.seconds) == 0 })
	waitFor(t, "the directory is removed", within, func() bool {
		_, err := os.Lstat(k.dir)
		return os.IsNotExist(err)
	})
	longest = max(longest, time.Since(begin))
}

// Killing the program in the middle leaves no child process and no clone.
func TestKilled_leavesNothing(t *testing.T) {
	rounds := 4
	if os.Getenv("MAILBENCH_LONG") != "" {
		rounds = 20
	}
	n := 0
	for mode := range victimScripts {
		t.Run(mode, func(t *testing.T) {
			for range rounds {
				n++
				k := startVictim(t, mode, n)
				k.cmd.Process.Kill()
				// What the watchdog holds open would keep this from its end.
				if rest, err := io.ReadAll(k.out); err != nil || len(rest) > 0 {
					t.Errorf("%q %v", rest, err)
				}
				k.cmd.Wait()
				k.gone(t)
			}
		})
	}
	t.Logf("gone after %v at most", longest)
}

// So does killing the whole process group, as a terminal or a supervisor does.
func TestKilled_asGroup(t *testing.T) {
	for i, sig := range []syscall.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGHUP} {
		k := startVictim(t, "setsid", 500+i)
		if err := unix.Kill(-k.cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		io.ReadAll(k.out)
		k.cmd.Wait()
		k.gone(t)
	}
}

// After Ctrl-C the program cleans up itself and says so.
func TestInterrupted_cleansUp(t *testing.T) {
	for i, mode := range []string{"ignores", "daemon"} {
		k := startVictim(t, mode, 700+i)
		if err := k.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(k.out)
		if err != nil || string(rest) != "removed\n" {
			t.Errorf("%q %v", rest, err)
		}
		if err := k.cmd.Wait(); err != nil {
			t.Error(err)
		}
		if n := sleepers(t, k.seconds); n > 0 {
			t.Errorf("%d children are left", n)
		}
		if _, err := os.Lstat(k.dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", k.dir, err)
		}
	}
}

// watchdogs are those of a program.
func watchdogs(parent int) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		b, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if st, ok := readStat(pid); ok && st.state != 'Z' && st.parent == parent && string(b) == "mailbench-watchdog\x00" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// The watchdog ends with the program, and by nothing less.
func TestWatchdog_ends(t *testing.T) {
	k := startVictim(t, "plain", 800)
	dogs := watchdogs(k.cmd.Process.Pid)
	if len(dogs) != 1 {
		t.Fatalf("watchdogs: %v", dogs)
	}
	for _, sig := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if err := unix.Kill(dogs[0], sig); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	if got := watchdogs(k.cmd.Process.Pid); len(got) != 1 || got[0] != dogs[0] {
		t.Errorf("watchdogs after signals: %v, were %v", got, dogs)
	}
	k.cmd.Process.Kill()
	k.cmd.Wait()
	k.gone(t)
	waitFor(t, "the watchdog has ended", within, func() bool {
		st, ok := readStat(dogs[0])
		return !ok || st.state == 'Z'
	})
}
