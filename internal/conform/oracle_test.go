package conform

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/internal/oracle"
	"mailbench/thread"
)

var modes = map[string]struct {
	fast   index.Compat
	oracle oracle.Compat
}{
	"rfc":     {index.CompatRFC, oracle.RFC},
	"dovecot": {index.CompatDovecot, oracle.Dovecot},
}

var sortKeys = []string{
	"arrival", "cc", "date", "from", "size", "subject", "to", "displayfrom", "displayto",
	"reverse date", "subject reverse date", "reverse cc to reverse displayfrom",
}

// TestOracle_corpora holds every key of every message, and every answer, of
// the fast packages against the oracle's.
func TestOracle_corpora(t *testing.T) {
	for _, name := range []string{"real-500", "real-12k", "lkml-headers"} {
		t.Run(name, func(t *testing.T) {
			if name == "real-12k" && testing.Short() {
				t.Skip("94 MB of mail: not under -short")
			}
			if name == "lkml-headers" && !long() {
				t.Skip("377,307 mails: only with MAILBENCH_LONG=1")
			}
			msgs := splitForTest(t, readFile(t, mustShared(t, "corpora", name+".mbox.zst")))
			for mode := range modes {
				t.Run(mode, func(t *testing.T) { compareWithOracle(t, msgs, mode) })
			}
		})
	}
}

func compareWithOracle(t *testing.T, msgs []message, mode string) {
	t.Helper()
	var in []oracle.Message
	for i, m := range msgs {
		in = append(in, oracle.Message{UID: uint32(i + 1), Header: m.Header, InternalDate: m.Date, RFC822Size: m.Size})
	}
	box := oracle.New(in, modes[mode].oracle)
	bad := 0
	x := index.Extractor{Want: index.WantAll, Compat: modes[mode].fast}
	var f index.Fields
	for i, m := range msgs {
		x.Extract(m.Header, &f)
		got, want := keysOf(&f, m.Date), box.Keys(i)
		if !reflect.DeepEqual(got, want) {
			if bad++; bad <= 20 {
				t.Errorf("UID %d: %s", i+1, differences(got, want))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d messages have other keys", bad, len(msgs))
	}
	mem := newMemory(msgs, modes[mode].fast)
	for alg, want := range map[thread.Alg]func() string{
		thread.References: box.References, thread.Refs: box.Refs, thread.OrderedSubject: box.OrderedSubject,
	} {
		if got, want := mem.thread(alg), want(); got != want {
			t.Errorf("%v: %s", alg, firstDifference(got, want))
		}
	}
	for _, keys := range sortKeys {
		if got, want := mem.sort(t, keys), box.Sort(keys); !slices.Equal(got, want) {
			t.Errorf("sort %s: %s", keys, firstDifference(fmt.Sprint(got), fmt.Sprint(want)))
		}
	}
}

// differences lists the keys that differ.
func differences(got, want oracle.Keys) string {
	var out strings.Builder
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			fmt.Fprintf(&out, "\n%s\n\tfast   %#v\n\toracle %#v", g.Type().Field(i).Name, g.Field(i), w.Field(i))
		}
	}
	return out.String()
}

// keysOf gives extracted fields the oracle's type.
func keysOf(f *index.Fields, arrival int64) oracle.Keys {
	k := oracle.Keys{
		ID: string(f.ID), Sent: f.Date, Subject: string(f.Subject), Reply: f.Reply,
		From: string(f.From), To: string(f.To), Cc: string(f.Cc),
		DisplayFrom: string(f.DisplayFrom), DisplayTo: string(f.DisplayTo),
	}
	for _, ref := range f.Refs {
		k.Refs = append(k.Refs, string(ref))
	}
	if !f.DateOK {
		k.Sent = arrival
	}
	return k
}

// firstDifference shows where two answers part.
func firstDifference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-40)
	return fmt.Sprintf("at byte %d: got %q, want %q", i, got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
}
