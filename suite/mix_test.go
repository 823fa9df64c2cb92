package suite

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/scan"
	mailsort "mailbench/sort"
)

// mixed plays a sample of one client and tells what it did and what it left.
func mixed(t *testing.T, r *Runner, seed uint64) (mixCounts, ledger) {
	t.Helper()
	s := mixSetting{setting: settingOf(t, r, column.Design, "right"), logout: 70, target: 60, seed: seed}
	s.clients = 1
	st, err := r.newStand(s.setting)
	if err != nil {
		t.Fatal(err)
	}
	defer st.remove()
	run, err := r.newMix(st, s)
	if err == nil {
		err = run.play(st, s, 0)
	}
	if err == nil {
		err = run.verify(st)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.model.ledger()
	if err != nil {
		t.Fatal(err)
	}
	return run.counts, l
}

// TestMix_repeats holds that a seed decides what a client does and what it
// leaves, and that another seed decides otherwise.
func TestMix_repeats(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	counts, left := mixed(t, r, 7)
	again, leftAgain := mixed(t, r, 7)
	if counts != again || !maps.Equal(left, leftAgain) {
		t.Errorf("seed 7 twice: %v and %v, the same mailbox: %v", counts, again, maps.Equal(left, leftAgain))
	}
	if _, other := mixed(t, r, 8); maps.Equal(left, other) {
		t.Errorf("seeds 7 and 8 left the same mailbox of %d messages", len(left))
	}
}

// TestNextState_probabilities holds that a client does what imaptest would: each
// command as often, for each time round, as its probability says.
func TestNextState_probabilities(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for _, logout := range []int{100, 0, 30} {
		var n mixCounts
		state := mixLogout
		for range 200_000 {
			state = nextState(rnd, state, logout)
			n[state]++
		}
		rounds := float64(n[mixSelect])
		if logout == 0 && (n[mixLogin] != 1 || n[mixLogout] != 0) {
			t.Errorf("seed %d: %d logins, %d logouts with logout=0", seed, n[mixLogin], n[mixLogout])
		}
		for i, s := range mixStates {
			want := float64(s.percent) / 100
			if s.again > 0 {
				want /= 1 - float64(s.again)/100
			}
			switch mixState(i) {
			case mixLogin, mixLogout:
				want = float64(logout) / 100
			}
			if got := float64(n[i]) / rounds; got < want-0.03 || got > want+0.03 {
				t.Errorf("seed %d, logout %d: %s %.3f times a round, want %.3f", seed, logout, s.short, got, want)
			}
		}
	}
}

// TestMixModel_notices holds that the model objects to each thing that must not
// be seen, and to nothing that may.
func TestMixModel_notices(t *testing.T) {
	l := &letter{sum: 1}
	seenL := &letter{sum: 2}
	seenL.Flags = index.FlagSeen
	for _, c := range []struct {
		name string
		do   func(m *mixModel) error
		want string // "": all is well
	}{
		{"appended and listed", func(m *mixModel) error { return m.listed([]seen{{uid: 1}}, m.now()) }, ""},
		{"lost", func(m *mixModel) error { return m.listed(nil, m.now()) }, "UID 1 is lost"},
		{"not yet there", func(m *mixModel) error {
			begun := m.now()
			return errors.Join(m.appended(2, l), m.listed([]seen{{uid: 1}}, begun))
		}, ""},
		{"already there", func(m *mixModel) error {
			return errors.Join(m.listed([]seen{{uid: 1}, {uid: 2, flags: index.FlagSeen}}, m.now()), m.appended(2, seenL), m.listed([]seen{{uid: 1}, {uid: 2, flags: index.FlagSeen}}, m.now()))
		}, ""},
		{"never appended", func(m *mixModel) error {
			err := m.listed([]seen{{uid: 1}, {uid: 2}}, m.now())
			_, lerr := m.ledger()
			return errors.Join(err, lerr)
		}, "UID 2 was seen, and nobody appended it"},
		{"given twice", func(m *mixModel) error { return m.appended(1, l) }, "UID 1 is given twice"},
		{"out of order", func(m *mixModel) error { return m.listed([]seen{{uid: 2}, {uid: 1}}, m.now()) }, "UID 1 is listed behind 2"},
		{"wrong flags listed", func(m *mixModel) error { return m.listed([]seen{{uid: 1, flags: index.FlagSeen}}, m.now()) }, `flags "S"`},
		{"wrong keywords listed", func(m *mixModel) error { return m.listed([]seen{{uid: 1, keywords: 2}}, m.now()) }, "keywords 0x2"},
		{"flags on their way", func(m *mixModel) error {
			return errors.Join(m.changing(1, 0, index.FlagSeen, 0, 0), m.listed([]seen{{uid: 1}}, m.now()))
		}, ""},
		{"flags that have come", func(m *mixModel) error {
			err := m.changing(1, 0, index.FlagSeen, 0, 0)
			m.changed([]uint32{1})
			return errors.Join(err, m.listed([]seen{{uid: 1}}, m.now()))
		}, `flags "" `},
		{"old flags", func(m *mixModel) error { return m.changing(1, index.FlagSeen, 0, 0, 0) }, `has flags "S"`},
		{"changed before it was appended", func(m *mixModel) error {
			return errors.Join(m.changing(2, 0, index.FlagDraft, 0, 0), m.appended(2, seenL))
		}, `appended with flags "S"`},
		{"expunged and there", func(m *mixModel) error {
			m.expunging([]uint32{1})
			m.expunged([]uint32{1})
			return m.listed([]seen{{uid: 1}}, m.now())
		}, "UID 1 is listed, and was expunged"},
		{"expunged meanwhile", func(m *mixModel) error {
			begun := m.now()
			m.expunging([]uint32{1})
			gone := m.listed(nil, begun)
			m.expunged([]uint32{1})
			return errors.Join(gone, m.listed([]seen{{uid: 1}}, begun), m.listed(nil, m.now()))
		}, ""},
		{"expunged and changed", func(m *mixModel) error {
			m.expunging([]uint32{1})
			m.expunged([]uint32{1})
			return m.changing(1, 0, 0, 0, 0)
		}, "UID 1 was expunged"},
		{"a UID used again", func(m *mixModel) error {
			m.expunging([]uint32{1})
			m.expunged([]uint32{1})
			return m.appended(1, l)
		}, "that of one expunged"},
		{"expunged before it was appended", func(m *mixModel) error {
			m.expunging([]uint32{2})
			m.expunged([]uint32{2})
			err := errors.Join(m.appended(2, l), m.listed([]seen{{uid: 1}}, m.now()))
			left, lerr := m.ledger()
			if len(left) != 1 {
				t.Errorf("left: %v", left)
			}
			return errors.Join(err, lerr)
		}, ""},
	} {
		m := newMixModel()
		if err := m.appended(1, l); err != nil {
			t.Fatal(err)
		}
		err := c.do(m)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// sortsTwice answers SORT with its first message twice.
type sortsTwice struct{ fetchBox }

func (m sortsTwice) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	uids, err := m.Mailbox.Sort(crit, s)
	if len(uids) > 1 {
		uids = slices.Clone(uids)
		uids[1] = uids[0]
	}
	return uids, err
}

func (m sortsTwice) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return m.Mailbox.(index.Fetcher).Fetch(uids, fields, fn)
}

// TestMix_wrongIndexFails holds that what FETCH and SORT answer is looked at.
func TestMix_wrongIndexFails(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	for _, c := range []struct {
		design index.Design
		want   string
	}{
		{fetches{fake{scan.Design, "fetch", func(m fakeBox) index.Mailbox { return fetchBox{m} }}}, `Fetc: UID `},
		{fetches{fake{column.Design, "twice", func(m fakeBox) index.Mailbox { return sortsTwice{fetchBox{m}} }}}, "Sort: "},
		{fetches{fake{column.Design, "status", func(m fakeBox) index.Mailbox { return statusBox{m} }}}, ""},
	} {
		j, err := r.mixing("Mix", mixSetting{setting: settingOf(t, r, c.design, "right"), logout: 100, target: 60, seed: 3})
		if err = sampled(r, j, err); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.design.Name(), err, c.want)
		}
	}
}

func TestBottleneck(t *testing.T) {
	for _, c := range []struct {
		s    shares
		want string
	}{
		{shares{cpu: 0.9, one: 1.8, device: 0.2, lock: 0.5, client: 0.1}, "cpu"},
		{shares{cpu: 0.2, one: 0.4, device: 0.9, lock: 0.95, client: 0.1}, "device"},
		{shares{cpu: 0.1, one: 0.2, device: 0.3, lock: 0.8, client: 0.1}, "lock"},
		{shares{cpu: 0.15, one: 0.3, device: 0.55, lock: 0.8, client: 0.1}, "device, which the holders of the locks wait for"},
		{shares{cpu: 0.4, one: 0.8, device: 0.2, lock: 0.8, client: 0.1}, "cpu of one processor, which the holders of the locks keep busy"},
		{shares{cpu: 0.1, one: 0.8, device: 0, lock: 0.9, client: 0.1}, "cpu of one processor, which the holders of the locks keep busy"},
		{shares{cpu: 0.2, one: 0.4, device: 0.9, lock: 0.1, client: 0.7}, "client"},
		{shares{cpu: 0.3, one: 0.6, device: 0.2, lock: 0.1, client: 0.2}, "cpu, which was not full"},
	} {
		if got := c.s.bottleneck(); got != c.want {
			t.Errorf("%v: %s, want %s", c.s, got, c.want)
		}
	}
}

// TestBottleneck_ofALock holds that clients which wait for a lock are said to
// wait for the device where its holder does.
func TestBottleneck_ofALock(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	for _, c := range []struct{ slow, want string }{{"index:3ms", "device"}, {"mail:3ms", "device"}} {
		r.cfg.Slow = c.slow
		if err := r.readSlow(); err != nil {
			t.Fatal(err)
		}
		s := mixSetting{setting: settingOf(t, r, column.Design, "right"), logout: 100, target: 20, seed: 5}
		s.slow = r.sluggish
		st, err := r.newStand(s.setting)
		if err != nil {
			t.Fatal(err)
		}
		run, err := r.newMix(st, s)
		if err == nil {
			err = run.play(st, s, 0)
		}
		if err := errors.Join(err, st.remove()); err != nil {
			t.Fatal(err)
		}
		if got := run.shares(0).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("-slow %s: %s, want %s", c.slow, got, c.want)
		}
	}
}

// TestDueTimes holds that commands come in order and within the time that the
// rate gives them, in which they are anywhere: the last of a thousand is near
// its end, and as many are in the first half as in the second.
func TestDueTimes(t *testing.T) {
	seed := rand.Uint64()
	const n, mean = 1000, 0.01
	times := dueTimes(rand.New(rand.NewPCG(seed, 1)), n, mean)
	if len(times) != n || !slices.IsSorted(times) || times[n-1] > 10*time.Second || times[n-1] < 9800*time.Millisecond {
		t.Fatalf("seed %d: %d times, the last %v", seed, len(times), times[n-1])
	}
	if half, _ := slices.BinarySearch(times, 5*time.Second); half < 400 || half > 600 {
		t.Errorf("seed %d: %d of %d in the first half", seed, half, n)
	}
}

// TestMix_missesItsRate holds that a row whose commands cannot begin at their
// times is doubted and says what its rate was taken of, and another is not.
func TestMix_missesItsRate(t *testing.T) {
	for _, c := range []struct {
		speed, perSecond, late float64
		want                   string
	}{{96, 100, 20, ""}, {94, 100, 20, "94 commands/s of 100"}, {99, 100, 60, "60% of the commands began more than a millisecond late"}, {5, 0, 0, ""}} {
		if got := missedRate(c.speed, c.perSecond, c.late); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	r := atWork(t, Config{Corpus: "synthetic:200"})
	for best, missed := range map[float64]bool{1e6: true, 40: false} {
		s := mixSetting{setting: settingOf(t, r, column.Design, "right"), logout: 100, rate: 50, target: 20, seed: 6}
		s.clients, r.doubts, r.told = 1, nil, nil
		r.noteBest(s, best)
		j, err := r.mixing("Mix", s)
		if err := sampled(r, j, err); err != nil {
			t.Fatal(err)
		}
		want := "mix Mix: last sample, " + itoa(int(best)/2) + " commands/s were to begin, 50% of the " + itoa(int(best)) + "/s of the closed loop: "
		if !strings.HasPrefix(r.told[0], want) || strings.Contains(r.told[0], notReached) != missed {
			t.Errorf("%q, want %q and missed: %v", r.told[0], want, missed)
		}
		if len(r.doubts) > 0 != missed || missed && !strings.HasPrefix(r.doubts[0].text, notReached+" (50% of the closed loop's 1000000/s): ") {
			t.Errorf("best %v: doubts %v", best, r.doubts)
		}
	}
}

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.00", 995 * time.Microsecond: "1.0", 12345 * time.Microsecond: "12.3", 99500 * time.Microsecond: "100", 70 * time.Second: "70000"} {
		if got := millis(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
