package indextest

import (
	"fmt"
	"path/filepath"
	"slices"

	"mailbench/index"
	mailsort "mailbench/sort"
)

// cached: what a Cacher was told of all mail it need not read, whatever else
// happens, and what it was told of some of it changes no answer.
func cached(t T, k *kit) {
	for round := range 3 {
		m := newShelfMailbox(t, k.rand(1000+uint64(round)))
		m.t = t
		r := m.r
		all := round < 2 && !k.o.Forgets // it is told of all mail, and keeps what it is told
		fields := [...]string{"envelope", "thread", "envelope"}[round]
		o := k.o.Index
		o.Fields = fields
		dir := filepath.Join(t.TempDir(), "index")
		open := func() *opened {
			box, err := k.openWith(m, dir, quick, o)
			if err != nil {
				t.Fatal(err)
			}
			return box
		}
		box := open()
		if _, ok := box.Mailbox.(index.Cacher); !ok {
			mustClose(t, box)
			t.Skip("it is no Cacher")
		}
		told := map[string]bool{}
		for step := range 40 {
			what := fmt.Sprintf("fields=%s round %d step %d:", fields, round, step)
			for range []int{1, 1, 2, 5, 9}[r.IntN(5)] {
				what += " " + m.mutate()
			}
			mustSync(t, box)
			if all || r.IntN(3) > 0 {
				m.tell(t, box, told, all)
				what += " told"
			}
			switch r.IntN(8) {
			case 0:
				what += " reopen"
				mustClose(t, box)
				box = open()
				mustSync(t, box)
			case 1:
				what += " compact"
				if err := box.Compact(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			m.shelf.Mute = all
			if r.IntN(3) == 0 {
				m.mustAnswer(t, box, true, what)
			}
			if r.IntN(3) == 0 {
				m.mustKnow(t, box, all, what)
			}
			m.shelf.Mute = false
			mustCheck(t, box, what)
		}
		m.mustAnswer(t, box, false, "at the end")
		mustClose(t, box)
	}
}

// body is what the model says a message's BODYSTRUCTURE is.
func (x *mail) body() string { return fmt.Sprintf("(%q %q %d)", "text", x.id, len(x.text)) }

// tell gives the Cacher all messages that it was not told of, or some of them.
func (m *mailbox) tell(t T, box *opened, told map[string]bool, all bool) {
	t.Helper()
	uid := map[string]uint32{}
	if err := box.Messages(func(msg index.Message) bool { uid[msg.Key] = msg.UID; return true }); err != nil {
		t.Fatal(err)
	}
	var msgs []index.Cached
	for _, x := range m.msgs {
		if told[x.key] || !all && m.r.IntN(3) == 0 {
			continue
		}
		told[x.key] = true
		c := index.Cached{UID: uid[x.key], Header: x.header, BodyStructure: []byte(x.body()), Size: int64(len(x.text)), VSize: x.size, Date: x.date}
		if m.r.IntN(2) == 0 {
			c.Header = []byte(x.text) // more may follow
		}
		msgs = append(msgs, c)
	}
	msgs = append(msgs, index.Cached{UID: box.Status().UIDNext + 3, Header: []byte("Subject: nobody\n\n")})
	for len(msgs) > 0 {
		n := 1 + m.r.IntN(len(msgs))
		if err := box.Mailbox.(index.Cacher).Cache(msgs[:n]); err != nil {
			t.Fatalf("cache: %v", err)
		}
		msgs = msgs[n:]
	}
}

// mustKnow asks for all sort keys, envelopes and body structures. Not all: those
// that were told late may not be known.
func (m *mailbox) mustKnow(t T, box *opened, all bool, what string) {
	t.Helper()
	uid, of := map[string]uint32{}, map[uint32]*mail{}
	var uids []uint32
	err := box.Messages(func(msg index.Message) bool {
		i := slices.IndexFunc(m.msgs, func(x *mail) bool { return x.key == msg.Key })
		uid[msg.Key], of[msg.UID] = msg.UID, m.msgs[i]
		uids = append(uids, msg.UID)
		return true
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	or := m.oracle(uid, nil)
	for _, key := range sortKeys {
		crit, err := mailsort.ParseCriteria(key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := box.Sort(crit, index.Search{})
		if err != nil {
			t.Fatalf("%s: sort %s: %v", what, key, err)
		}
		if want := or.Sort(key); !slices.Equal(got, want) {
			t.Fatalf("%s: sort %s:\ngot  %v\nwant %v", what, key, got, want)
		}
	}
	f, ok := box.Mailbox.(index.Fetcher)
	if !ok {
		return
	}
	fields := append([]string{index.BodyStructureField}, index.EnvelopeFields...)
	for _, list := range [][]uint32{uids, uids[max(0, len(uids)-2):]} {
		n := 0
		err = f.Fetch(list, fields, func(u uint32, values [][]byte) error {
			n++
			x := of[u]
			if want := x.body(); string(values[0]) != want && (all || values[0] != nil) {
				t.Errorf("%s: uid %d: body structure %q, want %q", what, u, values[0], want)
			}
			for i, name := range fields[1:] {
				text, there := naiveField(x.text, name)
				if got := values[i+1]; (got != nil) != there || string(got) != text {
					t.Errorf("%s: uid %d: %s is %q (%v), want %q (%v)", what, u, name, got, got != nil, text, there)
				}
			}
			return nil
		})
		if err != nil || n != len(list) {
			t.Fatalf("%s: fetch: %d of %d, %v", what, n, len(list), err)
		}
	}
}
