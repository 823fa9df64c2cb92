package storetest

import (
	"math"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/store"
)

// Extremes: flags that there are not, dates and clocks at the ends of their
// range: what is shown is read back, also after a crash and after a closing, and
// is consistent.
func Extremes(t *testing.T, f store.Format, o Options) {
	k := &kit{f: f, o: o, seed: 1, base: memory(t)}
	for _, now := range []int64{-1, -1 << 31, math.MinInt64 / 2, -62135596801, 0, 1, 1<<32 + 1, 1 << 55, math.MaxInt64 / 2} {
		cfg := k.config(t)
		cfg.Now = func() time.Time { return time.Unix(now, 0) }
		st, m := k.open(t, cfg), newModel()
		for _, date := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64} {
			for _, flags := range []index.Flags{0, index.FlagSeen | 1<<8, 1 << 6, math.MaxUint16} {
				msg := store.Message{Body: []byte("Subject: x\n\nbody\n"), Flags: flags, Date: date}
				keys, err := st.Append([]store.Message{msg, msg})
				if err != nil {
					t.Fatalf("clock %d, date %d: %v", now, date, err)
				}
				want := message{body: msg.Body, flags: flags & 63, date: max(date, math.MinInt64+1)}
				if date == 0 {
					want.date = now
				}
				for _, key := range keys {
					want.key = key
					m.msgs = append(m.msgs, want)
				}
				if err := st.SetFlags([]store.Change{{Key: keys[1], Flags: 1<<9 | index.FlagDraft}}); err != nil {
					t.Fatal(err)
				}
				m.msgs[len(m.msgs)-1].flags = index.FlagDraft
			}
		}
		same := func(what string) {
			t.Helper()
			if wrong := m.wrong(st, false); wrong != "" {
				t.Fatalf("clock %d, %s: %s", now, what, wrong)
			}
			mustCheck(t, st)
		}
		same("appended")
		if !o.OwnIO { // as killed: the files as they are
			copied := k.write(t, readFiles(t, cfg.Dir), cfg.Dir)
			was := st
			st = k.open(t, at(cfg, copied, cfg.FS))
			same("killed")
			mustClose(t, st)
			st = was
		}
		mustClose(t, st)
		if o.LosesFlags { // nor is the list needed to read it
			copied := readFiles(t, cfg.Dir)
			delete(copied, f.Name()+".list")
			st = k.open(t, at(cfg, k.write(t, copied, cfg.Dir), cfg.FS))
			var l index.Listing
			if err := st.Source().List(&l); err != nil || len(l.Entries) != len(m.msgs) {
				t.Fatalf("clock %d, list gone: %d messages of %d, %v", now, len(l.Entries), len(m.msgs), err)
			}
			mustClose(t, st)
		}
		st = k.open(t, cfg)
		same("opened again")
		mustClose(t, st)
	}
}
