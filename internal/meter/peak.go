package meter

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// A Memory is the resident memory of this process in bytes: Anonymous is heap
// and stacks, File is mapped files, Peak the highest sum so far.
type Memory struct{ Anonymous, File, Peak int64 }

// ReadMemory reads /proc/self/status; the zero Memory where it is missing.
func ReadMemory() Memory {
	var m Memory
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return m
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fs := strings.Fields(sc.Text())
		if len(fs) < 2 {
			continue
		}
		kb, _ := strconv.ParseInt(fs[1], 10, 64)
		switch fs[0] {
		case "RssAnon:":
			m.Anonymous = kb << 10
		case "RssFile:":
			m.File = kb << 10
		case "VmHWM:":
			m.Peak = kb << 10
		}
	}
	return m
}
