package mbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// listMail writes n messages that look like a list's: headers of 5 KB in the
// mean with many capital F, prose, quotes, some base64. Deterministic.
func listMail(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"From", "the", "patch", "Fri,", "for", "kernel", ">", "file", "Fixes:", "returns", "FOO_BAR", "id"}
	var out, msg bytes.Buffer
	w := NewWriter(&out)
	for i := range n {
		msg.Reset()
		fmt.Fprintf(&msg, "From: user%d@example.org\nSubject: Re: message %d\nMessage-ID: <%d.%x@example.org>\n", i%97, i, i, r.Uint64())
		for range r.IntN(60) + 20 {
			fmt.Fprintf(&msg, "Received: from host%x.example.org (host.example.org [192.0.2.%d])\n\tby mx.example.org with ESMTP id %X;\n", r.Uint32(), r.IntN(256), r.Uint64())
		}
		msg.WriteByte('\n')
		for range r.IntN(40) {
			for range r.IntN(14) {
				msg.WriteString(words[r.IntN(len(words))])
				msg.WriteByte(' ')
			}
			msg.WriteByte('\n')
		}
		if err := w.Write("list@example.org", time.Unix(1_500_000_000+int64(i)*60, 0), msg.Bytes()); err != nil {
			panic(err)
		}
	}
	return out.Bytes()
}

func BenchmarkScan(b *testing.B) {
	data := listMail(5000)
	for _, d := range []Dialect{MboxRD, MboxCL2} {
		b.Run("dialect="+d.String(), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				Scan(data, d, func(Message) bool { n++; return true })
				if n != 5000 {
					b.Fatalf("%d messages, want 5000", n)
				}
			}
		})
	}
	// A user's own file, mapped afresh each time: page faults are in it.
	path := os.Getenv("MAILBENCH_MBOX")
	if path == "" {
		return
	}
	b.Run("file=mapped", func(b *testing.B) {
		n := 0
		for b.Loop() {
			f, err := Open(path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(f.Data())))
			n = 0
			f.Scan(func(Message) bool { n++; return true })
			f.Close()
		}
		b.ReportMetric(float64(n), "msgs")
	})
}
