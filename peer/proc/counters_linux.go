package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock reads the CPU clock of a process (clock_getcpuclockid(3)): the
// scheduler's nanoseconds of all its threads, living and ended, up to this
// moment. /proc/PID/schedstat holds the same for one thread, as of the last tick
// of the timer.
func cpuClock(pid int) (time.Duration, error) {
	const scheduler = 2 // CPUCLOCK_SCHED, of a process
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduler), &ts)
	return time.Duration(ts.Nano()), err
}

// procFile reads /proc/PID/name; nil where that is not to be had.
func procFile(pid int, name string) []byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil
	}
	return b
}

// column finds "key: 123" in a file of such lines, 0 without it.
func column(b []byte, key string) int64 {
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(key+":")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}

// highWater is the most memory that a process has had since exec, in bytes.
func highWater(pid int) int64 { return column(procFile(pid, "status"), "VmHWM") << 10 }

// addIO sets u's counts. They are readable of a zombie, too.
func addIO(u *Usage, pid int) {
	b := procFile(pid, "io")
	u.Read, u.Written = column(b, "read_bytes"), column(b, "write_bytes")
	u.ReadChars, u.WrittenChars = column(b, "rchar"), column(b, "wchar")
}

// addTimes sets u.User and u.Sys, in ticks, with those of children waited for.
func addTimes(u *Usage, pid int) {
	st, ok := readStat(pid)
	if ok {
		const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
		u.User, u.Sys = time.Duration(st.user)*tick, time.Duration(st.sys)*tick
	}
}

type stat struct {
	state                  byte // 'Z': ended, not waited for
	parent, group, session int
	user, sys              int64 // ticks
	startTicks             int64 // since boot
}

// readStat reads /proc/PID/stat (proc_pid_stat(5)).
func readStat(pid int) (stat, bool) { return parseStat(procFile(pid, "stat")) }

// parseStat: the second field is the program's name in parentheses, which may
// hold anything.
func parseStat(b []byte) (s stat, ok bool) {
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return s, false
	}
	f := bytes.Fields(b[i+1:]) // f[0] is field 3
	if len(f) < 20 || len(f[0]) != 1 {
		return s, false
	}
	num := func(field int) int64 {
		n, err := strconv.ParseInt(string(f[field-3]), 10, 64)
		ok = ok && err == nil
		return n
	}
	ok = true
	s.state = f[0][0]
	s.parent, s.group, s.session = int(num(4)), int(num(5)), int(num(6))
	s.user, s.sys = num(14)+num(16), num(15)+num(17)
	s.startTicks = num(22)
	return s, ok
}
