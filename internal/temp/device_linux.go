package temp

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// IO is what this process asked of block devices since it started, from
// /proc/self/io: Read counts bytes really fetched (page-cache hits are not in
// it, read-ahead is), Written counts bytes made dirty or written directly.
type IO struct{ Read, Written int64 }

// Sub returns what happened since before.
func (a IO) Sub(before IO) IO { return IO{a.Read - before.Read, a.Written - before.Written} }

// ProcessIO reads the counters. An error means that the kernel does not keep
// them (CONFIG_TASK_IO_ACCOUNTING) or does not show them.
func ProcessIO() (IO, error) {
	f, err := os.Open("/proc/self/io")
	if err != nil {
		return IO{}, fmt.Errorf("temp: %w", err)
	}
	defer f.Close()
	var io IO
	for sc := bufio.NewScanner(f); sc.Scan(); {
		k, v, _ := strings.Cut(sc.Text(), ": ")
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			continue
		}
		switch k {
		case "read_bytes":
			io.Read = n
		case "write_bytes":
			io.Written = n
		}
	}
	return io, nil
}

// TotalMemory returns the memory in bytes that this process and its page cache
// can have: the machine's, or less where a control group limits it; 0 when
// unknown.
func TotalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	var total int64
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if fs := strings.Fields(sc.Text()); len(fs) == 3 && fs[0] == "MemTotal:" {
			kb, _ := strconv.ParseInt(fs[1], 10, 64)
			total = kb << 10
		}
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return total
	}
	for _, name := range groupFiles(string(groups), "memory.max", "memory.limit_in_bytes") {
		b, err := os.ReadFile("/" + name)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 && n < total {
			total = n
		}
	}
	return total
}
