package sqlidx

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"modernc.org/sqlite"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// The distributions' SQLite commits with fdatasync(2); this build has to be told.
func init() { sqlite.Fdatasync(true) }

// An engine is one connection to the database, with its prepared statements.
// The driver is used without database/sql: one connection needs no pool, and a
// row costs half as much.
type engine struct {
	conn   driver.Conn
	path   string
	ino    [2]uint64 // device and inode of the file
	stmts  map[string]driver.Stmt
	args   []driver.NamedValue
	in     bool // a transaction is open
	reads  bool // nothing can be written
	mode   string
	was    fsys.Info // the file when it was opened for reading
	broken bool      // the engine panicked: its locks may be held for ever, it is left alone

	rows, statements int64
}

// Modes of opening a database.
const (
	modeWrite  = "rw"
	modeCreate = "rwc"
	modeRead   = "ro"
	// Without locks and without a write-ahead log, which would need a file
	// beside the database to be made.
	modeStill = "ro&immutable=1"
)

// openEngine opens the file.
func openEngine(path, mode string) (*engine, error) {
	e := &engine{path: path, mode: mode, reads: mode == modeRead || mode == modeStill, stmts: map[string]driver.Stmt{}}
	name := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) + "?mode=" + mode
	err := e.guard(func() (err error) {
		e.conn, err = new(sqlite.Driver).Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// The engine's codes (primary ones) that mean a damaged file. Its generic
// error is one of them: our statements are right, so a table or a column that
// they do not find has been damaged. So is a row that two keys lead to.
const (
	codeError      = 1
	codeIO         = 10
	codeCorrupt    = 11
	codeConstraint = 19
	codeFormat     = 24
	codeNotADB     = 26
	codeShortRead  = codeIO | 2<<8
)

// fail turns an error of the engine into one of ours.
func (e *engine) fail(err error) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code() & 0xff {
	case codeError, codeCorrupt, codeConstraint, codeFormat, codeNotADB:
		return &index.CorruptError{File: e.path, What: se.Error()}
	}
	if se.Code() == codeShortRead {
		return &index.CorruptError{File: e.path, What: se.Error()}
	}
	if err := full(e.path, se.Code(), se.Error(), fsys.Space); err != nil {
		return err
	}
	return fmt.Errorf("sqlidx: %s: %w", e.path, se)
}

// guard runs f, which calls the engine. A panic in there, or a fault in a map
// of a file that got shorter, is damage.
func (e *engine) guard(f func() error) (err error) {
	if e.broken {
		return &index.CorruptError{File: e.path, What: "the engine has panicked"}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			e.broken = true
			err = &index.CorruptError{File: e.path, What: fmt.Sprint("the engine panicked: ", r)}
		}
	}()
	if err = f(); err != nil && err != io.EOF {
		err = e.fail(err)
	}
	return err
}

func (e *engine) prepare(q string) (driver.Stmt, error) {
	s, ok := e.stmts[q]
	if ok {
		return s, nil
	}
	s, err := e.conn.Prepare(q)
	if err == nil {
		e.stmts[q] = s
	}
	return s, err
}

// bind makes arguments of int64, []byte, string and nil. Empty bytes are
// stored as such, nil bytes as NULL.
func (e *engine) bind(args []any) []driver.NamedValue {
	e.args = e.args[:0]
	for i, a := range args {
		switch x := a.(type) {
		case int:
			a = int64(x)
		case uint32:
			a = int64(x)
		case uint64:
			a = int64(x)
		}
		e.args = append(e.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return e.args
}

// exec runs a statement. id is the last row inserted, n the rows changed.
func (e *engine) exec(q string, args ...any) (id, n int64, err error) {
	e.statements++
	err = e.guard(func() error {
		s, err := e.prepare(q)
		if err != nil {
			return err
		}
		r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), e.bind(args))
		if err != nil {
			return err
		}
		if id, err = r.LastInsertId(); err != nil {
			return err
		}
		n, err = r.RowsAffected()
		return err
	})
	return id, n, err
}

// query calls fn for each row; what it is given is valid until fn returns,
// except for the bytes, which are its own.
func (e *engine) query(q string, fn func(row []driver.Value) error, args ...any) error {
	e.statements++
	var rows driver.Rows
	err := e.guard(func() error {
		s, err := e.prepare(q)
		if err != nil {
			return err
		}
		rows, err = s.(driver.StmtQueryContext).QueryContext(context.Background(), e.bind(args))
		return err
	})
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err = e.guard(func() error { return rows.Next(row) })
		if err != nil {
			break
		}
		e.rows++
		if err = fn(row); err != nil {
			break
		}
	}
	if err == io.EOF {
		err = nil
	}
	if !e.broken {
		if cerr := e.guard(rows.Close); err == nil {
			err = cerr
		}
	}
	return err
}

// number is the only value of the only row.
func (e *engine) number(q string, args ...any) (n int64, err error) {
	err = e.query(q, func(row []driver.Value) error {
		n, err = e.int(row[0])
		return err
	}, args...)
	return n, err
}

// int and bytes read a value of the type that it was stored with.
func (e *engine) int(v driver.Value) (int64, error) {
	n, ok := v.(int64)
	if !ok {
		return 0, &index.CorruptError{File: e.path, What: fmt.Sprintf("%T where a number was stored", v)}
	}
	return n, nil
}

// bytes is nil for NULL.
func (e *engine) bytes(v driver.Value) ([]byte, error) {
	switch b := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		if b == nil {
			b = []byte{}
		}
		return b, nil
	}
	return nil, &index.CorruptError{File: e.path, What: fmt.Sprintf("%T where bytes were stored", v)}
}

// begin starts a transaction; one that writes takes the lock at once, so that
// it never has to be started over.
func (e *engine) begin(write bool) error {
	q := "BEGIN"
	if write {
		q = "BEGIN IMMEDIATE"
	}
	_, _, err := e.exec(q)
	e.in = err == nil
	return err
}

// end commits, or takes everything back when *err is an error.
func (e *engine) end(err *error) {
	if *err == nil {
		if _, _, *err = e.exec("COMMIT"); *err == nil {
			e.in = false
			return
		}
	}
	if e.in && !e.broken {
		e.exec("ROLLBACK") // it may have been done already
	}
	e.in = false
}

// inside runs f in a transaction.
func (e *engine) inside(write bool, f func() error) (err error) {
	if err := e.begin(write); err != nil {
		return err
	}
	defer e.end(&err)
	return f()
}

func (e *engine) close() error {
	if e == nil || e.broken {
		return nil
	}
	return e.guard(func() error {
		for _, s := range e.stmts {
			s.Close()
		}
		clear(e.stmts)
		return e.conn.Close()
	})
}
