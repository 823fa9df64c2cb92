package box

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// letter is the message with that serial number: the same bytes for ever, of
// all the shapes that a format may stumble over.
func letter(serial int) []byte {
	r := rand.New(rand.NewPCG(uint64(serial), 0x1e77e7))
	eol := "\n"
	if serial%5 == 4 {
		eol = "\r\n"
	}
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format, args...); b.WriteString(eol) }
	line("X-Serial: %d", serial)
	line("Message-ID: <m%d@example.net>", serial)
	if serial > 0 && serial%3 != 0 {
		line("References: <m%d@example.net>", r.IntN(serial))
	}
	line("Subject: %snumber %d", []string{"", "Re: ", "[list] "}[serial%3], serial%10)
	line("Date: Thu, 2 Jan 2020 03:%02d:%02d +0000", serial/60%60, serial%60)
	line("From: Person %d <p%d@example.net>", serial%7, serial%7)
	b.WriteString(eol)
	size := []int{0, 1, 60, 500, 3000, 20_000}[r.IntN(6)]
	for n := b.Len() + size; b.Len() < n; {
		switch r.IntN(12) {
		case 0:
			line("From here on it looks like a mailbox")
		case 1:
			line(">From there too")
		case 2:
			line("")
		case 3:
			line(".")
		case 4:
			line("\x00\xff\xc3 raw bytes")
		case 5:
			line("%0*d", 1200, r.IntN(1000))
		default:
			line("%x", r.Uint64())
		}
	}
	if serial%4 == 3 {
		b.WriteString("no line end")
	}
	return b.Bytes()
}

// serialOf tells which letter body is; -1 if it is none, or not whole.
func serialOf(body []byte) int {
	rest, ok := bytes.CutPrefix(body, []byte("X-Serial: "))
	end := bytes.IndexAny(rest, "\r\n")
	if !ok || end < 0 {
		return -1
	}
	serial, err := strconv.Atoi(string(rest[:end]))
	if err != nil || serial < 0 || !bytes.Equal(body, letter(serial)) {
		return -1
	}
	return serial
}
