package index

import (
	"sync/atomic"
	"time"
)

// A Phase is a part of what an operation does.
type Phase uint8

// The phases, in the order in which they usually follow each other.
const (
	PhaseScan   Phase = iota // looking for changes: listing the mail, taking up its names
	PhaseRead                // opening and reading mail
	PhaseParse               // taking fields out of headers
	PhaseLoad                // reading files of the index
	PhaseLink                // interning, threading
	PhaseSort                // ordering rows
	PhaseFormat              // writing the answer as IMAP wants it
	PhaseWrite               // writing files of the index, until they are on disk
	NumPhases
)

var phaseNames = [NumPhases]string{"scan", "read", "parse", "load", "link", "sort", "format", "write"}

// String is the phase's name in metrics, such as "scan".
func (p Phase) String() string { return phaseNames[p] }

// Phases is a clock for each phase. Designs and sources mark what they do:
//
//	defer cfg.Phases.Begin(index.PhaseLink).End()
//
// A nil *Phases records nothing and reads no clock, so that marks cost nothing
// in what is timed: the suite takes one more sample with clocks. Times of
// several goroutines add up, and phases may lie in each other. Safe from
// several goroutines.
type Phases struct {
	ns    [NumPhases]atomic.Int64
	mails atomic.Int64
	bytes atomic.Int64
}

// A Span is a phase under way.
type Span struct {
	p     *Phases
	phase Phase
	begin time.Time
}

// Begin starts a span of phase; End ends it.
func (p *Phases) Begin(phase Phase) Span {
	if p == nil {
		return Span{}
	}
	return Span{p, phase, time.Now()}
}

// End adds the time since Begin to the phase.
func (s Span) End() {
	if s.p != nil {
		s.p.ns[s.phase].Add(int64(time.Since(s.begin)))
	}
}

// Mail counts a message, or a header, that was read from the mail.
func (p *Phases) Mail(bytes int) {
	if p != nil {
		p.mails.Add(1)
		p.bytes.Add(int64(bytes))
	}
}

// Total is the time spent in phase by all goroutines together.
func (p *Phases) Total(phase Phase) time.Duration { return time.Duration(p.ns[phase].Load()) }

// Mails is how many messages and headers were read, and how many bytes of them.
func (p *Phases) Mails() (n, bytes int64) { return p.mails.Load(), p.bytes.Load() }

// A Recorder is a Source that tells its part of the phases: scan and read.
type Recorder interface {
	// Record makes later calls record into p; nil ends that. It must not run
	// beside other calls.
	Record(p *Phases)
}
