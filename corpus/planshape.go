package corpus

// shapePlanner makes the adversarial shapes: message n has identity n-1, or
// for ManyRefs twice that, the odd ones being absent. Sent dates are out of
// order by a fixed rule, so that siblings have to be sorted.
type shapePlanner struct {
	w    *world
	n    int32
	most int32
}

// Sizes of the shapes' structures.
const (
	deepWindow  = 8       // ids in a References field of Deep
	manyRefs    = 100_000 // ids in a long References field of ManyRefs
	manyRefStep = 1000    // one message in so many has it
	ringMost    = 9       // messages in the largest ring of Cycles
)

func (s *shapePlanner) ids() int { return int(s.most) + 1 }

func (s *shapePlanner) next(p *plan) {
	i := s.n
	s.n++
	h := mix2(s.w.seed, uint64(i)^0x7368617065)
	*p = plan{key: mix(h), thread: s.w.seed, sid: i, parent: noID, refs: refExplicit}
	p.arrival = epoch + int64(i)*3
	p.sent = p.arrival - 3600 + int64(h%7200)
	p.subject = subjectKey(h).as(subjWords)
	p.form = formPlain
	switch s.w.shape {
	case Deep, Wide:
		p.subject = subjFixed
		if i > 0 {
			p.form, p.parent = formRe, i-1
			if s.w.shape == Wide {
				p.parent = 0
			}
		}
	case Duplicates:
		p.sid = 0
		if i%2 == 1 {
			p.form, p.parent = formRe, 0
		}
		p.subject = subjectKey(mix2(s.w.seed, uint64(i/50))).as(subjWords)
	case OneSubject:
		p.subject = subjFixed
		p.form = []subjectForm{formRe, formPlain, formFwd, formList}[h>>40&3]
	case Cycles:
		first, size := ring(i)
		p.parent = first + (i-first+1)%size
		p.form = []subjectForm{formRe, formPlain}[h>>40&1]
		p.subject = subjectKey(mix2(s.w.seed, uint64(first/100))).as(subjWords)
	case ManyRefs:
		p.sid = 2 * i
		if i > 0 {
			p.form, p.parent = formRe, 2*(i-1-int32(h%uint64(min(i, 64))))
		}
	case Absent:
		p.form, p.parent = formRe, 4*i
		p.sid = 4*i + 3
		p.subject = subjectKey(mix2(s.w.seed, uint64(i/7))).as(subjWords)
	}
	p.reply = p.form.isReply()
	s.w.dress(p)
	switch s.w.shape {
	case Cycles: // the last ring may be incomplete
		s.most = i + ringMost
	case ManyRefs:
		s.most = 2*(i+manyRefs) + 1
	default:
		s.most = max(s.most, p.sid)
	}
}

// ring returns the first message of i's ring and the ring's size: the sizes 1
// to ringMost, again and again.
func ring(i int32) (first, size int32) {
	const round = ringMost * (ringMost + 1) / 2
	at := i % round
	for size = 1; at >= size; size++ {
		at -= size
	}
	return i - at, size
}

func (s *shapePlanner) refs(dst []int32, k refLink) []int32 {
	switch s.w.shape {
	case Deep:
		if k.parent == noID {
			return dst
		}
		if k.parent >= deepWindow {
			dst = append(dst, 0)
		}
		for sid := max(0, k.parent-deepWindow+1); sid <= k.parent; sid++ {
			dst = append(dst, sid)
		}
	case Wide, Duplicates:
		if k.parent != noID {
			dst = append(dst, k.parent)
		}
	case Cycles:
		// The ring as seen from the message: everybody else's successor first,
		// its own last.
		first, size := ring(k.sid)
		for j := int32(3); j >= 1; j-- {
			dst = append(dst, first+(k.sid-first+j)%size)
		}
	case ManyRefs:
		i := k.sid / 2
		switch {
		case i%manyRefStep == manyRefStep/2:
			for j := range int32(manyRefs) {
				dst = append(dst, 2*(i+j)+1)
			}
		case i%manyRefStep > manyRefStep/2 && i%5 == 0: // part of that list, backwards now and then
			at := i - i%manyRefStep + manyRefStep/2 + i%97
			a, b := 2*(at+i%7)+1, 2*at+1
			dst = append(dst, a, b)
		}
		if k.parent != noID {
			dst = append(dst, k.parent)
		}
	case Absent:
		// A grandparent that seven share, a parent that three share, a parent
		// of its own, none of them present.
		i := k.sid / 4
		dst = append(dst, 4*(i/7), 4*(i/3)+1, 4*i+2)
	}
	return dst
}
