package rfc5322

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"os"
)

func TestDovRand(t *testing.T) {
	if os.Getenv("DOVRAND") == "" { t.Skip("manual") }
	d := newDrv()
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	pick := func(ws []string, n int) string {
		var s strings.Builder
		for range r.IntN(n) + 1 { s.WriteString(ws[r.IntN(len(ws))]) }
		return s.String()
	}
	dw := []string{"Wed", ",", " ", " ", "04", "4", "Mar", "feb", "2015", "99", "101", "01", ":", ":", "02", "03", ".", "+0100", "-0730", "EST", "Z", "a", "(x)", "(", ")", "\\", "\n ", "\x00", "\xe9", "60", "24", "\"", "september", "31", "29"}
	dt := []string{"Wed", ",", " ", "29", " ", "Feb", " ", "2016", " ", "23", ":", "59", ":", "60", " ", "+0130"}
	iw := []string{"<", ">", "@", "a", "b.c", ".", " ", "\"", "(", ")", "\\", "[", "]", "\r\n ", "\xe9", "<a@b>", ",", "\x00"}
	ww := []string{"=?utf-8?q?a?=", "=?utf-8?q?=C3?=", "=?utf-8?b?qQ==?=", "=?", "?=", "?", "=", " ", "x", "\r\n ", "=?iso-8859-1?q?=E9_?=", "=?nope?q?=E9?=", "\xe9", "=?utf-8?q?=ED=A0=80=41?=", "=?utf-8?b?YW!?=", "_", "q", "=?utf-8?q?", "\t", "=?utf-8*de?Q??=", "\x00", "=?windows-1252?q?=80=81=82?="}
	aw := []string{"a", "b.c", ".", "@", "<", ">", ",", ":", ";", "\"", "\\", "(", ")", "c", " ", " ", "\r\n ", "[", "]", "\xe9", "\x01", "<a@b>", "x@y", "(z)", "\"q\""}
	var cd, ci, cw, ca counter
	for range 400000 {
		var s string
		if r.IntN(2) == 0 { s = pick(dw, 16) } else {
			p := append([]string{}, dt...)
			for range r.IntN(4) { p[r.IntN(len(p))] = dw[r.IntN(len(dw))] }
			s = strings.Join(p, "")
		}
		w, wok := d.date([]byte(s))
		g, gok := ParseDateCompat([]byte(s), Dovecot)
		cd.cmp("date", []byte(s), fmt.Sprint(g, gok), fmt.Sprint(w, wok))
		b := []byte(pick(iw, 12))
		ci.cmp("ids", b, string(ourIDs(b)), string(d.ids(b)))
		b = []byte(pick(ww, 8))
		cw.cmp("words", b, string(DecodeWordsCompat(nil, b, Dovecot)), string(d.words(b)))
		b = []byte(pick(aw, 12))
		ca.cmp("addr", b, string(ourAddrs(b, Dovecot)), string(d.addrs(b)))
	}
	fmt.Println("date", cd.bad, "ids", ci.bad, "words", cw.bad, "addr", ca.bad, "of", cd.n)
}
