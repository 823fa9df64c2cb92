package corpus

import "strconv"

// namer makes maildir file names in the styles of Dovecot, Courier and qmail.
// Their order, by seconds and then by the number after M, is the order of the
// messages, which is how UIDs are given out; octet order is the same.
type namer struct {
	second int64
	micro  int
	serial uint64
}

// slot takes the next free place in time at or after arrival: a second, and a
// number of six digits that grows within it. alone is true for the first name
// of a second.
func (n *namer) slot(arrival int64, r *rng) (alone bool) {
	if arrival > n.second {
		n.second, n.micro = arrival, 0
	}
	if n.micro == 0 {
		n.micro = r.between(100_000, 599_999)
		return true
	}
	if n.micro += r.between(1, 3000); n.micro > 999_999 {
		n.second++
		n.micro = r.between(100_000, 599_999)
		return true
	}
	return false
}

// append writes the unique part of a name. size and vsize are the message's
// octets with LF and with CRLF line ends.
func (n *namer) append(dst []byte, alone bool, size, vsize int64, r *rng) []byte {
	n.serial++
	dst = strconv.AppendInt(dst, n.second, 10)
	style := r.intn(1000)
	if style >= 950 && alone { // qmail's has no M, so it must come first in its second
		dst = strconv.AppendInt(append(dst, '.'), int64(1000+r.intn(30000)), 10)
		return append(dst, ".qhost"...)
	}
	dst = strconv.AppendInt(append(dst, ".M"...), int64(n.micro), 10)
	dst = strconv.AppendInt(append(dst, 'P'), int64(1000+r.intn(30000)), 10)
	switch {
	case style < 700: // Dovecot
		dst = strconv.AppendInt(append(dst, ".box,S="...), size, 10)
		return strconv.AppendInt(append(dst, ",W="...), vsize, 10)
	case style < 800:
		return strconv.AppendInt(append(dst, ".box,S="...), size, 10)
	case style < 830:
		return append(dst, ".box"...)
	}
	dst = append(dst, "V0000000000000801I"...) // Courier: device, inode, serial
	for i := 7; i >= 0; i-- {
		dst = append(dst, "0123456789ABCDEF"[n.serial>>(4*i)&15])
	}
	dst = append(dst, "_0.mailhost"...)
	if style < 930 {
		dst = strconv.AppendInt(append(dst, ",S="...), size, 10)
	}
	return dst
}

// flagSets are what readers leave behind, with their shares in thousandths.
var (
	flagSets   = []string{"S", "", "RS", "FS", "PS", "FRS", "F", "ST", "T", "DS"}
	flagShares = []int{700, 120, 110, 25, 10, 8, 7, 12, 5, 3}
)
