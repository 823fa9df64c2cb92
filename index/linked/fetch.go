package linked

import (
	"slices"
	"strings"

	"mailbench/index"
)

// Fetch implements index.Fetcher. Fields are cached by use: see field.use.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	return m.damaged(m.fetch(uids, fields, fn))
}

func (m *mailbox) fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if err := m.ensure(); err != nil {
		return err
	}
	v := &m.disk.view
	rows := make([]int32, 0, len(uids))
	for _, uid := range uids {
		if i, ok := v.row(uid); ok {
			rows = append(rows, int32(i))
		}
	}
	// Each name once; at[i] is where fields[i] is found.
	var names []string
	at := make([]int, len(fields))
	seen := map[string]int{}
	for i, f := range fields {
		if strings.EqualFold(f, index.BodyStructureField) {
			at[i] = -1
			continue
		}
		name := headerPrefix + strings.ToLower(f)
		k, ok := seen[name]
		if !ok {
			k = len(names)
			seen[name] = k
			names = append(names, name)
		}
		at[i] = k
	}
	if err := m.openCache(); err != nil {
		return err
	}
	if len(names) == 0 && slices.Contains(at, -1) {
		values := make([][]byte, len(fields))
		for _, row := range rows {
			b, err := m.bodyOf(row)
			if err != nil {
				return err
			}
			for i := range values {
				values[i] = b
			}
			if err := fn(v.uid[row], values); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 0 || len(names) > 100 || len(m.cache.fields)+len(names) > maxFields/2 || strings.ContainsAny(strings.Join(names, ""), "\x00\n") {
		return m.fetchMail(uids, fields, fn)
	}
	values, ends := make([][]byte, len(fields)), make([]int, len(fields))
	text := make([]byte, 0, 1024) // an empty value is not nil
	return m.each(rows, names, false, func(row int32, vals [][]byte) error {
		if vals[0] == nil {
			return nil // it has gone
		}
		text = text[:0]
		var body []byte
		for i := range fields {
			if ends[i] = -1; at[i] < 0 {
				var err error
				if body, err = m.bodyOf(row); err != nil {
					return err
				}
				continue
			}
			if raw := headerValue(vals[at[i]]); raw != nil {
				text = index.AppendValue(text, raw)
				ends[i] = len(text)
			}
		}
		from := 0
		for i, end := range ends {
			switch values[i] = nil; {
			case at[i] < 0:
				values[i] = body
			case end >= 0:
				values[i] = text[from:end:end]
				from = end
			}
		}
		return fn(v.uid[row], values)
	})
}

// fetchMail is for what the registry has no room for.
func (m *mailbox) fetchMail(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if _, err := m.loadTable(); err != nil {
		return err
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	var e index.Entry
	var buf []byte
	return index.FetchFrom(m.cfg.Source, uids, fields, func(uid uint32) (out *index.Entry) {
		if row, ok := m.disk.row(uid); ok {
			m.counts.mails++
			out, buf = m.track.EntryInto(row, &e, buf)
		}
		return out
	}, fn)
}
