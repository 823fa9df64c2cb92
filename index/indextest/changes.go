package indextest

import (
	"fmt"
	"slices"
	"strings"

	"mailbench/index"
)

// A ledger is what the model knows of MODSEQs (RFC 7162, index I6): the
// greatest rises by one with each Sync that adds, expunges or changes flags,
// and those messages carry it.
type ledger struct {
	highest  uint64
	rows     map[string]ledgerRow
	vanished []index.Vanished
}

type ledgerRow struct {
	uid    uint32
	flags  string
	modseq uint64
}

// newLedger begins with what the first Sync gave: the first MODSEQs are the design's.
func newLedger(box index.Mailbox, m *mailbox) (*ledger, error) {
	l := &ledger{highest: box.Status().HighestModSeq, rows: map[string]ledgerRow{}}
	i := 0
	err := box.Messages(func(msg index.Message) bool {
		l.rows[m.msgs[i].key] = ledgerRow{msg.UID, m.msgs[i].flags + m.msgs[i].words, msg.ModSeq}
		i++
		return true
	})
	return l, err
}

// synced is called after each Sync, with the mailbox as it was during it.
func (l *ledger) synced(box index.Mailbox, m *mailbox) error {
	uid := map[string]uint32{}
	if err := box.Messages(func(msg index.Message) bool { uid[strings.Clone(msg.Key)] = msg.UID; return true }); err != nil {
		return err
	}
	next, changed := map[string]ledgerRow{}, false
	for _, x := range m.msgs {
		r, ok := l.rows[x.key]
		if flags := x.flags + x.words; !ok || r.flags != flags {
			r, changed = ledgerRow{uid[x.key], flags, l.highest + 1}, true
		}
		next[x.key] = r
	}
	for key, r := range l.rows {
		if _, still := next[key]; !still {
			l.vanished, changed = append(l.vanished, index.Vanished{UID: r.uid, ModSeq: l.highest + 1}), true
		}
	}
	if l.rows = next; changed {
		l.highest++
	}
	return nil
}

// wrong holds MODSEQs, HighestModSeq and ChangesSince against the ledger.
func (l *ledger) wrong(d index.Design, box index.Mailbox) (wrong string, err error) {
	if index.AxesOf(d).ModSeqs {
		if got := box.Status().HighestModSeq; got != l.highest {
			return fmt.Sprintf("highest modseq %d, want %d", got, l.highest), nil
		}
		err := box.Messages(func(msg index.Message) bool {
			if want := l.rows[msg.Key].modseq; msg.ModSeq != want {
				wrong = fmt.Sprintf("uid %d: modseq %d, want %d", msg.UID, msg.ModSeq, want)
			}
			return wrong == ""
		})
		if wrong != "" || err != nil {
			return wrong, err
		}
	}
	c, ok := inner(box).(index.Changer)
	if !ok {
		return "", nil
	}
	for _, since := range []uint64{0, l.highest / 3, l.highest / 2, l.highest - min(l.highest, 2), l.highest - min(l.highest, 1), l.highest, l.highest + 1} {
		var changed, gone []uint32
		last := uint32(0)
		err := c.ChangesSince(since, func(msg index.Message) bool {
			r, ok := l.rows[msg.Key]
			switch {
			case !ok || r.uid != msg.UID || r.modseq != msg.ModSeq || r.flags != msg.Flags.String()+letters(msg.Keywords):
				wrong = fmt.Sprintf("changes since %d: uid %d %q %q%s modseq %d, want %+v", since, msg.UID, msg.Key, msg.Flags, letters(msg.Keywords), msg.ModSeq, r)
			case msg.UID <= last:
				wrong = fmt.Sprintf("changes since %d: uid %d after %d", since, msg.UID, last)
			}
			last = msg.UID
			changed = append(changed, msg.UID)
			return wrong == ""
		}, func(uid uint32) bool { gone = append(gone, uid); return true })
		if wrong != "" || err != nil {
			return wrong, err
		}
		slices.Sort(gone)
		if want := l.changedSince(since); !slices.Equal(changed, want) {
			return fmt.Sprintf("changes since %d of %d: changed %v, want %v", since, l.highest, changed, want), nil
		}
		if want := l.vanishedSince(since); !slices.Equal(gone, want) {
			return fmt.Sprintf("changes since %d of %d: vanished %v, want %v", since, l.highest, gone, want), nil
		}
	}
	calls := 0
	stop := func() bool { calls++; return false }
	err = c.ChangesSince(0, func(index.Message) bool { return stop() }, func(uint32) bool { return stop() })
	if calls > 1 {
		return fmt.Sprintf("changes since 0: %d calls, though the first returned false", calls), err
	}
	return "", err
}

func (l *ledger) changedSince(since uint64) (uids []uint32) {
	for _, r := range l.rows {
		if r.modseq > since {
			uids = append(uids, r.uid)
		}
	}
	slices.Sort(uids)
	return uids
}

func (l *ledger) vanishedSince(since uint64) (uids []uint32) {
	for _, v := range l.vanished {
		if v.ModSeq > since {
			uids = append(uids, v.UID)
		}
	}
	slices.Sort(uids)
	return uids
}
