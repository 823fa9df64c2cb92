package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mailbench/index"
	"mailbench/index/tier"
)

// tierShares are the sizes of the tiers, in percent of what all records of the
// mailbox would take: a server has memory for a part of its mailboxes.
var tierShares = []int{10, 1}

// pickTiers finds the kinds of tier that are measured.
func (r *Runner) pickTiers() ([]string, error) {
	if r.cfg.Tiers == "" {
		return tier.Kinds, nil
	}
	var kinds []string
	for kind := range strings.SplitSeq(r.cfg.Tiers, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(tier.Kinds, kind) {
			return nil, fmt.Errorf("-tier %s: no tier %q (there are %s)", r.cfg.Tiers, kind, strings.Join(tier.Kinds, ", "))
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// tierJob completes a row with a tier in front of the open mailbox mb. Before
// each sample the tier is made anew and sees the calls before it, answered
// from memory, so that each sample finds the same tier; the sample's misses
// are the design's to answer.
func tierJob(j *job, p *player, mb index.Mailbox, before []tier.Call) (*job, error) {
	stand := &standIn{Mailbox: mb, kept: map[uint32][][]byte{}}
	fail := func(err error) (*job, error) { return nil, errors.Join(err, j.close()) }
	if err := p.q.prime(nil)(mb); err != nil {
		return fail(err)
	}
	total, sizes, err := stand.learn(before, p.q.asked())
	if err != nil {
		return fail(err)
	}
	var (
		t    *tier.Tier
		m    *tier.Mailbox
		all  = slices.Concat(before, p.calls)
		size = max(total*int64(p.q.share)/100, 1)
		st   tier.Stats
	)
	bound := tier.Bound(all, len(before), size, func(uid uint32, _ []string) int64 {
		if n, ok := sizes[uid]; ok {
			return n
		}
		return -1
	})
	j.reset = func() (err error) {
		if t != nil {
			t.Close()
		}
		if t, err = tier.New(p.q.tier, size); err != nil {
			return err
		}
		t.Foresee(all)
		if m, err = t.Wrap(stand); err != nil {
			return err
		}
		stand.answers = true
		for _, c := range before {
			if err := m.Fetch(c.UIDs, c.Fields, func(uint32, [][]byte) error { return nil }); err != nil {
				return err
			}
			t.Wait() // memory answers faster than any design: nothing is lost for that
		}
		stand.answers = false
		t.ResetStats()
		return nil
	}
	j.run = func() error { return p.play(m) }
	check := j.check
	j.check = func() error {
		t.Wait()
		st = t.Stats()
		if held := t.Bytes(); held > size {
			return fmt.Errorf("tier: %d bytes are held, its bound is %d", held, size)
		}
		return check()
	}
	j.metrics = func(*result) []metric {
		ms := append(p.percentiles(), metric{"hit-pct", 100 * st.HitShare()})
		if p.q.tier == "clairvoyant" {
			ms = append(ms, metric{"hit-bound-pct", 100 * float64(bound) / float64(p.messages())})
		}
		return ms
	}
	done := j.close
	j.close = func() error {
		if t != nil {
			t.Close()
		}
		return done()
	}
	return j, nil
}

// A standIn answers from memory what a tier has to see before a sample.
type standIn struct {
	index.Mailbox
	kept    map[uint32][][]byte
	answers bool
}

// learn keeps what calls will ask for, and tells what each record takes and
// what those of the whole mailbox would take in a tier.
func (s *standIn) learn(calls []tier.Call, fields []string) (total int64, sizes map[uint32]int64, err error) {
	for _, c := range calls {
		for _, uid := range c.UIDs {
			s.kept[uid] = nil
		}
	}
	f, err := fetcher(s.Mailbox)
	if err != nil {
		return 0, nil, err
	}
	var uids []uint32
	if err := s.Mailbox.Messages(func(m index.Message) bool { uids = append(uids, m.UID); return true }); err != nil {
		return 0, nil, err
	}
	sizes = make(map[uint32]int64, len(uids))
	err = f.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		n := tier.RecordBytes(values)
		sizes[uid] = n
		total += n + tier.Overhead
		if _, wanted := s.kept[uid]; wanted {
			own := make([][]byte, len(values))
			for i, v := range values {
				if v != nil {
					own[i] = append([]byte{}, v...)
				}
			}
			s.kept[uid] = own
		}
		return nil
	})
	return total, sizes, err
}

func (s *standIn) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	if !s.answers {
		f, err := fetcher(s.Mailbox)
		if err != nil {
			return err
		}
		return f.Fetch(uids, fields, fn)
	}
	for _, uid := range uids {
		if values := s.kept[uid]; values != nil {
			if err := fn(uid, values); err != nil {
				return err
			}
		}
	}
	return nil
}
