package indextest

import (
	"fmt"
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
			if msg.Key != x.key || msg.Flags.String() != x.flags || msg.Folder != x.dir {
				wrong = fmt.Sprintf("message %d is uid %d %q %q in %q, want %q %q in %q", n, msg.UID, msg.Key, msg.Flags, msg.Folder, x.key, x.flags, x.dir)
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
		for alg, want := range map[thread.Alg]func() string{thread.References: or.References, thread.Refs: or.Refs, thread.OrderedSubject: or.OrderedSubject} {
			a, err := box.Thread(alg, sel.s)
			if err != nil {
				return "", err
			}
			if got, want := strings.TrimSpace(string(a.AppendIMAP(nil))), strings.TrimSpace("* THREAD "+want()); got != want {
				return fmt.Sprintf("thread %v of %q:\ngot  %s\nwant %s", alg, sel.s.Kind, got, want), nil
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
	return "", nil
}

// uidsSeen holds the promise that a UID under one UIDVALIDITY is one message for ever.
type uidsSeen map[[2]uint32]string

func (u uidsSeen) wrong(box index.Mailbox) string {
	v := box.Status().UIDValidity
	wrong := ""
	box.Messages(func(msg index.Message) bool {
		at := [2]uint32{v, msg.UID}
		if old, ok := u[at]; ok && old != msg.Key {
			wrong = fmt.Sprintf("uid %d was %s and is now %s", msg.UID, old, msg.Key)
			return false
		}
		u[at] = strings.Clone(msg.Key)
		return true
	})
	return wrong
}
