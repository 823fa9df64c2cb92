package suite

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// mixSeconds bounds the lines of the series.
const mixSeconds = 120

// report tells of the last sample of a row what imaptest tells: how often each
// command was done, second by second and in all; then how long each took, and
// what the clients waited for. best is the rate that s.rate is a part of.
func (run *mixRun) report(name string, s mixSetting, cpu time.Duration, best float64) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, "mix "+fmt.Sprintf(format, args...)) }
	n := run.counts.total()
	loop, kind := "closed loop", "service"
	speed, missed := float64(n)/run.wall.Seconds(), ""
	if s.rate > 0 {
		kind = "response"
		perSecond := best * float64(s.rate) / 100
		loop = fmt.Sprintf("%.0f commands/s were to begin, %d%% of the %.0f/s of the closed loop", perSecond, s.rate, best)
		if why := missedRate(speed, perSecond, 100*float64(run.late)/float64(n)); why != "" {
			missed = ", " + notReached + ": " + why
		}
	}
	say("%s: last sample, %s: %d commands in %.2fs, %.0f/s%s", name, loop, n, run.wall.Seconds(), speed, missed)
	for i, line := range mixHead(s.logout) {
		say("%6s%s", []string{"second", "", ""}[i], line)
	}
	for i, c := range run.seconds {
		if i == mixSeconds {
			say("%6s and %d seconds more", "", len(run.seconds)-i)
			break
		}
		say("%6d%s", i+1, c.line())
	}
	say("%6s%s", "all", run.counts.line())
	for _, p := range []struct {
		name    string
		percent float64
	}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}} {
		var b strings.Builder
		for i, l := range run.took {
			if run.counts[i] == 0 {
				b.WriteString("     -")
				continue
			}
			fmt.Fprintf(&b, " %5s", millis(time.Duration(l.at(p.percent))))
		}
		say("%6s%s ms %s", p.name, b.String(), kind)
	}
	say("%s of all: p50 %s, p90 %s, p99 %s, p99.9 %s, max %s ms; longest stall %s ms", kind,
		millis(time.Duration(run.all.at(50))), millis(time.Duration(run.all.at(90))), millis(time.Duration(run.all.at(99))),
		millis(time.Duration(run.all.at(99.9))), millis(time.Duration(run.all.at(100))), millis(run.stall.longest))
	engine := ""
	if !s.countsFiles() {
		engine = "; what an engine with files of its own waits for is not in device: who waits for it may hold a lock"
	}
	say("bottleneck: %s%s", run.shares(cpu), engine)
	return out
}

// millis is d in milliseconds, to what fits a column.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 0.995:
		return fmt.Sprintf("%.2f", ms)
	case ms < 99.5:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// shares are what was measured of the four things that clients can wait for,
// each a share of what there was of it. They overlap: who waits for a lock waits
// for what its holder waits for.
type shares struct {
	cpu    float64 // CPU time of this process, of all that the processors had
	one    float64 // the same, of what one processor had
	device float64 // time in which at least one call waited for the device, of the whole
	lock   float64 // time that clients waited for locks, of all their time
	client float64 // time that clients spent outside commands: idle, or checking answers
}

func (run *mixRun) shares(cpu time.Duration) shares {
	wall, active := max(run.wall.Seconds(), 1e-9), max(run.active.Seconds(), 1e-9)
	one := cpu.Seconds() / wall
	return shares{
		cpu:    one / float64(runtime.GOMAXPROCS(0)),
		one:    one,
		device: run.device.Seconds() / wall,
		lock:   min(run.locked.Seconds()/active, 1),
		client: max(0, 1-run.inside.Seconds()/active),
	}
}

// explained is the least that the device and one processor together have to be
// busy for them to be what the holders of locks do all the time.
const explained = 0.7

// bottleneck names one: the clients, if they were outside commands for most of
// the time; the processors or the device, whichever was busier, if it was busy
// for most of it. Else, if locks were waited for longer than either was busy,
// what their holders waited for: one after the other, they need the device or
// one processor, and if the two together leave much of the time over, it is the
// locks themselves. Else nothing is full, and the busiest is named with a doubt.
func (s shares) bottleneck() string {
	busier, share := "cpu", s.cpu
	if s.device > s.cpu {
		busier, share = "device", s.device
	}
	switch {
	case s.client > 0.5:
		return "client"
	case share > 0.6:
		return busier
	case s.lock <= share:
		return busier + ", which was not full"
	case s.device+s.one < explained:
		return "lock"
	case s.device >= s.one:
		return "device, which the holders of the locks wait for"
	}
	return "cpu of one processor, which the holders of the locks keep busy"
}

func (s shares) String() string {
	return fmt.Sprintf("%s (cpu %.0f%%, or %.0f%% of one processor; device %.0f%%; clients wait for locks %.0f%% and are outside commands %.0f%% of their time; the parts overlap)",
		s.bottleneck(), 100*s.cpu, 100*s.one, 100*s.device, 100*s.lock, 100*s.client)
}
