// Package meter measures one sample of an operation: wall and CPU time, heap
// allocations, what the device delivered and what was made dirty, and peak
// memory of this process split into anonymous and file-backed.
//
// CPU time is user and system together. Their split is sampled by the timer
// tick on many kernels and means little below a second, so it is kept apart
// and shown only above that.
package meter

import (
	"runtime"
	"time"

	"mailbench/internal/temp"
)

// A Sample is what one run of an operation cost.
type Sample struct {
	Wall      time.Duration
	User, Sys time.Duration
	Allocs    uint64 // heap objects
	Bytes     uint64 // heap bytes
	Read      int64  // bytes fetched from devices, read-ahead included
	Dirtied   int64  // bytes made dirty or written directly
	IOKnown   bool   // Read and Dirtied are known
}

// CPU returns user and system time together.
func (s Sample) CPU() time.Duration { return s.User + s.Sys }

// A Meter takes one Sample between Start and Stop. The clock runs innermost:
// reading the other counters is never timed. The zero Meter is ready.
type Meter struct {
	mem       runtime.MemStats
	io        temp.IO
	ioErr     error
	user, sys time.Duration
	begin     time.Time
}

// Start begins a sample. Cost: one stop-the-world and two reads of /proc,
// before the clock starts.
func (m *Meter) Start() {
	m.io, m.ioErr = temp.ProcessIO()
	runtime.ReadMemStats(&m.mem)
	m.user, m.sys = cpu()
	m.begin = time.Now()
}

// Stop ends the sample.
func (m *Meter) Stop() Sample {
	wall := time.Since(m.begin)
	user, sys := cpu()
	allocs, bytes := m.mem.Mallocs, m.mem.TotalAlloc
	runtime.ReadMemStats(&m.mem)
	io, err := temp.ProcessIO()
	s := Sample{
		Wall: wall, User: user - m.user, Sys: sys - m.sys,
		Allocs: m.mem.Mallocs - allocs, Bytes: m.mem.TotalAlloc - bytes,
	}
	if err == nil && m.ioErr == nil {
		d := io.Sub(m.io)
		s.Read, s.Dirtied, s.IOKnown = d.Read, d.Written, true
	}
	return s
}
