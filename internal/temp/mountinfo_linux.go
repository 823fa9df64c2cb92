package temp

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mountOf returns the last mount in /proc/self/mountinfo whose mount point is
// the longest prefix of path. Fields: proc(5), section mountinfo.
func mountOf(path string) (MountInfo, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return MountInfo{}, fmt.Errorf("temp: %w", err)
	}
	defer f.Close()
	var best MountInfo
	longest := -1
	for sc := bufio.NewScanner(f); sc.Scan(); {
		left, right, ok := strings.Cut(sc.Text(), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 2 {
			continue
		}
		point := unescape(l[4])
		if !under(path, point) || len(point) < longest {
			continue
		}
		longest = len(point)
		best = MountInfo{Type: r[0], Device: unescape(r[1]), Options: l[5]}
	}
	if longest < 0 {
		return best, fmt.Errorf("temp: %s is on no mount that /proc/self/mountinfo lists", path)
	}
	return best, nil
}

func under(path, point string) bool {
	if point == "/" || path == point {
		return true
	}
	return strings.HasPrefix(path, point) && path[len(point)] == '/'
}

// unescape undoes the octal escapes of mountinfo (space, tab, newline,
// backslash).
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// mincore asks for the residency of size bytes of f by mapping them.
func mincore(f *os.File, size, pages int64) (int64, error) {
	m, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(m)
	vec := make([]byte, pages)
	if err := mincoreVec(m, vec); err != nil {
		return 0, err
	}
	n := int64(0)
	for _, v := range vec {
		n += int64(v & 1)
	}
	return n, nil
}
