package indextest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

// T is what the kit needs of a *testing.T. Fatal, Fatalf and Skip do not return.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	TempDir() string
}

// A Fault is what a part of the kit found wrong.
type Fault struct {
	Part string // "History", "Crashed", ...
	Text string
}

func (f Fault) String() string { return f.Part + ": " + f.Text }

// recorder is a T without package testing: it keeps what it is told.
type recorder struct {
	mu     sync.Mutex
	faults []string
	dirs   []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Skip(...any)         { runtime.Goexit() }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Errorf("%s", strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) TempDir() string {
	dir, err := os.MkdirTemp("", "indextest")
	if err != nil {
		r.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirs = append(r.dirs, dir)
	return dir
}

// run calls fn, which may end early, and removes what it wrote. A panic is a fault.
func (r *recorder) run(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		fn()
	}()
	<-done
	for _, dir := range r.dirs {
		os.RemoveAll(dir)
	}
	r.dirs = nil
}
