package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"mailbench/corpus"
	"mailbench/peer/imap"
)

const (
	appendedBytes = 3072    // of a message, with CRLF
	mostAppended  = 200_000 // to one mailbox: they are kept in memory
)

// newAppended makes n messages of appendedBytes bytes with CRLF: headers as
// lists have them, and lines of text. No two are the same.
func newAppended(seed uint64, n int) [][]byte {
	g := corpus.Generate(corpus.Spec{Seed: seed ^ 0x617070656e640000, Messages: 4*n + 100, Body: corpus.BodyNone, Clean: true})
	list := make([][]byte, 0, n)
	var m corpus.Message
	for len(list) < n {
		if !g.Next(&m) {
			g = corpus.Generate(corpus.Spec{Seed: seed + uint64(len(list)), Messages: 4*n + 100, Body: corpus.BodyNone, Clean: true})
			continue
		}
		msg := bytes.ReplaceAll(m.Data, []byte("\n"), []byte("\r\n"))
		mark := fmt.Appendf(nil, "message %d\r\n", len(list))
		if len(msg)+len(mark) > appendedBytes-2 {
			continue
		}
		msg = append(msg, mark...)
		for len(msg) < appendedBytes {
			line := min(appendedBytes-len(msg), 74)
			if rest := appendedBytes - len(msg) - line; rest > 0 && rest < 2 {
				line -= 2
			}
			msg = append(msg, bytes.Repeat([]byte{'.'}, line-2)...)
			msg = append(msg, "\r\n"...)
		}
		list = append(list, msg)
	}
	return list
}

// appendAll has every session append its share of the messages, one after the
// other, all sessions at once.
func appendAll(ctx context.Context, s *appendSessions, messages [][]byte, selected bool) (AppendSample, error) {
	clients := make([]*imap.Client, len(s.conns))
	each := func(do func(i int) error) error {
		errs := make([]error, len(clients))
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { errs[i] = do(i) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
	err := each(func(i int) error {
		clients[i] = imap.New(s.conns[i])
		if _, err := clients[i].Greeting(ctx); err != nil {
			return err
		}
		if _, err := clients[i].Capabilities(ctx); err != nil { // Append wants to know
			return err
		}
		if selected {
			_, err := clients[i].Do(ctx, "SELECT INBOX", nil)
			return err
		}
		_, err := clients[i].Do(ctx, "NOOP", nil)
		return err
	})
	if err != nil {
		return AppendSample{}, err
	}
	share := len(messages) / len(clients)
	took := make([]time.Duration, len(messages))
	before := usageOf(s.server)
	began := time.Now()
	err = each(func(i int) error {
		for k := i * share; k < (i+1)*share; k++ {
			t := time.Now()
			if _, err := clients[i].Append(ctx, "INBOX", nil, "", messages[k]); err != nil {
				return fmt.Errorf("message %d of client %d: %w", k-i*share+1, i+1, err)
			}
			took[k] = time.Since(t)
		}
		return nil
	})
	sample := AppendSample{Wall: time.Since(began), Messages: len(messages)}
	if err != nil {
		return sample, err
	}
	after := usageOf(s.server)
	sample.CPU = after.cpu - before.cpu
	sample.Written = after.written - before.written
	slices.Sort(took)
	sample.P50, sample.P99 = took[len(took)/2], took[len(took)*99/100]
	return sample, each(func(i int) error { return clients[i].Logout(ctx) })
}

// used is what the processes of all sessions have cost so far.
type used struct {
	cpu     time.Duration
	written int64
}

func usageOf(server appendServer) (sum used) {
	for _, p := range server.Procs() {
		sum.cpu += p.CPU()
		sum.written += p.Usage().Written
	}
	return sum
}

// readBack fetches the whole mailbox in a new session and returns ErrLost when
// it is not exactly the messages.
func readBack(ctx context.Context, conn io.ReadWriter, messages [][]byte) error {
	want := make(map[uint64]int, len(messages))
	for _, m := range messages {
		want[xxhash.Sum64(m)]++
	}
	c := imap.New(conn)
	if _, err := c.Greeting(ctx); err != nil {
		return err
	}
	if _, err := c.Do(ctx, "EXAMINE INBOX", nil); err != nil {
		return err
	}
	there, strange := 0, 0
	var bad error
	_, err := c.Do(ctx, "UID FETCH 1:* BODY.PEEK[]", func(line []byte) {
		msg, ok, err := fetchedBody(line)
		if err != nil {
			bad = err
		}
		if !ok || err != nil {
			return
		}
		there++
		sum := xxhash.Sum64(msg)
		if want[sum] == 0 {
			strange++
			return
		}
		want[sum]--
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	if there != len(messages) || strange > 0 {
		return fmt.Errorf("%w: %d messages were acknowledged, %d are there, %d of them are others", ErrLost, len(messages), there, strange)
	}
	return c.Logout(ctx)
}

// fetchedBody cuts BODY[] from an untagged FETCH line, which has it as a
// literal. Other lines are not ok.
func fetchedBody(line []byte) (msg []byte, ok bool, err error) {
	_, rest, found := bytes.Cut(line, []byte(" FETCH ("))
	if !found {
		return nil, false, nil
	}
	_, rest, found = bytes.Cut(rest, []byte("BODY[] {"))
	if !found {
		return nil, false, nil
	}
	digits, rest, found := bytes.Cut(rest, []byte("}\r\n"))
	n, err := strconv.Atoi(string(digits))
	if !found || err != nil || n < 0 || n > len(rest) {
		return nil, false, fmt.Errorf("a literal of %q bytes in a reply of %d", digits, len(line))
	}
	return rest[:n], true, nil
}
