package temp

import (
	"path"
	"slices"
	"strings"
)

// groupFiles names, without a leading slash, the files v2 (of version 2) or v1
// of the memory control groups that hold for a process whose /proc/self/cgroup
// is groups: its own and those above.
func groupFiles(groups, v2, v1 string) []string {
	var names []string
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file := "sys/fs/cgroup", v2
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			root, file = "sys/fs/cgroup/memory", v1
		} else if parts[0] != "0" {
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			names = append(names, path.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return names
}
