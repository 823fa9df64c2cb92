package peer

import (
	"fmt"
	"os"
	"strings"

	"mailbench/peer/proc"
)

// limited is c with a limit of its address space at three quarters of the
// memory, where that is known: a server must not take the whole machine with
// it. (The Dovecot 2.3.19 of Debian 12, asked for THREAD REFERENCES of 3,000
// messages of which three have 3,000 references each, takes more than 23 GB.)
// A shell sets the limit and becomes the program.
func limited(c proc.Command) proc.Command {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return c
	}
	var kib int64
	for line := range strings.Lines(string(b)) {
		if n, err := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 && err == nil {
			break
		}
	}
	if kib <= 0 {
		return c
	}
	const script = `ulimit -v "$1" 2>/dev/null; shift; exec "$@"`
	c.Args = append([]string{"-c", script, "sh", fmt.Sprint(kib / 4 * 3), c.Path}, c.Args...)
	c.Path = "/bin/sh"
	return c
}
