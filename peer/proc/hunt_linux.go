package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A hunt finds the processes of a run.
type hunt struct {
	id     string
	groups map[int]int64 // process groups, also sessions of daemons, with the start of their leaders; 0: not known
}

// patience is how long killed processes may take to go, and a directory whose
// files are still being written to.
const patience = 3 * time.Second

// killAll kills them until none is found: one that forks may have done so while
// we looked.
func (h hunt) killAll() {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		for group, start := range h.groups {
			if st, ok := readStat(group); ok && start != 0 && st.startTicks != start {
				delete(h.groups, group) // that number is another's now
				continue
			}
			unix.Kill(-group, unix.SIGKILL)
		}
		left := h.find()
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
		}
		if len(left) == 0 || time.Now().After(end) {
			return
		}
	}
}

// find lists the living processes that are in one of the groups or sessions,
// carry the run's mark, or descend from such a process. Never ourselves.
func (h hunt) find() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := d.Readdirnames(-1)
	d.Close()
	self := os.Getpid()
	children := map[int][]int{}
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		st, ok := readStat(pid)
		if !ok || st.state == 'Z' || st.state == 'X' {
			continue
		}
		children[st.parent] = append(children[st.parent], pid)
		_, group := h.groups[st.group]
		_, session := h.groups[st.session]
		if group || session || h.marked(procFile(pid, "environ")) {
			found = append(found, pid)
		}
	}
	seen := map[int]bool{}
	for i := 0; i < len(found); i++ {
		if seen[found[i]] {
			continue
		}
		seen[found[i]] = true
		found = append(found, children[found[i]]...)
	}
	out := found[:0]
	for _, pid := range found {
		if seen[pid] {
			seen[pid] = false
			out = append(out, pid)
		}
	}
	return out
}

// marked reports whether an environment says that its process is of this run or
// of a run within it.
func (h hunt) marked(environ []byte) bool {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, []byte(markEnv+"=")); ok {
			rest, ok := bytes.CutPrefix(id, []byte(h.id))
			return ok && (len(rest) == 0 || rest[0] == '.')
		}
	}
	return false
}
