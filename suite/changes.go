package suite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/temp"
)

// sinces are the values of since=: how many changes ago the MODSEQ was the
// mailbox's highest.
var sinces = []struct {
	name    string
	changes int
}{{"1", 1}, {"100", 100}, {"10k", 10_000}}

// changeRounds are the numbers of changes between syncs, so that there was a
// sync at each of sinces. A small mailbox has a shorter past: not more than a
// quarter of it changes at once, and not more than a hundred times.
func changeRounds(n int) []int {
	most := max(1, min(100, n/4))
	var rounds []int // the last first
	sum := 0
	for _, s := range sinces {
		for sum < s.changes && (len(rounds) < 101 || sum < 100) {
			k := min(most, s.changes-sum)
			rounds = append(rounds, k)
			sum += k
		}
	}
	slices.Reverse(rounds)
	return rounds
}

// live through the changes: one in five removes a message, as long as three
// quarters of the mailbox are left, the others change flags.
func (r *Runner) change(d index.Design, m *live, p *past) error {
	clone := &fixture{path: m.path, kind: "maildir"}
	src, err := clone.source(r.scratch)
	if err != nil {
		return err
	}
	defer src.Close()
	h := newHistory(m, 37)
	mb, err := openDesign(d, src, p.dir, index.Options{})
	if err != nil {
		return err
	}
	defer func() { mb.Close() }()
	if err := h.sync(mb); err != nil {
		return err
	}
	least := len(m.home) / 4 * 3
	for _, k := range changeRounds(len(m.home)) {
		now := round{modseq: mb.Status().HighestModSeq}
		for at, i := range h.draw(k) {
			if at%5 == 4 && len(h.there) > least {
				now.removed = append(now.removed, i)
				err = h.expunge(i)
			} else {
				now.flagged = append(now.flagged, i)
				err = h.flag(i)
			}
			if err != nil {
				return err
			}
		}
		if err := h.sync(mb); err != nil {
			return err
		}
		if mb.Status().HighestModSeq <= now.modseq {
			return fmt.Errorf("changes: HIGHESTMODSEQ stays %d after %d changes", now.modseq, k)
		}
		p.seen = append(p.seen, now)
	}
	if err := mb.Close(); err != nil {
		return err
	}
	if err := errors.Join(h.keep(p), settle(src)); err != nil {
		return err
	}
	return r.visit(d, src, p.dir, index.Options{}, h, nil)
}

// since finds the MODSEQ of so many changes ago, or of the whole past, and
// what has happened after it: the messages that are there and those that are
// not, ascending.
func (p *past) since(changes int) (modseq uint64, changed, gone []uint32) {
	first := len(p.seen)
	for sum := 0; first > 0 && sum < changes; {
		first--
		sum += len(p.seen[first].flagged) + len(p.seen[first].removed)
	}
	flagged := map[int]bool{}
	for _, now := range p.seen[first:] {
		for _, i := range now.flagged {
			flagged[i] = true
		}
		for _, i := range now.removed {
			gone = append(gone, uint32(i+1))
			delete(flagged, i)
		}
	}
	for i := range flagged {
		changed = append(changed, uint32(i+1))
	}
	slices.Sort(changed)
	slices.Sort(gone)
	return p.seen[first].modseq, changed, gone
}

// changes: open, sync, ask what has happened since a MODSEQ, format it.
func changes(d index.Design, ago int) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		s, p, err := r.pastOf(f, "changes "+d.Name(), func(m *live, p *past) error { return r.change(d, m, p) })
		if err != nil {
			return nil, err
		}
		modseq, changed, gone := p.since(ago)
		flags, err := s.flags()
		if err != nil {
			return nil, joinClose(func() error { return err }, s.close)
		}
		var want []byte
		for _, uid := range changed {
			want = appendChanged(want, uid, flags[uid])
		}
		digest := corpus.AnswerDigest(appendVanished(want, gone))
		var (
			mb       index.Mailbox
			reply    []byte
			vanished []uint32
			least    uint64 // MODSEQ of what changed
			most     uint64
		)
		return &job{
			design: d.Name(), op: "changes", messages: len(s.box), works: len(changed) + len(gone),
			mails: temp.Warm, files: s.files, index: indexWarm, dir: s.st.work, reset: s.st.reset,
			run: func() (err error) {
				if mb, err = openDesign(d, s.src, s.st.work, index.Options{}); err != nil {
					return err
				}
				if _, err = mb.Sync(); err != nil {
					return err
				}
				changer, ok := mb.(index.Changer)
				if !ok {
					return errors.New("the design says that it keeps MODSEQs, and its mailbox does not tell changes")
				}
				reply, vanished, least, most = reply[:0], vanished[:0], 0, 0
				err = changer.ChangesSince(modseq, func(m index.Message) bool {
					if least = cmp.Or(least, m.ModSeq); m.ModSeq < least {
						least = m.ModSeq
					}
					most = max(most, m.ModSeq)
					reply = appendChanged(reply, m.UID, m.Flags.String())
					return true
				}, func(uid uint32) bool {
					vanished = append(vanished, uid)
					return true
				})
				slices.Sort(vanished)
				reply = appendVanished(reply, vanished)
				return err
			},
			check: func() error {
				if high := mb.Status().HighestModSeq; len(changed) > 0 && (least <= modseq || most > high) {
					return fmt.Errorf("changes since %d: MODSEQs from %d to %d, the highest is %d", modseq, least, most, high)
				}
				return wantDigest("changes since "+strconv.FormatUint(modseq, 10), corpus.AnswerDigest(reply), digest)
			},
			after: func() error { return mb.Close() },
			close: s.close,
		}, nil
	}
}

func appendChanged(dst []byte, uid uint32, letters string) []byte {
	dst = strconv.AppendUint(append(dst, "* FETCH (UID "...), uint64(uid), 10)
	dst = append(append(dst, " FLAGS ("...), letters...)
	return append(dst, "))\r\n"...)
}

// appendVanished appends a set of UIDs, runs as a range.
func appendVanished(dst []byte, uids []uint32) []byte {
	dst = append(dst, "* VANISHED (EARLIER)"...)
	sep := byte(' ')
	for i := 0; i < len(uids); {
		to := i + 1
		for to < len(uids) && uids[to] == uids[to-1]+1 {
			to++
		}
		dst = strconv.AppendUint(append(dst, sep), uint64(uids[i]), 10)
		if to-i > 1 {
			dst = strconv.AppendUint(append(dst, ':'), uint64(uids[to-1]), 10)
		}
		sep, i = ',', to
	}
	return append(dst, "\r\n"...)
}
