package suite

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"mailbench/store/box"
)

// Rough costs of a message that is written, and its bytes.
const (
	planAppend  = 100 * time.Microsecond // without a sync
	planGrow    = 120 * time.Microsecond // in a mailbox that is made to be grown
	planLetter  = 6600                   // bytes of a message of BenchmarkAppend
	planFilling = 5300                   // of one that is there before
)

// A workPlan is what a row that writes will do in a sample.
type workPlan struct {
	messages int // appended, or commands of BenchmarkMix
	bytes    int64
	grown    grownSize
	fsync    box.Fsync
	clients  int
}

// work is the plan of a row that writes mailboxes of its own, nil of others.
func (row Row) work() *workPlan {
	s := setting{grown: grownNone}
	s.clients, _ = strconv.Atoi(row.value("clients"))
	s.fsync, _ = box.ParseFsync(row.value("fsync"))
	for _, size := range grownSizes {
		if size.name == row.value("grown") {
			s.grown = size
		}
	}
	switch row.Bench {
	case "Append":
		n := s.appends()
		return &workPlan{n, int64(n) * planLetter, s.grown, s.fsync, s.clients}
	case "Deliver":
		return &workPlan{delivered, delivered * deliveredBytes, s.grown, s.fsync, s.clients}
	case "Mix":
		n := mixSetting{setting: s}.commands() * s.clients
		return &workPlan{n, int64(mixTarget+n/10) * planLetter, s.grown, s.fsync, s.clients / 4} // few of its commands can share a sync
	}
	return nil
}

// sample is about how long a sample takes with what is done before and after.
func (w *workPlan) sample() time.Duration {
	n := time.Duration(w.messages)
	d := n * planAppend * 3 // made, written, read back
	switch w.fsync {
	case box.Always:
		d += n * planSync
	case box.Group: // a group is half of those who write
		d += n * 2 * planSync / time.Duration(max(w.clients/2, 1))
	}
	return d + time.Duration(w.grown.messages)*(planAppend/2)
}

// Calls of slow files, as counted with column and linked on maildir and mdbox
// (-slow 3ms), where an append alone in its group makes them all.
const (
	planOpenCalls  = 30 // of opening a mailbox
	planIndexCalls = 18 // of the index, a group of appends
	planMailCalls  = 4  // of the mail, a group
	planFileCalls  = 4  // of the mail, each message that is a file of its own
	planIndexBytes = 1500
)

// slowed is about how much longer a sample of the row, whose plan is w, takes
// because of s.
func (w *workPlan) slowed(row Row, s slowness) time.Duration {
	if s.name == "" {
		return 0
	}
	group, clients := 1.0, float64(max(w.clients, 1))
	if w.fsync == box.Group {
		group = max(clients/2, 1)
	}
	perMail := 0.0
	if row.value("store") == "maildir" || row.value("store") == "cydir" {
		perMail = planFileCalls
	}
	n, fill := float64(w.messages), 0.0
	index, mail := n*planIndexCalls/group, n*(planMailCalls/group+perMail)
	if row.Bench == "Mix" { // the mailbox is filled by one after the other, and then most commands read
		clients, _ := strconv.ParseFloat(row.value("clients"), 64)
		clients = max(clients, 1)
		fill = mixTarget
		index, mail = n*(2+5/clients)+fill*planIndexCalls, n*(1+2/clients)+fill*(planMailCalls+perMail)
	}
	calls, bytes := 0.0, 0.0
	if s.index {
		calls, bytes = calls+index+planOpenCalls, bytes+(n+fill)*planIndexBytes
	}
	if s.mail {
		calls, bytes = calls+mail+planOpenCalls, bytes+float64(w.bytes)
	}
	d := calls * s.latency.Seconds()
	if s.rate > 0 {
		d += bytes / s.rate
	}
	return time.Duration(d * float64(time.Second))
}

// planWrites tells how much the rows that write put where, and which
// mailboxes they make once.
func (r *Runner) planWrites(w io.Writer, rows []Row) {
	written := map[string]int64{}
	made := map[string]bool{}
	sizes := map[int]int{} // mailboxes of each size
	for _, row := range rows {
		work := row.work()
		if work == nil {
			continue
		}
		written[row.value("fs")] += work.bytes * int64(r.cfg.Samples)
		name := fmt.Sprint(row.value("design"), row.value("store"), row.value("cache"), work.grown)
		if n := work.grown.messages; n > 0 && !made[name] {
			made[name] = true
			sizes[n]++
		}
	}
	for _, g := range r.grounds {
		if n := written[g.fs]; n > 0 {
			fmt.Fprintf(w, "rows that write put about %d MB of mail into mailboxes below %s (%s), one at a time, and remove them\n", n>>20, g.base, g.fs)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		all := int64(n) * int64(sizes[n])
		fmt.Fprintf(w, "%d grown mailboxes of %d messages, one of each design and store, are kept below %s (%d MB, made on first use in about %v)\n",
			sizes[n], n, filepath.Join(r.cfg.CacheDir, "grown"), all*planFilling>>20, (time.Duration(all) * planGrow).Round(time.Second))
	}
}
