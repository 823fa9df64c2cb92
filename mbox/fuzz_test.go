package mbox

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// Messages, separators and what is before the first message are the file; the
// same holds for each cut of it; scanning twice gives the same.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"", "x", dated, dated + "a: b\n\nx\n\n" + dated2 + "a: b\n", "junk\n\n" + dated + "a: b\r\n\r\n",
		"From \na: b\n\nFrom \na: b\n", dated + "Content-Length: 3\n\nabc\n" + dated2, "\xef\xbb\xbf" + dated,
		dated + ">From x\n>>From \n", "From x\na: b\n\nFrom y\nc: d\n\n",
	} {
		for d := range 4 {
			f.Add([]byte(s), uint8(d))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, dialect uint8) {
		d := Dialect(dialect % 4)
		ms, _, err := split(t, b, d)
		if (len(ms) == 0) != (err != nil || len(b) == 0) {
			t.Fatalf("%d messages, %v", len(ms), err)
		}
		for _, m := range ms {
			stored := b[m.BodyOff:m.End]
			plain := Unquote(nil, stored, d)
			if d == MboxRD && len(stored)-len(plain) != int(m.Quoted) {
				t.Fatalf("%d quoted lines, but unquoting took %d bytes of %q", m.Quoted, len(stored)-len(plain), stored)
			}
			// An offset and a dialect are enough to find the message again.
			var again Message
			Scan(b[m.Off:], d, func(m Message) bool { again = m; return false })
			if again.BodyOff != 0 && again.BodyOff != m.BodyOff-m.Off {
				t.Fatalf("scanned from %d: %+v", m.Off, again)
			}
		}
		if len(b) > 0 {
			split(t, b[:len(b)/2], d)
		}
	})
}

// What Writer writes, Scan splits at the same places and Unquote gives back.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a@x.example", int64(0), []byte("a: b\n\nFrom x\n"), []byte(""))
	f.Add("", int64(1<<40), []byte(dated+dated), []byte(">From \n>>From "))
	f.Add("Mon Jan 1", int64(-1<<40), []byte("x"), []byte("\n\r\n"))
	f.Add("1", int64(1e9), []byte("\r\n"), []byte("From "))
	f.Fuzz(func(t *testing.T, sender string, unix int64, a, b []byte) {
		when := time.Unix(unix%(1<<45), 0)
		var buf bytes.Buffer
		w := NewWriter(&buf)
		msgs := [][]byte{a, b, a}
		for _, m := range msgs {
			if err := w.Write(sender, when, m); err != nil {
				t.Fatal(err)
			}
		}
		got, problems, err := split(t, buf.Bytes(), MboxRD)
		if err != nil || len(got) != len(msgs) || problems.Total > 0 {
			t.Fatalf("%d messages, %v, %v in %q", len(got), err, problems, clip(buf.Bytes()))
		}
		for i, m := range got {
			want := msgs[i]
			if n := len(want); n > 0 && want[n-1] != '\n' {
				want = append(want[:n:n], '\n')
			}
			if plain := Unquote(nil, buf.Bytes()[m.BodyOff:m.End], MboxRD); !bytes.Equal(plain, want) {
				t.Fatalf("message %d: %q, want %q", i, clip(plain), clip(want))
			}
			if !m.DateOK || m.Date != clampYear(when.UTC()).Unix() {
				t.Fatalf("date %d %v, want %d", m.Date, m.DateOK, when.Unix())
			}
			name := string(appendSender(nil, sender))
			if got := buf.String()[m.Off+int64(m.SenderOff):][:m.SenderLen]; got != name {
				t.Fatalf("sender %q, want %q", got, name)
			}
		}
	})
}

func TestWriter_error(t *testing.T) {
	r, pw := io.Pipe()
	r.Close()
	if err := NewWriter(pw).Write("a", time.Now(), []byte("x")); err != io.ErrClosedPipe {
		t.Errorf("%v", err)
	}
}
