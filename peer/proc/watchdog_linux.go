package proc

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Watchdog must be called first by main and TestMain of a program that calls
// Start or MakeDir. In the watchdog, which is the same program in a process of
// its own, it does not return: it waits until the program has ended, in whatever
// way, kills what is left of its processes and removes what is left of its
// directories. In the program itself it only notes that it was called; without
// that there is no watchdog, and only Pdeathsig ends children.
func Watchdog() {
	id := os.Getenv(watchEnv)
	if id == "" {
		watched.Store(true)
		return
	}
	var st unix.Stat_t
	if unix.Fstat(0, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		os.Stderr.WriteString("mailbench: " + watchEnv + " is set, and standard input is no pipe\n")
		os.Exit(2)
	}
	// Nothing but the death of the program ends a watchdog.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	closeInherited()
	os.Stdout.WriteString("x") // we are ready
	os.Stdout.Close()
	h, dirs := listen()
	h.id = id
	h.killAll()
	for dir := range dirs {
		removeAll(dir)
	}
	os.Exit(0)
}

// closeInherited closes what the program has inherited and passed on, such as
// the other end of a pipe on which a shell waits. Go's own files are marked to be
// closed by exec.
func closeInherited() {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range names {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// listen reads what the program tells until it has ended.
func listen() (h hunt, dirs map[string]bool) {
	h.groups, dirs = map[int]int64{}, map[string]bool{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		what, arg, _ := strings.Cut(lines.Text(), " ")
		number, start, _ := strings.Cut(arg, " ")
		pid, pidErr := strconv.Atoi(number)
		path, pathErr := strconv.Unquote(arg)
		switch {
		case what == "group" && pidErr == nil && pid > 1:
			h.groups[pid], _ = strconv.ParseInt(start, 10, 64)
		case what == "free" && pidErr == nil:
			delete(h.groups, pid)
		case what == "dir" && pathErr == nil && filepath.IsAbs(path):
			dirs[path] = true
		case what == "gone" && pathErr == nil:
			delete(dirs, path)
		}
	}
	return h, dirs
}

// removeAll is os.RemoveAll for what others may still be writing to, and for
// directories that we own and may not enter.
func removeAll(dir string) (err error) {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if err = os.RemoveAll(dir); err == nil || time.Now().After(end) {
			return err
		}
		if errors.Is(err, fs.ErrPermission) {
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
				if d != nil && d.IsDir() {
					os.Chmod(path, 0o700)
				}
				return nil
			})
		}
	}
}
