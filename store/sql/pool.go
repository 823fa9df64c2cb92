package sqlstore

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"
)

// A pool is the sessions of a Store, at most as many as it was made for: who
// comes when all are taken waits.
type pool struct {
	d       *dialect
	connect func() (driver.Conn, error)
	setup   []string      // run by each new session
	slots   chan struct{} // holds one for each session in use

	write sync.Mutex // held by the one transaction that writes, with an engine that has one writer

	mu     sync.Mutex
	idle   []*session
	closed bool
}

func newPool(d *dialect, connect func() (driver.Conn, error), setup []string, conns int) *pool {
	return &pool{d: d, connect: connect, setup: setup, slots: make(chan struct{}, conns)}
}

var errClosed = fmt.Errorf("the store is closed: %w", fs.ErrClosed)

// take returns a session that is nobody else's until give.
func (p *pool) take() (*session, error) {
	p.slots <- struct{}{}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.open()
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

func (p *pool) open() (*session, error) {
	c := &session{d: p.d, stmts: map[string]driver.Stmt{}, texts: map[textKey]string{}, fresh: true}
	err := c.guard(func() (err error) {
		c.conn, err = p.connect()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	for _, q := range p.setup {
		err := c.plain(q)
		// SQLite does not wait for its busy_timeout while two processes or
		// sessions make the same file a write-ahead one.
		for start := time.Now(); p.d.trouble(err) == retry && time.Since(start) < maxRetry; err = c.plain(q) {
			time.Sleep(time.Millisecond + rand.N(10*time.Millisecond))
		}
		if err != nil {
			c.close()
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	return c, nil
}

func (p *pool) give(c *session) {
	c.fresh = false
	p.mu.Lock()
	keep := !p.closed && !c.lost
	if keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		c.close()
	}
	<-p.slots
}

// read runs f, which changes nothing, with a session: again with another one
// when a connection was lost that may have been so before. f must not keep
// anything of a run that failed.
func (p *pool) read(f func(*session) error) error {
	for {
		c, err := p.take()
		if err != nil {
			return err
		}
		again := !c.fresh
		err = f(c)
		again = again && c.lost
		p.give(c)
		if !again {
			return err
		}
	}
}

// Retries of a transaction that met another one: about two seconds of waits in
// all. Where an engine itself waits for a lock before it gives up, no attempt
// begins later than maxRetry after the first.
const (
	maxTries = 30
	maxWait  = 100 * time.Millisecond
	maxRetry = 20 * time.Second
)

// An unsureError is the loss of the connection while a COMMIT was under way:
// the server may have done it or not.
type unsureError struct{ err error }

func (e *unsureError) Error() string {
	return "connection lost during commit, which may have been done or not: " + e.err.Error()
}
func (e *unsureError) Unwrap() error { return e.err }

// change runs f in a transaction that writes, again when it met another one
// (deadlock, serialization failure, busy). f must not keep anything of a run
// that failed.
func (p *pool) change(f func(*session) error) error {
	if p.d.oneWriter {
		p.write.Lock()
		defer p.write.Unlock()
	}
	start, wait := time.Now(), time.Millisecond
	for try := 1; ; {
		c, err := p.take()
		if err != nil {
			return err
		}
		fresh := c.fresh
		begun := false
		if err = c.plain(p.d.begin); err == nil {
			begun = true
			err = c.finish(f(c))
		}
		again := p.d.trouble(err) == retry || errors.Is(err, errVanished)
		stale := !begun && !fresh && c.lost
		p.give(c)
		switch {
		case err == nil:
			return nil
		case stale: // the server went away and may be back; a fresh session tells
		case again && try < maxTries && time.Since(start) < maxRetry:
			time.Sleep(rand.N(wait) + wait/2)
			wait = min(2*wait, maxWait)
			try++
		case again:
			return fmt.Errorf("%d attempts: %w", try, err)
		default:
			return err
		}
	}
}

// finish commits when err is nil and takes everything back otherwise.
func (c *session) finish(err error) error {
	if err == nil {
		err = c.plain("COMMIT")
		if err == nil {
			return nil
		}
		if c.lost {
			return &unsureError{err}
		}
	}
	if !c.lost && c.plain("ROLLBACK") != nil && c.d != sqliteDialect {
		c.lost = true // not to be used in a transaction of unknown state
	}
	return err
}

// close waits for the sessions in use.
func (p *pool) close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	var first error
	for _, c := range p.idle {
		if err := c.close(); first == nil {
			first = err
		}
	}
	p.idle = nil
	for range cap(p.slots) {
		<-p.slots // who comes late is told that it is closed
	}
	return first
}
