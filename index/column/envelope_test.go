package column

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// Envelopes come back byte for byte, whatever was expunged, appended and
// compacted in between, parents included.
func TestEnvelope(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := newFake()
	o := index.Options{Fields: "envelope"}
	mb := openBox(t, dir, fast, f, o)
	defer func() { mb.Close() }()
	for round := range 12 {
		for range 1 + r.IntN(400) {
			f.add(randomMail(r))
		}
		if round > 2 {
			ks := f.keys()
			for _, i := range r.Perm(len(ks))[:len(ks)/4] {
				f.remove(ks[i])
			}
		}
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		if round%3 == 2 {
			if err := mb.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		if round%4 == 3 {
			mb.Close()
			mb = openBox(t, dir, fast, f, o)
		}
		verifyFetch(t, mb, f, r)
		if err := check(mb); err != nil {
			t.Fatal(err)
		}
	}
}

// verifyFetch compares Fetch of a draw of messages and fields with the mail.
func verifyFetch(t *testing.T, mb index.Mailbox, f *fake, r *rand.Rand) {
	t.Helper()
	keys := map[uint32]string{}
	var uids []uint32
	if err := mb.Messages(func(m index.Message) bool {
		keys[m.UID] = m.Key
		uids = append(uids, m.UID)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	fields := slices.Clone(index.EnvelopeFields)
	r.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
	fields = fields[:1+r.IntN(len(fields))]
	fields[0] = strings.ToUpper(fields[0])
	if r.IntN(4) == 0 {
		fields = append(fields, "X-Nothing", "References")
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(uids), func(i, k int) { uids[i], uids[k] = uids[k], uids[i] })
		uids = append(uids[:len(uids)/2], 1<<31)
	}
	var got []uint32
	err := mb.(index.Fetcher).Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		got = append(got, uid)
		head := []byte(f.mails[keys[uid]].header)
		for i, field := range fields {
			want, ok := rfc5322.Get(head, field)
			if want = index.AppendValue([]byte{}, want); !ok {
				want = nil
			}
			if v := values[i]; !bytes.Equal(v, want) || (v == nil) != (want == nil) {
				t.Fatalf("uid %d, %s: got %q, want %q\n%s", uid, field, v, want, head)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if uids[len(uids)-1] == 1<<31 {
		uids = uids[:len(uids)-1]
	}
	if !slices.Equal(got, uids) {
		t.Fatalf("fetched %d messages, want %d", len(got), len(uids))
	}
}

func TestDateCode(t *testing.T) {
	for _, raw := range []string{
		"Mon, 3 May 2021 10:00:00 +0200", "Mon, 03 May 2021 10:00:00 -0730 (CEST)", "3 May 2021 10:00:00 +0000",
		"Mon,  3 May 2021 10:00:00 +1345", "Mon, 13 May 2021 10:00:00 -0000", "Tue, 3 May 2021 10:00:00 +0200",
		"3 May 21 10:00 GMT", "Mon, 3 May 2021 10:00:00 +9999", "Mon, 3 May 2021 10:00:00 +02", "Mon, 3 May 2021 10:00:60 +0200", "",
	} {
		unix, ok := rfc5322.ParseDate([]byte(raw))
		if !ok {
			unix = time.Now().Unix()
		}
		code, rest, _ := dateCode([]byte(raw), unix, nil)
		if got := string(appendDate(nil, code, unix)) + string(rest); got != raw {
			t.Errorf("%q came back as %q", raw, got)
		}
		if strings.HasSuffix(raw, "+0200") && strings.HasPrefix(raw, "Mon, 3") && ok && code == 0 && !strings.Contains(raw, ":60") {
			t.Errorf("%q has no code", raw)
		}
	}
}

func FuzzDateCode(f *testing.F) {
	f.Add([]byte("Mon, 3 May 2021 10:00:00 +0200"), int64(1620028800))
	f.Fuzz(func(t *testing.T, raw []byte, unix int64) {
		if u, ok := rfc5322.ParseDate(raw); ok {
			unix = u
		}
		code, rest, _ := dateCode(raw, unix, nil)
		if got := append(appendDate(nil, code, unix), rest...); !bytes.Equal(got, raw) {
			t.Fatalf("%q (%d) came back as %q", raw, unix, got)
		}
	})
}

func TestVarint(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 31, -1 << 62, 1<<63 - 1, -1 << 63} {
		c := cursor{b: appendInt(nil, v)}
		if got := c.int(); got != v || !c.done() {
			t.Error(fmt.Sprint(v), got)
		}
	}
}
