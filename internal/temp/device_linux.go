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

// TotalMemory returns the physical memory in bytes, 0 when unknown.
func TotalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if fs := strings.Fields(sc.Text()); len(fs) == 3 && fs[0] == "MemTotal:" {
			kb, _ := strconv.ParseInt(fs[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
