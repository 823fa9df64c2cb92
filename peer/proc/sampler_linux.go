package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A sampler looks at the memory of a process every 2 ms, because how much of its
// peak was anonymous and how much file-backed the kernel does not keep. What is
// gone within 2 ms is seen in Peak only (VmHWM, looked at every 32 ms and by
// look).
type sampler struct {
	pid   int
	whole bool // all counters, for one whose end we do not see
	statm int  // open for as long as the process lives, -1: none
	quit  chan struct{}
	gone  chan struct{}

	mu  sync.Mutex
	max seen
}

// seen is the most that was seen.
type seen struct {
	peak, anon, file int64
	last             Usage         // with whole: all of it, as of the last look
	cpu              time.Duration // with whole
}

const (
	sampleEvery = 2 * time.Millisecond
	statusEvery = 16 // samples
)

var pageSize = int64(os.Getpagesize())

// newSampler looks at a process once, and then, if often, until stop.
func newSampler(pid int, whole, often bool) *sampler {
	s := &sampler{pid: pid, whole: whole, quit: make(chan struct{}), gone: make(chan struct{})}
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1 // it has ended
	}
	s.statm = fd
	s.look()
	if often {
		go s.run()
	} else {
		close(s.gone)
	}
	return s
}

func (s *sampler) run() {
	defer close(s.gone)
	t := time.NewTicker(sampleEvery)
	defer t.Stop()
	for i := 1; ; i++ {
		select {
		case <-s.quit:
			return
		case <-t.C:
		}
		if i%statusEvery == 0 {
			s.look()
			continue
		}
		s.mu.Lock()
		s.sample()
		s.mu.Unlock()
	}
}

// stop ends the sampling. It is called once.
func (s *sampler) stop() seen {
	close(s.quit)
	<-s.gone
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.statm >= 0 {
		unix.Close(s.statm)
		s.statm = -1
	}
	return s.max
}

// sample reads statm: total, resident and shared pages (proc_pid_statm(5));
// shared is what files and shared memory back.
func (s *sampler) sample() {
	if s.statm < 0 {
		return
	}
	var buf [128]byte
	n, err := unix.Pread(s.statm, buf[:], 0)
	if err != nil || n <= 0 {
		return
	}
	f := bytes.Fields(buf[:n])
	if len(f) < 3 {
		return
	}
	resident, _ := strconv.ParseInt(string(f[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(f[2]), 10, 64)
	resident, shared = resident*pageSize, shared*pageSize
	s.max.peak = max(s.max.peak, resident)
	s.max.file = max(s.max.file, shared)
	s.max.anon = max(s.max.anon, resident-shared)
}

// look samples everything now.
func (s *sampler) look() seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sample()
	s.max.peak = max(s.max.peak, highWater(s.pid))
	if s.whole {
		if t, err := cpuClock(s.pid); err == nil {
			s.max.cpu = max(s.max.cpu, t)
			// A process that has ended shows nothing but zeros.
			if u := s.max.usage(s.pid); u.ReadChars >= s.max.last.ReadChars {
				s.max.last = u
			}
		}
	}
	return s.max
}

// usage is what was seen of the memory and what the counters say now.
func (m seen) usage(pid int) Usage {
	u := Usage{Peak: m.peak, PeakAnon: m.anon, PeakFile: m.file}
	addIO(&u, pid)
	addTimes(&u, pid)
	return u
}
