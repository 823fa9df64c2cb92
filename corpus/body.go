package corpus

const (
	attachFrom = 20_000 // bodies longer than this are mostly an attachment
	boundary   = "=_next-part_="
)

// appendBody writes a body of about the decided size: a quotation and an
// answer, a patch, or text with an attachment.
func (w *writer) appendBody(dst []byte, p *plan, r *rng) []byte {
	start := len(dst)
	left := func() int { return p.body - (len(dst) - start) }
	attached := p.body > attachFrom && (p.header >= 1500 || w.w.shape != List)
	if attached {
		dst = append(dst, "--"+boundary+"\nContent-Type: text/plain; charset=utf-8\n\n"...)
	}
	if p.parent != noID && p.reply && left() > 150 {
		dst = append(append(append(dst, "On that day "...), w.w.people[w.w.author(p.parent)].bare()...), " wrote:\n"...)
		dst = w.pool.quote.appendLines(dst, r, min(left()/2, 4000))
	}
	dst = w.appendFaults(dst, p, r)
	switch {
	case attached:
		dst = w.pool.prose.appendLines(dst, r, 600)
		dst = append(dst, "\n--"+boundary+"\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n"...)
		dst = w.pool.base64.appendLines(dst, r, left())
		dst = append(dst, "--"+boundary+"--\n"...)
	case p.form == formBlob && left() > 400:
		dst = w.pool.prose.appendLines(dst, r, left()/4)
		dst = append(append(dst, "\nSigned-off-by: "...), w.w.people[p.from].full...)
		dst = append(dst, "\n---\n"...)
		dst = w.pool.diff.appendLines(dst, r, left())
	default:
		dst = w.pool.prose.appendLines(dst, r, max(1, left()-35))
	}
	return dst
}

func (w *writer) appendFaults(dst []byte, p *plan, r *rng) []byte {
	if p.faults == 0 {
		return dst
	}
	if p.faults&faultFromLine != 0 {
		dst = append(dst, "From what the log says, the timer fires too early.\n"...)
	}
	if p.faults&faultQuotedFrom != 0 {
		dst = append(dst, ">From what the log says, the timer fires too late.\n"...)
	}
	if p.faults&faultNUL != 0 {
		dst = append(dst, "dump: \x00\x00\x01\x00 end\n"...)
	}
	if p.faults&faultCR != 0 {
		dst = append(dst, "progress 10%\rprogress 99%\rdone\n"...)
	}
	if p.faults&faultLongLine != 0 {
		dst = append(w.pool.appendLetters(dst, r, r.between(1000, 9000), 9000, ""), '\n')
	}
	return dst
}
