//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mailbench/peer/proc"
)

// asCommand makes the test binary be the command, so that a test can have
// several processes of it at once.
const asCommand = "MAILBENCH_TEST_AS_COMMAND"

// asPlain makes it be a process that file modes hold for, even as root.
const asPlain = "MAILBENCH_TEST_AS_PLAIN"

// plainChild is child without the rights of root to read what it may not.
func plainChild(t testing.TB, args ...string) result {
	t.Setenv(asPlain, "1")
	defer os.Unsetenv(asPlain)
	return child(t, args...)
}

// forbid takes the right to read a file away from everybody.
func forbid(t testing.TB, path string) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if plainChild(t, "corpus", "info", path).code == 0 {
		t.Skip("file modes do not hold here")
	}
}

func TestMain(m *testing.M) {
	proc.Watchdog()
	if os.Getenv(asPlain) != "" {
		becomePlain()
	}
	if os.Getenv(asCommand) != "" {
		os.Exit(run(os.Args, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// child runs the command in a process of its own.
func child(t testing.TB, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}
