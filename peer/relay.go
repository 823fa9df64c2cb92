package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A relay is a listener on the loopback interface, on a port of the kernel's
// choosing, for a client that can only connect and log in. It answers what comes
// before LOGIN itself, takes any name and password, and then passes all bytes to
// and from a session of a server, which is already authenticated: a new one for
// each connection. It counts the replies of the servers by what they say.
type relay struct {
	listener net.Listener
	server   appendServer
	done     sync.WaitGroup

	sessions    atomic.Int64 // that have logged in
	ok, refused atomic.Int64 // tagged replies after that: OK, and NO or BAD

	mu     sync.Mutex
	conns  map[net.Conn]bool
	errs   []error
	closed bool
}

// newRelay starts one before server. It serves until Close, or until ctx ends.
func newRelay(ctx context.Context, server appendServer) (*relay, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &relay{listener: l, server: server, conns: map[net.Conn]bool{}}
	r.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			if !r.keep(c) {
				c.Close()
				return
			}
			r.done.Go(func() {
				defer r.drop(c)
				if err := r.serve(ctx, c); err != nil {
					r.mu.Lock()
					defer r.mu.Unlock()
					if len(r.errs) < 10 {
						r.errs = append(r.errs, err)
					}
				}
			})
		}
	})
	context.AfterFunc(ctx, r.hangUp)
	return r, nil
}

// Port is where it listens.
func (r *relay) Port() int { return r.listener.Addr().(*net.TCPAddr).Port }

func (r *relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.conns[c] = true
	}
	return !r.closed
}

func (r *relay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	c.Close()
}

func (r *relay) hangUp() {
	r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for c := range r.conns {
		c.Close()
	}
}

// Close ends every connection and returns what went wrong in those that the
// clients had not ended.
func (r *relay) Close() error {
	r.hangUp()
	r.done.Wait()
	return errors.Join(r.errs...)
}

// serve is one connection.
func (r *relay) serve(ctx context.Context, client net.Conn) error {
	server, err := r.server.Dial(ctx)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	from := bufio.NewReaderSize(server, 64<<10)
	greeting, err := relayLine(from)
	if err != nil {
		return fmt.Errorf("relay: the server's greeting: %w", err)
	}
	if !bytes.HasPrefix(greeting, []byte("* PREAUTH ")) {
		return fmt.Errorf("relay: the server's greeting is %.80q", greeting)
	}
	// What it can do, it says in brackets there.
	can := "IMAP4rev1"
	if _, rest, ok := strings.Cut(string(greeting), "[CAPABILITY "); ok {
		if list, _, ok := strings.Cut(rest, "]"); ok {
			can = list
		}
	}
	in := bufio.NewReaderSize(client, 64<<10)
	in, err = relayLogin(client, in, can)
	if err != nil || in == nil {
		closeSession(server)
		return err
	}
	r.sessions.Add(1)
	replies := make(chan error, 1)
	go func() {
		err := r.replies(client, from)
		client.Close() // the server has ended
		replies <- err
	}()
	io.Copy(server, in) // until the client ends, or the server has
	closeSession(server)
	return <-replies
}

// closeSession tells a server that its client has gone.
func closeSession(server io.ReadWriter) {
	if half, ok := server.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	} else if c, ok := server.(io.Closer); ok {
		c.Close()
	}
}

const relayMost = 8 << 10 // bytes of a line before LOGIN

var errRelayLine = errors.New("a line without end")

// relayLine reads a line, which is valid until the next.
func relayLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull || len(line) > relayMost {
		return nil, errRelayLine
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// relayLogin answers what comes before LOGIN, and that. A nil reader: the client
// has gone, or logged out.
func relayLogin(client io.Writer, in *bufio.Reader, can string) (*bufio.Reader, error) {
	if _, err := fmt.Fprintf(client, "* OK [CAPABILITY %s] relay\r\n", can); err != nil {
		return nil, nil
	}
	for {
		line, err := relayLine(in)
		if err == errRelayLine {
			return nil, fmt.Errorf("relay: before LOGIN: %w", err)
		}
		if err != nil {
			return nil, nil
		}
		tag, command, _ := strings.Cut(string(line), " ")
		word, _, _ := strings.Cut(strings.ToUpper(command), " ")
		if err := relayLiterals(client, in, line); err != nil {
			return nil, err
		}
		switch word {
		case "LOGIN":
			_, err = fmt.Fprintf(client, "%s OK [CAPABILITY %s] logged in\r\n", tag, can)
			if err != nil {
				return nil, nil
			}
			return in, nil
		case "CAPABILITY":
			_, err = fmt.Fprintf(client, "* CAPABILITY %s\r\n%s OK done\r\n", can, tag)
		case "NOOP":
			_, err = fmt.Fprintf(client, "%s OK done\r\n", tag)
		case "LOGOUT":
			fmt.Fprintf(client, "* BYE logging out\r\n%s OK done\r\n", tag)
			return nil, nil
		default:
			_, err = fmt.Fprintf(client, "%s BAD not before LOGIN\r\n", tag)
		}
		if err != nil {
			return nil, nil
		}
	}
}

// relayLiterals reads past the literals of a command that begins with line.
func relayLiterals(client io.Writer, in *bufio.Reader, line []byte) error {
	for {
		n, plus, ok := announced(line)
		if !ok {
			return nil
		}
		if n > relayMost {
			return fmt.Errorf("relay: a literal of %d bytes before LOGIN", n)
		}
		if !plus {
			io.WriteString(client, "+ go on\r\n")
		}
		if _, err := in.Discard(int(n)); err != nil {
			return nil
		}
		var err error
		if line, err = relayLine(in); err != nil {
			return fmt.Errorf("relay: after a literal: %w", err)
		}
	}
}

// announced reports whether a line, without its end, announces a literal, and
// of how many bytes; plus: the client does not wait for a continuation.
func announced(line []byte) (n int64, plus, ok bool) {
	rest, found := bytes.CutSuffix(line, []byte("}"))
	at := bytes.LastIndexByte(rest, '{')
	if !found || at < 0 {
		return 0, false, false
	}
	digits, plus := bytes.CutSuffix(rest[at+1:], []byte("+"))
	n, err := strconv.ParseInt(string(digits), 10, 63)
	return n, plus, err == nil && n >= 0 && len(digits) > 0 && digits[0] != '+'
}

// replies passes what the server says on, and counts its tagged lines.
func (r *relay) replies(client io.Writer, from *bufio.Reader) error {
	out := bufio.NewWriterSize(client, 64<<10)
	for whole := true; ; {
		line, err := from.ReadSlice('\n')
		begins := whole
		whole = err == nil
		if _, werr := out.Write(line); werr != nil {
			// The client has gone; what the server says is still read.
			io.Copy(io.Discard, from)
			return nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			out.Flush()
			return nil
		}
		if begins && len(line) > 1 && line[0] != '*' && line[0] != '+' {
			if _, rest, ok := bytes.Cut(line, []byte(" ")); ok {
				switch word, _, _ := bytes.Cut(rest, []byte(" ")); string(word) {
				case "OK":
					r.ok.Add(1)
				case "NO", "BAD":
					r.refused.Add(1)
				}
			}
		}
		if whole {
			if n, _, ok := announced(bytes.TrimRight(line, "\r\n")); ok && line[0] == '*' || ok && !begins {
				if _, err := io.CopyN(out, from, n); err != nil {
					out.Flush()
					return nil
				}
				whole = false // what follows goes on with the line
			}
		}
		if from.Buffered() == 0 {
			out.Flush()
		}
	}
}
