package rfc5322

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// listHeaders makes n headers that look like those of kernel lists: 5.2 KB
// on average, mostly Received and DKIM lines, long Cc fields.
func listHeaders(n int, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 0))
	letters := func(k int) string {
		b := make([]byte, k)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(36)]
		}
		return string(b)
	}
	host := func() string { return letters(4+r.IntN(8)) + "." + letters(5) + ".example" }
	id := func() string { return "<" + letters(12+r.IntN(20)) + "@" + host() + ">" }
	day := func() string {
		return fmt.Sprintf("Mon, %2d Jan 2024 %02d:%02d:%02d +0%d00", 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(10))
	}
	headers := make([][]byte, n)
	for i := range headers {
		var s strings.Builder
		f := func(format string, a ...any) { fmt.Fprintf(&s, format+"\n", a...) }
		f("Return-Path: <owner-list-%s@lists.example>", letters(6))
		for range 3 + r.IntN(4) {
			f("Received: from %s (%s [192.0.2.%d])\n\tby %s (Postfix) with ESMTP id %s\n\tfor <list@lists.example>; %s", host(), host(), r.IntN(256), host(), letters(11), day())
		}
		for range 1 + r.IntN(2) {
			f("DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\n        d=%s; s=%s;\n        h=from:to:cc:subject:date:message-id:references:in-reply-to;\n        bh=%s=;", host(), letters(8), letters(43))
			for range 4 {
				f("         %s", letters(66))
			}
		}
		f("X-Google-DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;")
		for range 6 {
			f("         %s", letters(66))
		}
		f("X-Gm-Message-State: AOJu0Y%s\n\t%s\n\t%s", letters(60), letters(70), letters(70))
		f("X-Received: by 2002:a05:%s with SMTP id %s;\n        %s", letters(20), letters(40), day())
		f("From: Ada Example <ada.%s@%s>", letters(4), host())
		s.WriteString("To: List <list@lists.example>")
		for range r.IntN(4) {
			fmt.Fprintf(&s, ",\n\tBen %s <%s@%s>", letters(6), letters(7), host())
		}
		s.WriteString("\nCc: dev@lists.example")
		for range 5 + r.IntN(12) {
			fmt.Fprintf(&s, ",\n Cleo %s <%s@%s>", letters(6), letters(7), host())
		}
		f("\nSubject: Re: [PATCH v%d %d/9] %s: make %s do %s", 1+r.IntN(5), r.IntN(10), letters(6), letters(8), letters(7))
		f("Date: %s", day())
		f("Message-ID: %s\nIn-Reply-To: %s", id(), id())
		s.WriteString("References:")
		for range 1 + r.IntN(6) {
			s.WriteString(" " + id() + "\n")
		}
		f("Mime-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit")
		f("X-Mailing-List: list@lists.example\nList-Id: <list.lists.example>\nList-Subscribe: <mailto:list+subscribe@lists.example>\nList-Unsubscribe: <mailto:list+unsubscribe@lists.example>")
		f("Precedence: bulk\nX-Mailer: mailer %s\nX-Spam-Status: No, score=-%d.%d", letters(5), r.IntN(9), r.IntN(9))
		f("")
		headers[i] = []byte(s.String())
	}
	return headers
}

func benchScan(b *testing.B, headers [][]byte, scan func(b []byte, want Mask, h *Header) bool) {
	total := 0
	for _, h := range headers {
		total += len(h)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	var h Header
	for b.Loop() {
		for _, m := range headers {
			scan(m, MaskQuery, &h)
		}
	}
}

// BenchmarkScan finds every field that SORT and THREAD want in a list's
// headers; MB/s is header text.
func BenchmarkScan(b *testing.B) {
	b.Run("corpus=synthetic", func(b *testing.B) { benchScan(b, listHeaders(2000, 1), Scan) })
	for _, name := range []string{"real-12k", "lkml-headers"} {
		b.Run("corpus="+name, func(b *testing.B) {
			benchScan(b, corpus(b, name+".mbox.zst", true), Scan)
		})
	}
}
