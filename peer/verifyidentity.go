package peer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// identity finds out whether a UID is the same message on both sides: the same
// UIDs, sizes and dates, and the same file where the system can tell.
func (v *Verdict) identity(s *asker, inst Instance, ours Answers) error {
	type message struct {
		size, date int64
		seen       bool
	}
	mine := make(map[uint32]*message)
	var names map[uint32]string
	if n, ok := inst.(UIDNamer); ok {
		var err error
		if names, err = n.UIDNames(); err != nil {
			return err
		}
	}
	var wrong error
	err := ours.Messages(func(uid uint32, key string, size, date int64) bool {
		if name := names[uid]; names != nil && name != key {
			wrong = fmt.Errorf("UID %d is the file %q, with us %q", uid, name, key)
		}
		mine[uid] = &message{size: size, date: date}
		return wrong == nil
	})
	if err != nil || wrong != nil {
		return firstOf(err, wrong)
	}
	v.Messages = len(mine)
	if len(mine) == 0 {
		return nil
	}
	theirs := 0
	err = s.do("UID FETCH 1:* (RFC822.SIZE INTERNALDATE)", func(line []byte) {
		uid, size, date, ok := fetched(line)
		if !ok || wrong != nil {
			return
		}
		m := mine[uid]
		switch {
		case m == nil:
			wrong = fmt.Errorf("UID %d is not among ours", uid)
		case m.size != size:
			wrong = fmt.Errorf("UID %d has a size of %d bytes, with us %d", uid, size, m.size)
		case m.date != date:
			wrong = fmt.Errorf("UID %d has the INTERNALDATE %s, with us %s", uid,
				time.Unix(date, 0).UTC().Format(time.RFC3339), time.Unix(m.date, 0).UTC().Format(time.RFC3339))
		case !m.seen:
			m.seen = true
			theirs++
		}
	})
	if err == nil && wrong == nil && theirs != len(mine) {
		wrong = fmt.Errorf("it has %d messages, we have %d", theirs, len(mine))
	}
	if wrong != nil {
		wrong = fmt.Errorf("verify: the mailboxes are not the same: %w", wrong)
	}
	return firstOf(err, wrong)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fetched reads "1 FETCH (UID 7 RFC822.SIZE 90 INTERNALDATE "...")", in any
// order.
func fetched(line []byte) (uid uint32, size, date int64, ok bool) {
	_, rest, ok := strings.Cut(string(line), " ")
	verb, rest, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !strings.EqualFold(verb, "FETCH") {
		return 0, 0, 0, false
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(rest), "("), ")")
	const all = 3
	found := 0
	for rest != "" {
		name, after, _ := strings.Cut(rest, " ")
		value := after
		if strings.HasPrefix(after, `"`) {
			value, rest, _ = strings.Cut(after[1:], `"`)
			rest = strings.TrimPrefix(rest, " ")
		} else if strings.HasPrefix(after, "(") { // FLAGS, of somebody's own accord
			value, rest, _ = strings.Cut(after, ")")
			rest = strings.TrimPrefix(rest, " ")
		} else {
			value, rest, _ = strings.Cut(after, " ")
		}
		var err error
		switch strings.ToUpper(name) {
		case "UID":
			var n uint64
			n, err = strconv.ParseUint(value, 10, 32)
			uid = uint32(n)
		case "RFC822.SIZE":
			size, err = strconv.ParseInt(value, 10, 64)
		case "INTERNALDATE":
			var t time.Time
			t, err = time.Parse("_2-Jan-2006 15:04:05 -0700", value)
			date = t.Unix()
		default:
			continue
		}
		if err != nil {
			return 0, 0, 0, false
		}
		found++
	}
	return uid, size, date, found == all
}
