package conform

import (
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/mbox"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A message is what an mbox tells of one mail; message n has UID n.
type message struct {
	Stored   []byte // as in the file
	Header   []byte // with its blank line
	Unquoted []byte
	Date     int64 // INTERNALDATE: the From_ line's
	Size     int64 // RFC822.SIZE
}

// splitForTest reads an mboxrd with package mbox.
func splitForTest(t testing.TB, b []byte) []message {
	t.Helper()
	var msgs []message
	_, err := mbox.Scan(b, mbox.MboxRD, func(m mbox.Message) bool {
		if !m.DateOK {
			t.Fatalf("message %d: From_ line without date", len(msgs)+1)
		}
		msg := message{Stored: b[m.BodyOff:m.End], Date: m.Date}
		msg.Header = msg.Stored
		if end := headerEnd(msg.Stored); end >= 0 {
			msg.Header = msg.Stored[:end]
		}
		msg.Unquoted = msg.Stored
		if m.Quoted > 0 {
			msg.Unquoted = mbox.Unquote(nil, msg.Stored, mbox.MboxRD)
		}
		msg.Size = crlfSize(msg.Unquoted)
		msgs = append(msgs, msg)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// A memory answers THREAD and SORT with the fast packages and no files.
type memory struct {
	cols *index.Columns
	msgs []message
	uids []uint32
	tsc  thread.Scratch
	ssc  mailsort.Scratch
}

func newMemory(msgs []message, compat index.Compat) *memory {
	m := &memory{msgs: msgs}
	b := index.NewBuilder(len(msgs), index.WantAll, compat)
	for i, msg := range msgs {
		b.Add(0, i, msg.Header)
		m.uids = append(m.uids, uint32(i+1))
	}
	m.cols = b.Columns()
	for _, row := range m.cols.NoDate {
		m.cols.Input.Date[row] = msgs[row].Date
	}
	return m
}

// thread returns the text after "* THREAD ".
func (m *memory) thread(alg thread.Alg) string {
	var f thread.Forest
	thread.Build(alg, &m.cols.Input, nil, &f, &m.tsc)
	return strings.TrimPrefix(string(f.AppendIMAP(nil, m.uids)), "* THREAD ")
}

func (m *memory) sort(t testing.TB, keys string) []uint32 {
	t.Helper()
	crit, err := mailsort.ParseCriteria(keys)
	if err != nil {
		t.Fatal(err)
	}
	uids := []uint32{}
	for _, row := range mailsort.Order(nil, len(m.msgs), nil, crit, m.column, &m.ssc) {
		uids = append(uids, m.uids[row])
	}
	return uids
}

func (m *memory) column(key mailsort.Key) []uint64 {
	n := len(m.msgs)
	col := make([]uint64, n)
	text := func(id []int32, in *thread.Interner) []uint64 {
		return index.RankColumn(col[:0], id, index.InternerRanks(in, &m.ssc))
	}
	switch key {
	case mailsort.Arrival:
		for i, msg := range m.msgs {
			col[i] = mailsort.FromInt64(msg.Date)
		}
	case mailsort.Size:
		for i, msg := range m.msgs {
			col[i] = uint64(msg.Size)
		}
	case mailsort.Date:
		for i, date := range m.cols.Input.Date {
			col[i] = mailsort.FromInt64(date)
		}
	case mailsort.Subject:
		return text(m.cols.Input.Subject, m.cols.Subjects)
	case mailsort.From:
		return text(m.cols.From, m.cols.Keys)
	case mailsort.To:
		return text(m.cols.To, m.cols.Keys)
	case mailsort.Cc:
		return text(m.cols.Cc, m.cols.Keys)
	case mailsort.DisplayFrom:
		return text(m.cols.DisplayFrom, m.cols.Keys)
	case mailsort.DisplayTo:
		return text(m.cols.DisplayTo, m.cols.Keys)
	}
	return col
}
