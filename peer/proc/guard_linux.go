package proc

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// markEnv is in the environment of all that a run starts, by which daemons
	// are found that have left their group, session and parent. Its value is the
	// run's id, after the id of the run that it is a part of and a dot.
	markEnv = "MAILBENCH_RUN"
	// watchEnv makes a program that calls Watchdog a watchdog, of the run with
	// that id.
	watchEnv = "MAILBENCH_WATCHDOG"
)

// watched says that main calls Watchdog. Without it our own program must not be
// started as a watchdog: it would do its work a second time.
var watched atomic.Bool

// A guard is our end of the pipe to the watchdog.
type guard struct {
	id string

	mu     sync.Mutex
	pipe   *os.File      // nil: none yet
	groups map[int]int64 // number, start of its leader
	dirs   map[string]bool
}

// theGuard is the one of this process.
var theGuard = sync.OnceValue(func() *guard {
	id := fmt.Sprintf("%d-%d", os.Getpid(), startOf(os.Getpid()))
	if outer := os.Getenv(markEnv); outer != "" {
		id = outer + "." + id
	}
	return &guard{id: id, groups: map[int]int64{}, dirs: map[string]bool{}}
})

// startOf tells processes apart that have had the same number.
func startOf(pid int) int64 {
	st, _ := readStat(pid)
	return st.startTicks
}

// mark puts the run's mark into an environment, in the place of an outer run's,
// which it contains.
func (g *guard) mark(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(s string) bool { return strings.HasPrefix(s, markEnv+"=") })
	return append(env, markEnv+"="+g.id)
}

// tell notes that a group lives ("group") or has ended ("free"), or a directory
// ("dir", "gone"), and lets the watchdog know. One that has died is replaced.
func (g *guard) tell(what string, arg any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch arg := arg.(type) {
	case int:
		if what == "free" {
			delete(g.groups, arg)
		} else {
			g.groups[arg] = startOf(arg)
		}
	case string:
		if what == "gone" {
			delete(g.dirs, arg)
		} else {
			g.dirs[arg] = true
		}
	}
	if !watched.Load() {
		return nil
	}
	if g.pipe != nil {
		_, err := g.pipe.WriteString(g.message(what, arg))
		if err == nil {
			return nil
		}
		g.pipe.Close()
		g.pipe = nil
	}
	return g.open()
}

// open starts a watchdog, waits until no signal ends it any more, and tells it
// all. It is in a session of its own, so that neither Ctrl-C nor a closed
// terminal reaches it, holds nothing of ours but the pipe, and has no parent
// whose death it would die of.
func (g *guard) open() (err error) {
	var closed []*os.File // at the end
	defer func() {
		for _, f := range closed {
			f.Close()
		}
		if err != nil {
			err = fmt.Errorf("proc: watchdog: %w", err)
		}
	}()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	closed = append(closed, r)
	ready, tells, err := os.Pipe()
	if err != nil {
		w.Close()
		return err
	}
	closed = append(closed, ready, tells)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		w.Close()
		return err
	}
	closed = append(closed, null)
	// Not os.Executable: go run removes the program, and a build replaces it.
	child, err := os.StartProcess("/proc/self/exe", []string{"mailbench-watchdog"}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{watchEnv + "=" + g.id, "GOMAXPROCS=2"},
		Files: []*os.File{r, tells, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return err
	}
	go child.Wait() // it ends before us only when somebody kills it
	tells.Close()
	var all strings.Builder
	for pid := range maps.Keys(g.groups) {
		all.WriteString(g.message("group", pid))
	}
	for dir := range maps.Keys(g.dirs) {
		all.WriteString(g.message("dir", dir))
	}
	if _, err = w.WriteString(all.String()); err == nil {
		ready.SetReadDeadline(time.Now().Add(30 * time.Second))
		_, err = ready.Read(make([]byte, 1))
	}
	if err != nil {
		w.Close() // which ends it
		return err
	}
	g.pipe = w
	return nil
}

// message is a line for the watchdog.
func (g *guard) message(what string, arg any) string {
	if path, ok := arg.(string); ok {
		return fmt.Sprintf("%s %q\n", what, path)
	}
	return fmt.Sprintf("%s %d %d\n", what, arg, g.groups[arg.(int)])
}

// Guard makes KillAll and the watchdog kill the process group of pid too: that
// of a daemon that has left ours. A daemon that keeps the environment it was
// started with needs no guard.
func Guard(pid int) error {
	group, err := unix.Getpgid(pid)
	if err != nil {
		return fmt.Errorf("proc: process %d: %w", pid, err)
	}
	if group == unix.Getpgrp() {
		return fmt.Errorf("proc: process %d is in our own process group", pid)
	}
	return theGuard().tell("group", group)
}

// KillAll kills all that Start has started in this process and that still runs,
// with its descendants, daemons among them, and returns when they are gone, at
// most 3 s later. It reads /proc of all processes.
func KillAll() {
	g := theGuard()
	g.mu.Lock()
	groups := maps.Clone(g.groups)
	g.mu.Unlock()
	hunt{id: g.id, groups: groups}.killAll()
}
