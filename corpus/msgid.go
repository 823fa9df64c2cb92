package corpus

import "strconv"

const hexDigits = "0123456789abcdef"

func appendHex(dst []byte, v uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, hexDigits[v>>(4*i)&15])
	}
	return dst
}

const idAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// author is who wrote the message of that identity.
func (w *world) author(sid int32) who {
	r := rng(mix2(w.seed^0x617574686f72, uint64(sid)))
	return who(r.skewed(numPeople))
}

// quotedID says whether the identity's own Message-ID field quotes the local
// part. RFC 5256 section 3 wants <"a"@b> and <a@b> to be the same.
func (w *world) quotedID(sid int32) bool {
	return !w.clean && w.shape == List && mix2(w.seed^0x71756f7465, uint64(sid))%8000 == 0
}

// appendID writes an identity's Message-ID, with brackets, as references write
// it. Different identities give different ids: every style holds the number.
func (w *world) appendID(dst []byte, sid int32) []byte { return w.appendMessageID(dst, sid, false) }

func (w *world) appendMessageID(dst []byte, sid int32, quoted bool) []byte {
	dst = append(dst, '<')
	if w.shape == ManyRefs { // short, so that 100,000 fit below the usual 1 MiB for a header
		dst = strconv.AppendUint(dst, uint64(sid), 36)
		return append(dst, "@m>"...)
	}
	if quoted {
		dst = append(dst, '"')
	}
	h := mix2(w.seed^0x6d736769, uint64(sid))
	n := int64(sid)
	p := &w.people[w.author(sid)]
	host := p.host
	switch style := h >> 56; {
	case style < 90: // git send-email
		c := civilOf(epoch + int64(h%(1<<28)))
		dst = append2(append2(append4(dst, c.year), c.month), c.day)
		dst = append2(append2(append2(dst, c.hour), c.min), c.sec)
		dst = strconv.AppendInt(append(dst, '.'), n, 10)
		dst = strconv.AppendInt(append(dst, '-'), int64(h>>28%20), 10)
		dst = append(append(dst, '-'), p.mailbox...)
	case style < 150: // web mail
		dst = append(dst, "CA+"...)
		for i := range 9 {
			dst = append(dst, idAlphabet[h>>(6*i)&63])
		}
		dst = strconv.AppendInt(append(dst, '='), n, 36)
		dst = append(dst, '_')
		for i := range 9 {
			dst = append(dst, idAlphabet[(h*0x9e3779b97f4a7c15)>>(6*i)&63])
		}
		host = "mail.gw.example.com"
	case style < 200: // UUID
		dst = append(appendHex(dst, h, 8), '-')
		dst = append(appendHex(dst, h>>32, 4), '-')
		dst = append(appendHex(dst, uint64(n), 8), '-')
		dst = append(appendHex(dst, h>>44, 4), '-')
		dst = appendHex(dst, h*0x9e3779b97f4a7c15, 12)
	case style < 220:
		dst = append(dst, "pine.lnx.4.64."...)
		dst = strconv.AppendInt(dst, int64(h%10000000), 10)
		dst = strconv.AppendInt(append(dst, '.'), n, 10)
	case style < 235:
		dst = append(appendHex(dst, h, 12), '$')
		dst = append(appendHex(dst, uint64(n), 8), '$')
		dst = appendHex(dst, h>>20, 8)
	default: // mutt
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, '.')
		dst = append(appendHex(dst, h, 10), ".GA"...)
		dst = strconv.AppendInt(dst, int64(h>>40%30000), 10)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return append(append(append(dst, '@'), host...), '>')
}
