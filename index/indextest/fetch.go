package indextest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mailbench/index"
)

var errEnough = errors.New("enough")

// fetchWrong holds what Fetch returns against a naive reading of the headers,
// for UIDs in any order, some of which have gone or never were.
func (m *mailbox) fetchWrong(box index.Mailbox, uid map[string]uint32, few bool) (wrong string, err error) {
	f, ok := inner(box).(index.Fetcher)
	if !ok {
		return "", nil
	}
	fields := []string{"subject", "Cc"}
	if !few {
		fields = append(slices.Clone(index.EnvelopeFields), "References", "x-ODD", "X-Anything", "X-Serial")
	}
	of := map[uint32]*mail{}
	var there []uint32
	for _, x := range m.msgs {
		of[uid[x.key]] = x
		there = append(there, uid[x.key])
	}
	next := box.Status().UIDNext
	if next > 1<<24 { // a flipped bit of a design without checksums: what follows would take hours
		return fmt.Sprintf("uidnext %d", next), nil
	}
	var uids []uint32
	for u := uint32(1); u < next+2; u++ { // those that have gone, and one that never was, too
		uids = append(uids, u)
	}
	// The model's own dice stay where they are: a question changes nothing.
	for i := range uids {
		j := (i*7 + len(uids)/2) % len(uids)
		uids[i], uids[j] = uids[j], uids[i]
	}
	orders := [][]uint32{uids}
	if !few {
		orders = append(orders, there, nil, []uint32{next})
	}
	for _, order := range orders {
		want := slices.DeleteFunc(slices.Clone(order), func(u uint32) bool { return of[u] == nil })
		at := 0
		err = f.Fetch(order, fields, func(u uint32, values [][]byte) error {
			if at >= len(want) || u != want[at] {
				wrong = fmt.Sprintf("fetch of %v: uid %d, want the uids %v", order, u, want)
				return errEnough
			}
			at++
			if len(values) != len(fields) {
				wrong = fmt.Sprintf("fetch of %d fields: %d values", len(fields), len(values))
				return errEnough
			}
			for i, name := range fields {
				text, there := naiveField(of[u].text, name)
				if got := values[i]; (got != nil) != there || string(got) != text {
					wrong = fmt.Sprintf("fetch %s of uid %d: %q (there: %v), want %q (%v)", name, u, got, got != nil, text, there)
					return errEnough
				}
			}
			return nil
		})
		if wrong != "" {
			return wrong, nil
		}
		if err != nil {
			return "", err
		}
		if at != len(want) {
			return fmt.Sprintf("fetch of %v: %d messages, want %d", order, at, len(want)), nil
		}
	}
	if few || len(there) < 2 {
		return "", nil
	}
	calls := 0
	err = f.Fetch(there, fields[:1], func(uint32, [][]byte) error { calls++; return errEnough })
	if !errors.Is(err, errEnough) || calls != 1 {
		return fmt.Sprintf("fetch whose function returns an error: %d calls, %v", calls, err), nil
	}
	return "", nil
}

// naiveField is the first field of that name, its lines joined, white space at
// both ends removed: written for this kit, not shared with what it checks.
func naiveField(text, name string) (value string, there bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if there && strings.Trim(line[:1], " \t") == "" {
			value += line
			continue
		}
		if there {
			break
		}
		if n, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(n, name) {
			value, there = v, true
		}
	}
	return strings.Trim(value, " \t"), there
}
