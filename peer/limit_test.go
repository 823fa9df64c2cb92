package peer

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"mailbench/peer/proc"
)

// TestLimited holds that a limited program is the process that was started,
// with its arguments as they were, and has a limit.
func TestLimited(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("no /proc/meminfo")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := limited(proc.Command{Path: "/bin/sh", Args: []string{"-c", `ulimit -v; echo "$1|$2"`, "x", "a b", ""}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/"})
	out, err := programOutput(ctx, c, func() string { return "" })
	limit, args, ok := strings.Cut(out, "\n")
	if err != nil || !ok || args != "a b|" || limit == "unlimited" || limit == "" {
		t.Errorf("%q %v", out, err)
	}
}
