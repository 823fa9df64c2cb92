package sqlstore

import (
	"database/sql/driver"
	"math/bits"
	"strings"
)

// Statements over many rows or values come in powers of two up to maxRows, so
// that few of them have to be prepared, and bring at most about maxBytes, which
// fits into the smallest max_allowed_packet that servers come with.
const (
	maxRows  = 64
	maxBytes = 4 << 20
)

// An insert puts rows into a table.
type insert struct {
	head   string // "INTO t (a, b)"
	cols   int
	ignore bool // a row that is there already stays as it is
}

// insertRows inserts n rows of ins; add appends the values of row i, size tells
// about how many bytes they are (nil: few). affected is how many were not there.
func (c *session) insertRows(ins *insert, n int, size func(i int) int, add func(args []any, i int) []any) (affected int64, err error) {
	args := make([]any, 0, ins.cols*min(n, maxRows))
	for from := 0; from < n; {
		k := share(n-from, func(k int) bool {
			sum := 0
			for i := from; size != nil && i < from+k; i++ {
				sum += size(i)
			}
			return sum <= maxBytes
		})
		args = args[:0]
		for i := from; i < from+k; i++ {
			args = add(args, i)
		}
		m, err := c.exec(c.insertText(ins, k), args...)
		if err != nil {
			return affected, err
		}
		affected += m
		from += k
	}
	clear(args[:cap(args)]) // they keep messages alive
	return affected, nil
}

// share is the greatest power of two that is at most n and maxRows and fits.
func share(n int, fits func(k int) bool) int {
	k := min(maxRows, 1<<(bits.Len(uint(n))-1))
	for k > 1 && !fits(k) {
		k /= 2
	}
	return k
}

func (c *session) insertText(ins *insert, k int) string {
	key := textKey{ins, k}
	if q, ok := c.texts[key]; ok {
		return q
	}
	row := "(" + strings.Repeat(", ?", ins.cols)[2:] + ")"
	q := "INSERT "
	if ins.ignore {
		q += c.d.ignoreHead
	}
	q += ins.head + " VALUES " + strings.Repeat(", "+row, k)[2:]
	if ins.ignore {
		q += c.d.ignoreTail
	}
	c.texts[key] = q
	return q
}

// A list is a statement with a list of values: head, "(?, ?)", tail.
type list struct{ head, tail string }

func (c *session) listText(l *list, k int) string {
	key := textKey{l, k}
	if q, ok := c.texts[key]; ok {
		return q
	}
	q := l.head + " (" + strings.Repeat(", ?", k)[2:] + ")" + l.tail
	c.texts[key] = q
	return q
}

// parts of n values: calls fn for from..to of each statement.
func portions(n int, fn func(from, to int) error) error {
	for from := 0; from < n; {
		k := share(n-from, func(int) bool { return true })
		if err := fn(from, from+k); err != nil {
			return err
		}
		from += k
	}
	return nil
}

// execList runs l over all of values, with before and after as the other
// parameters, and tells how many rows were changed.
func (c *session) execList(l *list, before, values []any, after ...any) (n int64, err error) {
	var args []any
	err = portions(len(values), func(from, to int) error {
		args = append(append(append(args[:0], before...), values[from:to]...), after...)
		m, err := c.exec(c.listText(l, to-from), args...)
		n += m
		return err
	})
	return n, err
}

// queryList is execList for statements that give rows.
func (c *session) queryList(l *list, before, values []any, fn func(row []driver.Value) error) error {
	var args []any
	return portions(len(values), func(from, to int) error {
		args = append(append(args[:0], before...), values[from:to]...)
		return c.query(c.listText(l, to-from), fn, args...)
	})
}
