package suite

import (
	"testing"
	"time"

	"mailbench/store/box"
)

// TestPlan_slowed holds that what -slow costs is planned within a factor of two
// of what was counted with -slow 3ms, column and all caches on (calls an append,
// or calls of all of a row of BenchmarkMix with its mailbox's filling).
func TestPlan_slowed(t *testing.T) {
	const latency = 3 * time.Millisecond
	for _, c := range []struct {
		bench, store  string
		fsync         box.Fsync
		clients, ops  int
		index, counts float64 // index: 1 = the index is slow, 0 = the mail
	}{
		{"Append", "maildir", box.Always, 1, 200, 1, 16.4 * 200},
		{"Append", "maildir", box.Group, 30, 900, 1, 1.05 * 900},
		{"Append", "mdbox", box.Group, 1, 200, 1, 16.9 * 200},
		{"Append", "maildir", box.Always, 1, 200, 0, 8 * 200},
		{"Append", "maildir", box.Group, 30, 900, 0, 4.9 * 900},
		{"Append", "mdbox", box.Group, 30, 900, 0, 0.34 * 900},
		{"Append", "mdbox", box.Always, 1, 200, 0, 4.3 * 200},
		{"Mix", "maildir", box.Group, 1, 300, 1, 6.6*300 + 15*mixTarget},
		{"Mix", "maildir", box.Group, 30, 1200, 1, 1.9*1200 + 15*mixTarget},
		{"Mix", "mdbox", box.Group, 30, 1200, 0, 0.83*1200 + 3.6*mixTarget},
	} {
		row := Row{Bench: c.bench, Params: params("store", c.store, "clients", itoa(c.clients))}
		w := &workPlan{messages: c.ops, clients: c.clients, fsync: c.fsync}
		s := slowness{name: "x", latency: latency, index: c.index == 1, mail: c.index == 0}
		got, want := w.slowed(row, s).Seconds(), c.counts*latency.Seconds()
		if got < want/2 || got > want*2 {
			t.Errorf("%+v: %.1fs, counted %.1fs", c, got, want)
		}
		if d := w.slowed(row, slowness{}); d != 0 {
			t.Errorf("%+v: %v without -slow", c, d)
		}
		s.rate, w.bytes = 1e6, 5e6
		if more := w.slowed(row, s).Seconds(); more <= got {
			t.Errorf("%+v: a bound of its bytes costs nothing", c)
		}
	}
}
