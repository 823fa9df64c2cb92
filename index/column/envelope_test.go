package column

import (
	"bytes"
	"errors"
	"fmt"
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
		var e Envelope
		err := mb.Messages(func(m index.Message) bool {
			if err := mb.(Enveloper).Envelope(m.UID, &e); err != nil {
				t.Fatalf("round %d, uid %d: %v", round, m.UID, err)
			}
			head := []byte(f.mails[m.Key].header)
			for i, field := range envelopeFields {
				want, ok := rfc5322.Get(head, field.String())
				if want = rfc5322.Unfold(nil, want); !ok {
					want = nil
				} else if want == nil {
					want = []byte{}
				}
				got := *e.field(i)
				if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
					t.Fatalf("round %d, uid %d, %s: got %q, want %q\n%s", round, m.UID, field, got, want, head)
				}
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := check(mb); err != nil {
			t.Fatal(err)
		}
	}
	var e Envelope
	if err := mb.(Enveloper).Envelope(1<<31, &e); !errors.Is(err, ErrNoEnvelope) {
		t.Errorf("unknown uid: %v", err)
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
