package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/peer/imap"
)

// asImaptest makes the test binary be a client with imaptest's arguments, since
// that is in no package of Debian's: it shows that what stands around imaptest
// counts right, not that imaptest itself does.
const asImaptest = "MAILBENCH_TEST_AS_IMAPTEST"

// standIn does for secs seconds what it is asked for and exits with 0; each
// client appends at least one message, or gives at least three commands.
func standIn(args []string) error {
	told := map[string]string{}
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		told[key] = value
	}
	secs, err1 := strconv.Atoi(told["secs"])
	clients, err2 := strconv.Atoi(told["clients"])
	file, err3 := os.ReadFile(told["mbox"])
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	_, only := told["-"]
	var messages [][]byte
	for _, part := range bytes.Split(file, []byte("From mailbench@localhost ")) {
		if _, m, ok := bytes.Cut(part, []byte("\r\n")); ok {
			messages = append(messages, m)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	end := time.Now().Add(time.Duration(secs) * time.Second)
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			errs[i] = func() error {
				conn, err := net.Dial("tcp", net.JoinHostPort(told["host"], told["port"]))
				if err != nil {
					return err
				}
				defer conn.Close()
				c := imap.New(conn)
				if _, err := c.Greeting(ctx); err != nil {
					return err
				}
				if _, err := c.Do(ctx, fmt.Sprintf("LOGIN %q %q", told["user"], told["pass"]), nil); err != nil {
					return err
				}
				for n := 0; n == 0 || time.Now().Before(end); n++ {
					if only {
						_, err = c.Append(ctx, "INBOX", nil, "", messages[n%len(messages)])
					} else {
						_, err = c.Do(ctx, []string{"SELECT INBOX", "NOOP", "UID FETCH 1:* FLAGS"}[n%3], nil)
					}
					if err != nil {
						return err
					}
				}
				return c.Logout(ctx)
			}()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// TestMeasureAppend_imaptest runs the stand-in against the real Dovecot.
func TestMeasureAppend_imaptest(t *testing.T) {
	t.Parallel()
	if err := NewDovecot(DovecotOptions{}).Available(); err != nil {
		t.Skip(err)
	}
	o := AppendOptions{
		Clients: []int{2}, Messages: 3, Fsync: []string{"never"}, Formats: []string{"mdbox"}, Designs: []string{}, Count: 1,
		Imaptest: "/proc/self/exe", Seconds: 1, Env: []string{asImaptest + "=1"}, User: ordinary(t),
	}
	if _, err := os.Stat(o.Imaptest); err != nil {
		t.Skip(err)
	}
	r, err := MeasureAppend(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var drivers []string
	for _, row := range r.Rows {
		drivers = append(drivers, row.Driver)
		if len(row.Samples) != 1 {
			t.Fatalf("%+v", row)
		}
		s := row.Samples[0]
		if row.Driver != "" && (s.Wall < time.Second || s.Messages < 2 || s.CPU <= 0) {
			t.Errorf("%s: %+v", row.Driver, s)
		}
		if row.Driver == imaptestAppend && s.Written < int64(s.Messages)*1000 {
			t.Errorf("%d messages in %d bytes", s.Messages, s.Written)
		}
	}
	if want := []string{"", imaptestAppend, imaptestMix}; !slices.Equal(drivers, want) || len(r.Skipped) > 0 {
		t.Errorf("rows of %q, skipped %q", drivers, r.Skipped)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "relay on 127.0.0.1") {
		t.Errorf("%v in\n%s", err, text.String())
	}
}

// TestMeasureAppend_noImaptest holds that one that is named must be there.
func TestMeasureAppend_noImaptest(t *testing.T) {
	_, err := MeasureAppend(t.Context(), AppendOptions{Imaptest: filepath.Join(t.TempDir(), "nothing")})
	var missing *Missing
	if !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}
