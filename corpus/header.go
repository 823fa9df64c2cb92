package corpus

import "strconv"

// A writer turns plans into messages. Its buffers are reused.
type writer struct {
	w    *world
	pl   planner
	pool *pools
	core []byte  // the fields that matter, before the trace fields are known to fit
	ids  []int32 // scratch of refs
}

func newWriter(w *world, pl planner) *writer { return &writer{w: w, pl: pl, pool: thePools()} }

// append writes the whole message: trace fields, header, body. Line ends are
// LF; a bare CR is never followed by LF, and the last line is complete.
func (w *writer) append(dst []byte, p *plan) []byte {
	r := rng(p.key ^ 0x77726974)
	w.core = w.appendCore(w.core[:0], p, &r)
	dst = w.appendTrace(dst, p, &r, p.header-len(w.core))
	dst = append(dst, w.core...)
	dst = append(dst, '\n')
	return w.appendBody(dst, p, &r)
}

// appendCore writes the fields that the author's program and the list write.
func (w *writer) appendCore(dst []byte, p *plan, r *rng) []byte {
	people := w.w.people
	dst = append(append(append(dst, "From: "...), people[p.from].full...), '\n')
	if p.nTo > 0 {
		dst = w.appendPeople(append(dst, "To: "...), p.to, p.bareTo, p.nTo, mix2(p.thread, 2), r)
	}
	if p.nCc > 0 {
		dst = w.appendPeople(append(dst, "Cc: "...), p.cc, p.bareTo, p.nCc, mix2(p.thread, 3), r)
	}
	if p.form != formNone {
		dst = append(appendSubject(append(dst, "Subject: "...), p, r), '\n')
	}
	if p.date != dateNone {
		dst = append(appendDate(append(dst, "Date: "...), p.sent, p.date, p.zone), '\n')
	}
	if p.faults&faultTwice != 0 {
		dst = append(dst, "Subject: a second one that must not count\n"...)
	}
	switch {
	case p.faults&faultNoID != 0:
	case p.faults&faultBareID != 0:
		at := len(dst) + len("Message-ID: ")
		dst = w.w.appendID(append(dst, "Message-ID: "...), p.sid)
		dst = append(dst[:at], append(dst[at+1:len(dst)-1], '\n')...)
	default:
		name := "Message-ID: "
		if r.intn(3) == 0 {
			name = "Message-Id: "
		}
		dst = append(w.w.appendMessageID(append(dst, name...), p.sid, w.w.quotedID(p.sid)), '\n')
	}
	if p.faults&faultNoColon != 0 {
		dst = append(dst, "this line lost its colon on the way\n"...)
	}
	dst = w.appendMIME(dst, p, r)
	dst = w.appendList(dst, p)
	if p.faults&faultNULHeader != 0 {
		dst = append(dst, "X-Serial: 12\x0034\n"...)
	}
	if p.faults&faultCR != 0 {
		dst = append(dst, "X-Scanned: clean\rby gateway\n"...)
	}
	if p.faults&fault8bit != 0 {
		dst = append(dst, "Organization: B\xfcro f\xfcr Gr\xf6\xdfen\n"...)
	}
	// References stand last, so that a reader who gives up in a megabyte of
	// them has seen everything else.
	return w.appendReferences(dst, p)
}

// appendPeople writes an address list: the first as decided, the others from
// the thread's circle, so that a thread's messages share most of them.
func (w *writer) appendPeople(dst []byte, first who, bare bool, n int, circle uint64, r *rng) []byte {
	people := w.w.people
	c := rng(circle)
	start := len(dst)
	id, long := first, !bare
	for i := range n {
		if i > 0 {
			id = who(c.skewed(len(people)))
			long = c.intn(5) > 1
			if dst = append(dst, ','); len(dst)-start > 60 || r.intn(40) == 0 {
				dst = append(dst, '\n', '\t')
				start = len(dst) - 8
			} else {
				dst = append(dst, ' ')
			}
		}
		a := &people[id]
		if long {
			dst = append(dst, a.full...)
		} else {
			dst = append(append(append(dst, a.mailbox...), '@'), a.host...)
		}
	}
	return append(dst, '\n')
}

func (w *writer) appendMIME(dst []byte, p *plan, r *rng) []byte {
	if p.header < 1500 && w.w.shape == List {
		return dst // mail of before MIME and its archives
	}
	dst = append(dst, "MIME-Version: 1.0\n"...)
	if p.body > attachFrom {
		dst = append(dst, "Content-Type: multipart/mixed; boundary=\""+boundary+"\"\n"...)
	} else {
		dst = append(dst, "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"...)
	}
	agent := agents[int(mix2(uint64(p.from), 7)%uint64(len(agents)))]
	name := "User-Agent: "
	if p.form == formBlob {
		agent, name = agents[0], "X-Mailer: "
	}
	return append(append(append(dst, name...), agent...), '\n')
}

func (w *writer) appendList(dst []byte, p *plan) []byte {
	if w.w.shape != List {
		return dst
	}
	list := lists[p.list]
	dst = append(append(append(append(dst, "Precedence: bulk\nList-ID: <"...), list...), '.'), listHost+">\n"...)
	if p.header < 2500 {
		return dst
	}
	for _, verb := range [...]string{"Subscribe", "Unsubscribe"} {
		dst = append(append(append(dst, "List-"...), verb...), ": <mailto:"...)
		dst = append(append(append(dst, list...), '+'), verb...)
		dst = append(dst, "@"+listHost+">\n"...)
	}
	return append(append(append(dst, "X-Mailing-List: "...), list...), "@"+listHost+"\n"...)
}

// appendReferences writes In-Reply-To and References as decided.
func (w *writer) appendReferences(dst []byte, p *plan) []byte {
	w.ids = w.pl.refs(w.ids[:0], refLink{p.sid, p.parent, p.refs})
	if p.refs == refProse {
		dst = append(dst, "In-Reply-To: Your message of \""...)
		dst = appendDate(dst, p.sent-7200, dateUsual, 0)
		return append(dst, "\"\n"...)
	}
	if len(w.ids) == 0 {
		return dst
	}
	last := w.ids[len(w.ids)-1]
	switch p.refs {
	case refProseID:
		dst = append(dst, "In-Reply-To: Message from widget owner of Tuesday\n\t"...)
		return append(w.w.appendID(dst, last), '\n')
	case refHollow:
		dst = append(dst, "References: (all of the above)\n"...)
		fallthrough
	case refAnswer:
		dst = append(dst, "In-Reply-To: "...)
		return append(w.w.appendID(dst, last), '\n')
	}
	if w.w.shape != ManyRefs {
		dst = append(dst, "In-Reply-To: "...)
		dst = append(w.w.appendID(dst, last), '\n')
	}
	sep, fold, width := " ", "\n ", 70
	switch p.refs {
	case refTight:
		sep, fold = "", "\n "
	case refCommas:
		sep, fold = ", ", ",\n\t"
	default:
		if mix2(p.key, 9)&1 == 0 {
			fold = "\n\t"
		}
	}
	dst = append(dst, "References: "...)
	line := len(dst) - 12
	for i, id := range w.ids {
		if i > 0 {
			if len(dst)-line > width {
				dst = append(dst, fold...)
				line = len(dst) - 1
			} else {
				dst = append(dst, sep...)
			}
		}
		if w.w.quotedID(id) && id&1 == 0 { // a program that copies what it sees
			dst = w.w.appendMessageID(dst, id, true)
		} else {
			dst = w.w.appendID(dst, id)
		}
	}
	return append(dst, '\n')
}

// appendInt writes a decimal number.
func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
