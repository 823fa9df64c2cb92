package oracle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// compare functions of the SORT keys: RFC 5256 section 3, and RFC 5957 for
// the display keys. Strings compare as octets of i;unicode-casemap.
var sortKeys = map[string]func(a, b *mail) int{
	"arrival":     func(a, b *mail) int { return cmp.Compare(a.arrival, b.arrival) },
	"cc":          func(a, b *mail) int { return strings.Compare(a.Cc, b.Cc) },
	"date":        func(a, b *mail) int { return cmp.Compare(a.Sent, b.Sent) },
	"from":        func(a, b *mail) int { return strings.Compare(a.From, b.From) },
	"size":        func(a, b *mail) int { return cmp.Compare(a.size, b.size) },
	"subject":     func(a, b *mail) int { return strings.Compare(a.Subject, b.Subject) },
	"to":          func(a, b *mail) int { return strings.Compare(a.To, b.To) },
	"displayfrom": func(a, b *mail) int { return strings.Compare(a.DisplayFrom, b.DisplayFrom) },
	"displayto":   func(a, b *mail) int { return strings.Compare(a.DisplayTo, b.DisplayTo) },
}

// Sort answers SORT with the UIDs in order; see the function Sort.
func (box *Mailbox) Sort(keys string) []uint32 {
	var order []func(a, b *mail) int
	reverse := false
	for _, word := range strings.Fields(strings.ToLower(keys)) {
		if word == "reverse" {
			reverse = true
			continue
		}
		key := sortKeys[word]
		if key == nil {
			panic("oracle: no sort key " + strconv.Quote(word))
		}
		if reverse {
			// REVERSE: "Followed by another sort criterion, has the effect of
			// that criterion but in reverse (descending) order." It does not
			// touch the last tie-break.
			forward := key
			key = func(a, b *mail) int { return forward(b, a) }
			reverse = false
		}
		order = append(order, key)
	}
	mails := slices.Clone(box.mails)
	slices.SortFunc(mails, func(a, b *mail) int {
		for _, key := range order {
			if c := key(a, b); c != 0 {
				return c
			}
		}
		// "the order of messages is the order of the sequence numbers"
		return cmp.Compare(a.seq, b.seq)
	})
	uids := make([]uint32, len(mails))
	for i, m := range mails {
		uids[i] = m.uid
	}
	return uids
}

// OrderedSubject answers THREAD ORDEREDSUBJECT (RFC 5256 section 3): the text
// after "* THREAD ".
func (box *Mailbox) OrderedSubject() string {
	// "the searched messages are sorted by base subject and then by the sent
	// date."
	mails := slices.Clone(box.mails)
	slices.SortFunc(mails, func(a, b *mail) int {
		return cmp.Or(strings.Compare(a.Subject, b.Subject), compareSent(a, b))
	})
	// "The messages are then split into separate threads, with each thread
	// containing messages with the same base subject text." All but the first
	// are children of the first, siblings of one another.
	var threads []*node
	for i, m := range mails {
		if i > 0 && m.Subject == mails[i-1].Subject {
			first := threads[len(threads)-1]
			first.children = append(first.children, &node{mail: m})
			continue
		}
		threads = append(threads, &node{mail: m})
	}
	// "Finally, the threads are sorted by the sent date of the first message
	// in the thread."
	sortSiblings(threads)
	return appendThreads(nil, threads)
}
