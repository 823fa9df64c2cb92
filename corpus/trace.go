package corpus

// appendTrace writes what the mail systems on the way put in front of a
// message, until the header has about the wanted size: Received, DKIM, ARC,
// and what spam filters add. Nobody sorts or threads by it, but everybody who
// reads the header must get past it, and on real lists it is most of it.
func (w *writer) appendTrace(dst []byte, p *plan, r *rng, room int) []byte {
	start := len(dst)
	if room < 150 {
		return dst
	}
	list := lists[p.list]
	dst = append(append(append(dst, "Return-Path: <"...), list...), "-owner@"+listHost+">\n"...)
	dst = append(dst, "X-Original-To: archive@box.example\nDelivered-To: archive@box.example\n"...)
	at := p.internal
	host := "box.example"
	received, signed := 0, false
	for {
		left := room - (len(dst) - start)
		switch {
		case left < 110:
			return dst
		case left < 200:
			dst = append(append(dst, "X-Received: by "...), host...)
			dst = w.pool.appendLetters(append(dst, " with SMTP id "...), r, min(40, left-50), 60, "")
			dst = append(dst, '\n')
		case received < 3:
			dst, host = w.appendReceived(dst, host, at, r)
			at -= int64(r.intn(4))
			received++
		case !signed && left > 560:
			dst = w.appendDKIM(dst, p, r)
			signed = true
		case left > 4200 && r.intn(3) == 0:
			dst = w.appendExchange(dst, r, min(left, 1200))
		case left > 1700 && r.intn(3) == 0:
			dst = w.appendARC(dst, p, at, r)
		case left > 900 && r.intn(3) == 0:
			dst = append(dst, "X-Gm-Message-State: "...)
			dst = append(w.pool.appendLetters(dst, r, r.between(90, 200), 200, ""), '\n')
		case left > 560 && (received > 8 || r.intn(4) == 0):
			dst = w.appendDKIM(dst, p, r)
		case left > 300 && r.intn(4) == 0:
			dst = append(dst, "X-Spam-Status: No, score=-"...)
			dst = append(appendInt(dst, r.intn(9)), ".2 required=5.0 tests=BAYES_00,DKIM_SIGNED,\n\tDKIM_VALID,HEADER_FROM_DIFFERENT_DOMAINS,MAILING_LIST_MULTI,SPF_HELO_NONE\n\tautolearn=ham version=3.4.0\n"...)
		default:
			dst, host = w.appendReceived(dst, host, at, r)
			at -= int64(r.intn(4))
			received++
		}
	}
}

func appendIP(dst []byte, r *rng) []byte {
	dst = append(dst, "[192.0.2."...) // RFC 5737
	return append(appendInt(dst, r.intn(256)), ']')
}

// appendReceived writes one hop and returns the host before it.
func (w *writer) appendReceived(dst []byte, by string, at int64, r *rng) ([]byte, string) {
	from := domains[r.intn(len(domains))]
	dst = append(append(dst, "Received: from mx"...), byte('0'+r.intn(10)), '.')
	dst = append(append(dst, from...), " (unknown "...)
	dst = append(appendIP(dst, r), ")\n\tby "...)
	dst = append(append(dst, by...), " (Postfix) with ESMTP id "...)
	dst = w.pool.appendLetters(dst, r, 11, 11, "")
	dst = append(dst, "\n\tfor <archive@box.example>; "...)
	dst = appendDate(dst, at, dateTwoDigits, 0)
	return append(dst, '\n'), from
}

func (w *writer) appendDKIM(dst []byte, p *plan, r *rng) []byte {
	dst = append(dst, "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\n        d="...)
	dst = append(append(dst, w.w.people[p.from].host...), "; s=20210112;\n        h=from:to:cc:subject:date:message-id:in-reply-to:references\n         :mime-version:content-transfer-encoding;\n        bh="...)
	dst = append(w.pool.appendLetters(dst, r, 43, 43, ""), "=;\n        b="...)
	dst = w.pool.appendLetters(dst, r, 58, 58, "")
	dst = w.pool.appendLetters(dst, r, 284, 64, "\n         ")
	return append(dst, "==\n"...)
}

func (w *writer) appendARC(dst []byte, p *plan, at int64, r *rng) []byte {
	dst = append(dst, "ARC-Seal: i=1; a=rsa-sha256; t="...)
	dst = append(appendInt(dst, int(at)), "; cv=none;\n        d=gw.example.com; s=arc-20160816;\n        b="...)
	dst = w.pool.appendLetters(dst, r, 344, 64, "\n         ")
	dst = append(dst, "==\nARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=gw.example.com; s=arc-20160816;\n        h=list-id:precedence:references:in-reply-to:message-id:date:subject:cc:to:from;\n        b="...)
	dst = w.pool.appendLetters(dst, r, 344, 64, "\n         ")
	dst = append(dst, "==\nARC-Authentication-Results: i=1; mx.gw.example.com;\n       spf=pass (gw.example.com: domain of "...)
	dst = append(append(dst, lists[p.list]...), "-owner@"+listHost+" designates "...)
	return append(appendIP(dst, r), " as permitted sender)\n"...)
}

func (w *writer) appendExchange(dst []byte, r *rng, n int) []byte {
	dst = append(dst, "X-Forefront-Antispam-Report: CIP:255.255.255.255;CTRY:;LANG:en;SCL:1;SRV:;IPV:NLI;SFV:NSPM;CAT:NONE;DIR:OUT;\nX-MS-Exchange-AntiSpam-MessageData-0: "...)
	return append(w.pool.appendLetters(dst, r, n-300, 900, "\n\t"), '\n')
}
