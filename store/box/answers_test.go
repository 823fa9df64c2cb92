package box

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/scan"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// sorts are the orders that are compared.
var sorts = []string{"date", "subject", "from", "reverse arrival", "size", "to cc"}

// answers are THREAD and SORT of all messages with UIDs from 1 without gaps, so
// that two indexes of the same mail answer alike.
func answers(m index.Mailbox) (string, error) {
	rank := map[uint32]uint32{}
	if err := m.Messages(func(msg index.Message) bool {
		rank[msg.UID] = uint32(len(rank) + 1)
		return true
	}); err != nil {
		return "", err
	}
	var out []byte
	for _, alg := range []thread.Alg{thread.References, thread.OrderedSubject} {
		a, err := m.Thread(alg, index.Search{})
		if err != nil {
			return "", err
		}
		ranks := make([]uint32, len(a.UID))
		for i, uid := range a.UID {
			ranks[i] = rank[uid]
		}
		out = append(a.Forest.AppendIMAP(out, ranks), '\n')
	}
	for _, s := range sorts {
		crit, err := mailsort.ParseCriteria(s)
		if err != nil {
			return "", err
		}
		uids, err := m.Sort(crit, index.Search{})
		if err != nil {
			return "", err
		}
		ranks := make([]uint32, len(uids))
		for i, uid := range uids {
			ranks[i] = rank[uid]
		}
		out = append(mailsort.AppendIMAP(out, ranks), '\n')
	}
	return string(out), nil
}

// answersOf are those of b's design, and those of design scan, which keeps
// nothing and reads the mail. Messages that were appended at the same time may be
// listed in another order after a crash than that of the UIDs they got before:
// then there is nothing to compare with, and want is got.
func answersOf(t *testing.T, b *Box) (got, want string, err error) {
	t.Helper()
	err = b.Query(func(m index.Mailbox) error {
		var err error
		if got, err = answers(m); err != nil {
			return err
		}
		fresh, err := scan.Design.Open(index.Config{Dir: filepath.Join(t.TempDir(), "scan"), FS: quick, Source: b.src})
		if err != nil {
			return err
		}
		defer fresh.Close()
		if _, err := fresh.Sync(); err != nil {
			return fmt.Errorf("scan: %w", err)
		}
		if want, err = answers(fresh); err != nil {
			return err
		}
		theirs, err := keysOf(fresh)
		if err != nil {
			return err
		}
		ours, err := keysOf(m)
		if !slices.Equal(ours, theirs) {
			want = got
		}
		return err
	})
	return got, want, err
}

// keysOf are the keys in the order of the UIDs.
func keysOf(m index.Mailbox) (keys []string, err error) {
	err = m.Messages(func(msg index.Message) bool { keys = append(keys, strings.Clone(msg.Key)); return true })
	return keys, err
}
