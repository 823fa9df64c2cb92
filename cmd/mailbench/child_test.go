package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asCommand makes the test binary be the command, so that a test can have
// several processes of it at once.
const asCommand = "MAILBENCH_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
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
