package sqlidx

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// where is the condition on messages m for a search, with its arguments.
func where(s index.Search) (string, []any, error) {
	switch s.Kind {
	case "", "all":
		return "", nil, nil
	case "undeleted":
		return "WHERE m.deleted_flag = 0", nil, nil
	case "recent":
		return "WHERE m.message_idnr IN (SELECT message_idnr FROM messages ORDER BY message_idnr DESC LIMIT 1000)", nil, nil
	case "uids":
		list := []byte{'['}
		for i, uid := range s.UIDs {
			if i > 0 {
				list = append(list, ',')
			}
			list = strconv.AppendUint(list, uint64(uid), 10)
		}
		return "WHERE m.message_idnr IN (SELECT value FROM json_each(?))", []any{string(append(list, ']'))}, nil
	}
	return "", nil, &index.SearchError{Kind: s.Kind}
}

// join adds the value of a field to a SELECT from messages m, as v and the
// field's number.
func join(f rfc5322.Field) string {
	return fmt.Sprintf("\nLEFT JOIN header h%d ON h%[1]d.physmessage_id = m.physmessage_id AND h%[1]d.headername_id = %d LEFT JOIN headervalue v%[1]d ON v%[1]d.id = h%[1]d.headervalue_id", f, nameID(f))
}

// sentDate is RFC 5256 section 2.2: the Date field, or INTERNALDATE.
var sentDate = fmt.Sprintf("coalesce(v%d.datefield, p.internal_date, 0)", rfc5322.Date)

const joinMail = "\nLEFT JOIN physmessage p ON p.id = m.physmessage_id"

// orderBy translates a criterion: the field it needs (NumFields: none), the
// expression.
func orderBy(k mailsort.Key) (rfc5322.Field, string) {
	value := func(f rfc5322.Field, column string) (rfc5322.Field, string) {
		return f, fmt.Sprintf("coalesce(v%d.%s, x'')", f, column)
	}
	switch k {
	case mailsort.Arrival:
		return rfc5322.NumFields, "coalesce(p.internal_date, 0)"
	case mailsort.Size:
		return rfc5322.NumFields, "coalesce(p.rfcsize, 0)"
	case mailsort.Date:
		return rfc5322.Date, sentDate
	case mailsort.Subject:
		return value(rfc5322.Subject, "sortfield")
	case mailsort.From:
		return value(rfc5322.From, "sortfield")
	case mailsort.To:
		return value(rfc5322.To, "sortfield")
	case mailsort.Cc:
		return value(rfc5322.Cc, "sortfield")
	case mailsort.DisplayFrom:
		return value(rfc5322.From, "displayfield")
	}
	return value(rfc5322.To, "displayfield")
}

// Sort is one SELECT with an ORDER BY; ties go by UID.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	cond, args, err := where(s)
	if err != nil {
		return nil, err
	}
	q, order := "SELECT m.message_idnr FROM messages m", []string{}
	need := fieldsThread // what any criterion costs, the dates of arrival too
	var joined rfc5322.Mask
	mail, sizes := false, false
	for _, c := range crit {
		f, by := orderBy(c.Key)
		mail = mail || f == rfc5322.NumFields || f == rfc5322.Date
		sizes = sizes || c.Key == mailsort.Size
		if f != rfc5322.NumFields {
			if f.Mask()&fieldsAddress != 0 {
				need |= fieldsAddress
			}
			if joined&f.Mask() == 0 {
				q += join(f)
			}
			joined |= f.Mask()
		}
		if c.Reverse {
			by += " DESC"
		}
		order = append(order, by)
	}
	if mail {
		q += joinMail
	}
	q += "\n" + cond + "\nORDER BY " + strings.Join(append(order, "m.message_idnr"), ", ")
	if sizes {
		if err := m.fillSizes(); err != nil {
			return nil, err
		}
	}
	m.uids = m.uids[:0]
	err = m.ask(need, func() error {
		m.uids = m.uids[:0]
		return m.db.query(q, func(row []driver.Value) error {
			uid, err := m.db.int(row[0])
			m.uids = append(m.uids, uint32(uid))
			return err
		}, args...)
	})
	return m.uids, err
}

// Thread reads the stored ids, subjects, dates and references by one SELECT
// each way and threads them here, as dbmail does.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	cond, args, err := where(s)
	if err != nil {
		return nil, err
	}
	var c *index.Columns
	err = m.ask(fieldsThread, func() error {
		m.answer.UID = m.answer.UID[:0]
		c, err = m.columns(cond, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c == nil { // no database yet
		m.answer.UID = m.answer.UID[:0]
		c = index.NewAssembler(0, index.WantThread).Columns()
	}
	thread.Build(alg, &c.Input, nil, &m.answer.Forest, &m.threads)
	return &m.answer, nil
}

// messagesForThread and referencesForThread are in the order of the UIDs.
var messagesForThread = fmt.Sprintf("SELECT m.message_idnr, %s, v%d.sortfield, v%d.sortfield, v%[3]d.reply FROM messages m", sentDate, rfc5322.MessageID, rfc5322.Subject) +
	joinMail + join(rfc5322.Date) + join(rfc5322.MessageID) + join(rfc5322.Subject) + "\n%s\nORDER BY m.message_idnr"

const referencesForThread = "SELECT r.physmessage_id, r.referencesfield FROM referencesfield r %s ORDER BY r.physmessage_id, r.ordinal"

func (m *mailbox) columns(cond string, args []any) (*index.Columns, error) {
	which := ""
	if cond != "" {
		which = "WHERE r.physmessage_id IN (SELECT m.physmessage_id FROM messages m " + cond + ")"
	}
	refs := references{text: make([]byte, 0, 1<<10)}
	err := m.db.query(fmt.Sprintf(referencesForThread, which), func(row []driver.Value) error {
		uid, err := m.db.int(row[0])
		if err != nil {
			return err
		}
		id, err := m.db.bytes(row[1])
		refs.add(uint32(uid), id)
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	a := index.NewAssembler(int(min(int64(m.box.status.Messages), m.box.bytes/16)), index.WantThread)
	var f index.Fields
	next := 0
	err = m.db.query(fmt.Sprintf(messagesForThread, cond), func(row []driver.Value) error {
		uid, date, err := m.pair(row)
		if err != nil {
			return err
		}
		if f.ID, err = m.db.bytes(row[2]); err != nil {
			return err
		}
		if f.Subject, err = m.db.bytes(row[3]); err != nil {
			return err
		}
		f.Reply = row[4] != nil
		f.Refs, next = refs.of(f.Refs[:0], uint32(uid), next)
		a.Add(&f, date)
		m.answer.UID = append(m.answer.UID, uint32(uid))
		return nil
	}, args...)
	return a.Columns(), err
}

// references are rows of referencesfield, by UID.
type references struct {
	uid  []uint32
	end  []int // of the id in text
	text []byte
}

func (r *references) add(uid uint32, id []byte) {
	r.uid = append(r.uid, uid)
	r.text = append(r.text, id...)
	r.end = append(r.end, len(r.text))
}

// of appends the references of uid, the first of which is not before next.
func (r *references) of(dst [][]byte, uid uint32, next int) ([][]byte, int) {
	for ; next < len(r.uid) && r.uid[next] <= uid; next++ {
		if r.uid[next] == uid {
			from := 0
			if next > 0 {
				from = r.end[next-1]
			}
			dst = append(dst, r.text[from:r.end[next]])
		}
	}
	return dst, next
}

// fillSizes makes sure that every message has its RFC822.SIZE. Where a file
// name does not tell it, the whole mail is read: on the first SORT SIZE.
func (m *mailbox) fillSizes() error {
	var uids []uint32
	err := m.ask(fieldsThread, func() error {
		uids = uids[:0]
		return m.db.query("SELECT id FROM physmessage WHERE rfcsize IS NULL ORDER BY id", func(row []driver.Value) error {
			uid, err := m.db.int(row[0])
			uids = append(uids, uint32(uid))
			return err
		})
	})
	if err != nil || len(uids) == 0 {
		return err
	}
	t, err := m.load()
	if err != nil {
		return err
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	var rows []int
	for _, uid := range uids {
		if row, ok := t.Row(uid); ok {
			rows = append(rows, row)
		}
	}
	for len(rows) > 0 {
		part := rows[:min(batchMessages, len(rows))]
		sizes := make([]int64, len(part))
		src := m.cfg.Source
		n, gone, denied, err := m.track.ReadRows(src, part, m.cfg.Options.Workers, batchBytes, func(e *index.Entry, buf []byte) ([]byte, error) {
			if e.VSize >= 0 {
				return buf, nil
			}
			return src.ReadMessage(e, buf)
		}, func(_, i int, e *index.Entry, b []byte) (int, error) {
			if sizes[i] = e.VSize; e.VSize < 0 {
				sizes[i] = index.CRLFSize(b)
			}
			return 0, nil
		})
		if err != nil {
			return err
		}
		rows = rows[n:]
		err = m.db.inside(true, func() error {
			for i := range n {
				if gone[i] || denied[i] {
					continue
				}
				m.opened++
				if _, _, err := m.db.exec("UPDATE physmessage SET rfcsize = ? WHERE id = ?", sizes[i], t.UIDs()[part[i]]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
