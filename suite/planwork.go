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
	planLetter  = 5400                   // bytes of a message of BenchmarkAppend
	planFilling = 4096                   // of one that is there before
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
