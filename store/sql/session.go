package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
)

// A session is one connection to the database with its prepared statements,
// used by one goroutine at a time. The drivers are used without database/sql:
// its pool prepares a statement anew for each transaction, and a row costs half
// as much without its conversions.
type session struct {
	d     *dialect
	conn  driver.Conn
	stmts map[string]driver.Stmt
	texts map[textKey]string
	args  []driver.NamedValue
	lost  bool // the connection cannot be used again
	fresh bool // nothing has been done with it yet
}

// textKey names a statement with n rows or n values in its list.
type textKey struct {
	of any
	n  int
}

// maxStatements bounds the prepared statements of a session. There are fewer
// than that: it is a net for whoever adds one that varies.
const maxStatements = 512

// guard runs f, which calls the driver. A panic in there, or a fault in a map of
// a file that got shorter, is an error and the end of the session.
func (c *session) guard(f func() error) (err error) {
	if c.lost {
		return driver.ErrBadConn
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			c.lost = true
			err = fmt.Errorf("%w: the engine panicked: %v", errDamaged, r)
		}
	}()
	err = f()
	if err != nil && err != io.EOF && c.d.trouble(err) == lost {
		c.lost = true
	}
	return err
}

func (c *session) prepare(q string) (driver.Stmt, error) {
	if s, ok := c.stmts[q]; ok {
		return s, nil
	}
	text := q
	if c.d.numbered {
		text = number(q)
	}
	s, err := c.conn.Prepare(text)
	if err != nil {
		return nil, err
	}
	if len(c.stmts) >= maxStatements {
		for old, s := range c.stmts {
			s.Close()
			delete(c.stmts, old)
		}
	}
	c.stmts[q] = s
	return s, nil
}

// number turns each ? into $1, $2 and so on. No text of ours holds a ? that is
// not a parameter.
func number(q string) string {
	var b strings.Builder
	n := 0
	for i := range len(q) {
		if q[i] != '?' {
			b.WriteByte(q[i])
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// bind makes arguments of int64 and []byte, the two kinds that there are.
// Nil bytes are empty ones: nothing of ours is NULL.
func (c *session) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		switch x := a.(type) {
		case int:
			a = int64(x)
		case []byte:
			if x == nil {
				a = []byte{}
			}
		case string:
			a = []byte(x)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement and tells how many rows it changed.
func (c *session) exec(q string, args ...any) (n int64, err error) {
	err = c.guard(func() error {
		s, err := c.prepare(q)
		if err != nil {
			return err
		}
		r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
		if err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	clear(c.args) // they keep messages alive
	return n, err
}

// plain runs a statement without parameters that not every engine prepares:
// BEGIN, COMMIT, CREATE, SET.
func (c *session) plain(q string) error {
	return c.guard(func() error {
		if e, ok := c.conn.(driver.ExecerContext); ok {
			_, err := e.ExecContext(context.Background(), q, nil)
			if err != driver.ErrSkip {
				return err
			}
		}
		s, err := c.conn.Prepare(q)
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), nil)
		return err
	})
}

// query calls fn for each row. What fn is given is valid until it returns.
func (c *session) query(q string, fn func(row []driver.Value) error, args ...any) error {
	var rows driver.Rows
	err := c.guard(func() error {
		s, err := c.prepare(q)
		if err != nil {
			return err
		}
		rows, err = s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
		return err
	})
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err = c.guard(func() error { return rows.Next(row) }); err != nil {
			break
		}
		if err = fn(row); err != nil {
			break
		}
	}
	if err == io.EOF {
		err = nil
	}
	if !c.lost {
		if cerr := c.guard(rows.Close); err == nil {
			err = cerr
		}
	}
	return err
}

// integer is the only value of the only row; ok false: there is no row, or NULL in it.
func (c *session) integer(q string, args ...any) (n int64, ok bool, err error) {
	err = c.query(q, func(row []driver.Value) error {
		if row[0] == nil {
			return nil
		}
		n, err = asInt(row[0])
		ok = err == nil
		return err
	}, args...)
	return n, ok, err
}

// text is the only value of the only row as text.
func (c *session) text(q string, args ...any) (s string, err error) {
	err = c.query(q, func(row []driver.Value) error {
		switch x := row[0].(type) {
		case []byte:
			s = string(x)
		default:
			s = fmt.Sprint(x)
		}
		return nil
	}, args...)
	return s, err
}

// errDamaged reports values that this package has not stored.
var errDamaged = errors.New("damaged database")

func asInt(v driver.Value) (int64, error) {
	switch x := v.(type) {
	case int64:
		return x, nil
	case uint64:
		return int64(x), nil
	case []byte: // sums, with some engines
		return strconv.ParseInt(string(x), 10, 64)
	case string:
		return strconv.ParseInt(x, 10, 64)
	}
	return 0, fmt.Errorf("%w: %T where a number was stored", errDamaged, v)
}

// ints sets each of to from the values of a row, in order.
func ints(row []driver.Value, to ...*int64) error {
	for i, p := range to {
		n, err := asInt(row[i])
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

// asBytes is valid as long as v is.
func asBytes(v driver.Value) ([]byte, error) {
	switch x := v.(type) {
	case []byte:
		return x, nil
	case string:
		return []byte(x), nil
	}
	return nil, fmt.Errorf("%w: %T where bytes were stored", errDamaged, v)
}

func (c *session) close() error {
	if c.lost {
		// What is left of it: a server's socket. An engine that panicked in this
		// process may hold its locks and is left alone.
		if c.d != sqliteDialect {
			c.conn.Close()
		}
		return nil
	}
	return c.guard(func() error {
		for _, s := range c.stmts {
			s.Close()
		}
		clear(c.stmts)
		return c.conn.Close()
	})
}
