package indextest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

var sortKeys = []string{"arrival", "date", "subject", "from", "to", "cc", "size", "reverse date", "subject reverse date", "from reverse arrival", "displayfrom", "reverse displayto"}

// answersWrong asks everything and returns the first thing that is not as the
// model has it. An error of the mailbox is returned as err.
func (m *mailbox) answersWrong(box index.Mailbox, few bool) (wrong string, err error) {
	uid := map[string]uint32{}
	n := 0
	err = box.Messages(func(msg index.Message) bool {
		if n < len(m.msgs) {
			x := m.msgs[n]
			if msg.Key != x.key || msg.Flags.String()+letters(msg.Keywords) != x.flags+x.words || msg.Folder != x.dir {
				wrong = fmt.Sprintf("message %d is uid %d %q %q%s in %q, want %q %q%s in %q", n, msg.UID, msg.Key, msg.Flags, letters(msg.Keywords), msg.Folder, x.key, x.flags, x.words, x.dir)
				return false
			}
		}
		n++
		if uid[msg.Key] != 0 {
			wrong = fmt.Sprintf("key %q twice", msg.Key)
			return false
		}
		uid[strings.Clone(msg.Key)] = msg.UID
		return true
	})
	if err != nil || wrong != "" {
		return wrong, err
	}
	if n != len(m.msgs) {
		return fmt.Sprintf("%d messages, want %d", n, len(m.msgs)), nil
	}
	st, unseen, deleted := box.Status(), 0, 0
	for _, x := range m.msgs {
		if !strings.Contains(x.flags, "S") {
			unseen++
		}
		if strings.Contains(x.flags, "T") {
			deleted++
		}
		if u := uid[x.key]; u == 0 || u >= st.UIDNext {
			return fmt.Sprintf("uid %d, uidnext %d", u, st.UIDNext), nil
		}
	}
	if st.Messages != n || st.Unseen != unseen || st.Deleted != deleted || st.UIDValidity == 0 {
		return fmt.Sprintf("status %+v, want %d messages, %d unseen, %d deleted", st, n, unseen, deleted), nil
	}

	var some []uint32
	for i, x := range m.msgs {
		if i%3 != 1 {
			some = append(some, uid[x.key])
		}
	}
	selections := []struct {
		s    index.Search
		keep func(*mail) bool
	}{
		{index.Search{}, nil},
		{index.Search{Kind: "undeleted"}, func(x *mail) bool { return !strings.Contains(x.flags, "T") }},
		{index.Search{Kind: "recent"}, func(x *mail) bool { return slices.Index(m.msgs, x) >= n-1000 }},
		{index.Search{Kind: "uids", UIDs: some}, func(x *mail) bool { return slices.Contains(some, uid[x.key]) }},
	}
	if few {
		selections = selections[:1]
	}
	for _, sel := range selections {
		or := m.oracle(uid, sel.keep)
		for _, of := range []struct {
			alg  thread.Alg
			want func() string
		}{{thread.References, or.References}, {thread.Refs, or.Refs}, {thread.OrderedSubject, or.OrderedSubject}} {
			a, err := box.Thread(of.alg, sel.s)
			if err != nil {
				return "", err
			}
			if got, want := strings.TrimSpace(string(a.AppendIMAP(nil))), strings.TrimSpace("* THREAD "+of.want()); got != want {
				return fmt.Sprintf("thread %v of %q:\ngot  %s\nwant %s", of.alg, sel.s.Kind, got, want), nil
			}
		}
		keys := sortKeys
		if few {
			keys = keys[:3]
		}
		for _, k := range keys {
			crit, err := mailsort.ParseCriteria(k)
			if err != nil {
				return "", err
			}
			got, err := box.Sort(crit, sel.s)
			if err != nil {
				return "", err
			}
			if want := or.Sort(k); !slices.Equal(got, want) {
				return fmt.Sprintf("sort %s of %q:\ngot  %v\nwant %v", k, sel.s.Kind, got, want), nil
			}
		}
	}
	return m.fetchWrong(box, uid, few)
}

// letters are the keyword bits as a maildir's name has them.
func letters(keywords uint32) string {
	out := ""
	for i := range 26 {
		if keywords&(1<<i) != 0 {
			out += string(rune('a' + i))
		}
	}
	return out
}

// uidsSeen holds the promise that a UID under one UIDVALIDITY is one message
// for ever, and a message one UID.
type uidsSeen struct {
	key map[uint32]map[uint32]string // of a UIDVALIDITY and a UID
	uid map[uint32]map[string]uint32
	end map[uint32]uint32 // the greatest UIDNEXT
}

func newUIDsSeen() *uidsSeen {
	return &uidsSeen{map[uint32]map[uint32]string{}, map[uint32]map[string]uint32{}, map[uint32]uint32{}}
}

func (u *uidsSeen) clone() *uidsSeen {
	c := newUIDsSeen()
	for v := range u.key {
		c.key[v], c.uid[v] = maps.Clone(u.key[v]), maps.Clone(u.uid[v])
	}
	c.end = maps.Clone(u.end)
	return c
}

// note remembers one message.
func (u *uidsSeen) note(v, uid uint32, key string) (wrong string) {
	if u.key[v] == nil {
		u.key[v], u.uid[v] = map[uint32]string{}, map[string]uint32{}
	}
	if old, ok := u.key[v][uid]; ok && old != key {
		return fmt.Sprintf("uid %d was %q and is now %q", uid, old, key)
	}
	if old, ok := u.uid[v][key]; ok && old != uid {
		return fmt.Sprintf("%q was uid %d and is now %d", key, old, uid)
	}
	key = strings.Clone(key)
	u.key[v][uid], u.uid[v][key] = key, uid
	return ""
}

// wrong looks at all messages and remembers them.
func (u *uidsSeen) wrong(box index.Mailbox) (wrong string) {
	st := box.Status()
	if st.UIDNext < u.end[st.UIDValidity] {
		return fmt.Sprintf("uidnext was %d and is now %d", u.end[st.UIDValidity], st.UIDNext)
	}
	u.end[st.UIDValidity] = st.UIDNext
	err := box.Messages(func(msg index.Message) bool {
		wrong = u.note(st.UIDValidity, msg.UID, msg.Key)
		return wrong == ""
	})
	if err != nil && wrong == "" {
		wrong = err.Error()
	}
	return wrong
}
