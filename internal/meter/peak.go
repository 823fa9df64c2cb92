package meter

import (
	"bytes"
	"os"
	"time"
)

// A Memory is the resident memory of this process in bytes: Anonymous is heap
// and stacks, File is mapped files, Peak the highest sum so far.
type Memory struct{ Anonymous, File, Peak int64 }

// ReadMemory reads /proc/self/status; the zero Memory where it is missing.
func ReadMemory() Memory {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return Memory{}
	}
	defer f.Close()
	return readStatus(f, make([]byte, statusSize))
}

// Watch reads the memory of this process every so often until stop is called,
// which returns the highest of each. It allocates nothing while it watches;
// where all processors are busy it looks less often.
func Watch(every time.Duration) (stop func() Memory) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return func() Memory { return Memory{} }
	}
	end, done := make(chan struct{}), make(chan Memory)
	go func() {
		buf := make([]byte, statusSize)
		tick := time.NewTicker(every)
		defer tick.Stop()
		peak := readStatus(f, buf)
		for {
			select {
			case <-tick.C:
				peak = peak.max(readStatus(f, buf))
			case <-end:
				done <- peak.max(readStatus(f, buf))
				return
			}
		}
	}()
	return func() Memory {
		close(end)
		peak := <-done
		f.Close()
		return peak
	}
}

func (m Memory) max(o Memory) Memory {
	return Memory{max(m.Anonymous, o.Anonymous), max(m.File, o.File), max(m.Peak, o.Peak)}
}

// statusSize holds all of /proc/self/status (about 1.5 KB).
const statusSize = 8 << 10

func readStatus(f *os.File, buf []byte) Memory {
	n, _ := f.ReadAt(buf, 0) // its end is an error
	text := buf[:n]
	return Memory{kilobytes(text, "RssAnon:"), kilobytes(text, "RssFile:"), kilobytes(text, "VmHWM:")}
}

// kilobytes finds "NAME   123 kB" and returns it in bytes.
func kilobytes(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	var kb int64
	for _, c := range bytes.TrimLeft(rest, " \t") {
		if c < '0' || c > '9' {
			break
		}
		kb = kb*10 + int64(c-'0')
	}
	return kb << 10
}
