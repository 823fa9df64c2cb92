package corpus

import "container/heap"

// listPlanner simulates mailing lists: threads begin at random times, each is
// a source of messages written one after another, and every message takes its
// own time to arrive. Two queues, one of threads by their next message and one
// of messages under way, give the order of arrival; memory is what the ids of
// all messages need (4 bytes each) plus the threads that are alive.
type listPlanner struct {
	w        *world
	r        rng
	begin    int64 // when the next thread begins
	alive    threadQueue
	underway planQueue
	parents  []int32 // of each identity
	serial   uint64
	started  uint64
	free     []*talk
}

// talk is a thread that still gets messages.
type talk struct {
	key       uint64
	next      int64 // when its next message is written
	serial    uint64
	size      int
	kind      talkKind
	gap       []point
	messages  []said
	root      series
	subject   subjectKey
	rootForm  subjectForm
	intlStyle subjectEncoding
}

// said is a message of a talk.
type said struct {
	sid     int32
	depth   int32
	subject subjectKey
	series  series
}

type talkKind uint8

const (
	talkOpen   talkKind = iota // answers go to any message
	talkDialog                 // answers go to the last message: long chains
	talkSeries                 // a cover letter, patches that answer it, and talk about them
)

// meanGap is the mean time between messages of the whole corpus, in seconds:
// about a thousand a day, as on a large list.
const meanGap = 85

// meanTalk is sizeCurve's mean in hundredths.
const meanTalk = 710

var (
	sizeCurve = []point{{0, 1}, {360000, 1}, {360001, 2}, {500000, 2}, {600000, 4}, {700000, 7}, {820000, 10}, {920000, 16},
		{970000, 28}, {990000, 64}, {998000, 120}, {1000000, 500}}
	gapCurve  = []point{{0, 60}, {200000, 600}, {500000, 3600}, {800000, 14400}, {950000, 50000}, {1000000, 200000}}
	fastCurve = []point{{0, 20}, {500000, 900}, {900000, 3600}, {1000000, 20000}}
	// delayCurve is the time from Date to delivery.
	delayCurve = []point{{0, 2}, {800000, 12}, {930000, 60}, {975000, 900}, {994000, 7200}, {1000000, 100000}}
)

const maxDepth = 177

func newListPlanner(w *world) *listPlanner {
	l := &listPlanner{w: w, r: rng(mix2(w.seed, 0x706c616e)), begin: epoch}
	return l
}

func (l *listPlanner) ids() int { return len(l.parents) }

func (l *listPlanner) next(p *plan) {
	for {
		// Nothing written later can arrive before what is first under way.
		clock := l.begin
		if len(l.alive) > 0 {
			clock = min(clock, l.alive[0].next)
		}
		if arrival, ok := l.underway.first(); ok && arrival <= clock {
			l.underway.pop(p)
			return
		}
		if len(l.alive) > 0 && l.alive[0].next <= l.begin {
			l.write()
			continue
		}
		l.start()
	}
}

// start begins a new thread.
func (l *listPlanner) start() {
	t := &talk{}
	if n := len(l.free); n > 0 {
		t, l.free = l.free[n-1], l.free[:n-1]
		*t = talk{messages: t.messages[:0]}
	}
	l.started++
	r := rng(mix2(l.w.seed^0x74616c6b, l.started))
	t.key, t.serial = r.next(), l.started
	t.next, t.size, t.gap = l.begin, r.draw(sizeCurve), gapCurve
	t.subject = newSubject(&r)
	switch k := r.intn(100); {
	case t.size > 60 && k < 3, t.size > 8 && k < 3:
		t.kind = talkDialog
	case t.size > 3 && k < 55:
		t.kind = talkSeries
		t.root = series{version: uint8(max(1, r.between(-3, 4))), total: uint8(1 + r.intn(min(t.size-1, 40)))}
		t.rootForm = formBlob
	case k < 70:
	case k < 80:
		t.rootForm = formList
	default:
		t.root = series{version: uint8(max(1, r.between(-3, 3)))}
		t.rootForm = formBlob
	}
	if t.size > 40 {
		t.gap = fastCurve
	}
	if t.subject.kind() == subjIntl {
		t.intlStyle = encWords
		if r.intn(20) == 0 && !l.w.clean {
			t.intlStyle = encRaw8bit
		}
	}
	l.begin += int64(l.r.intn(2 * meanGap * meanTalk / 100))
	heap.Push(&l.alive, t)
}

// write makes the next message of the thread whose turn it is.
func (l *listPlanner) write() {
	t := l.alive[0]
	i := len(t.messages)
	sid := int32(len(l.parents))
	r := rng(mix2(t.key, uint64(i)))
	me := said{sid: sid, subject: t.subject, series: t.root}
	p := plan{key: r.next(), thread: t.key, sid: sid, parent: noID, sent: t.next, form: t.rootForm, enc: t.intlStyle}

	patch := t.kind == talkSeries && i > 0 && i <= int(t.root.total)
	if i > 0 {
		parent := t.answered(i, patch, &r)
		p.parent, p.refs, me.depth = parent.sid, refFull, parent.depth+1
		me.subject, me.series = parent.subject, parent.series
		if patch {
			me.subject = newSubject(&r).as(subjWords)
			me.series.part = uint8(i)
			p.enc = encPlain
		} else {
			l.answer(t, &p, &me, &r)
		}
	}
	p.subject, p.series = me.subject, me.series
	p.reply = p.form.isReply()
	l.parents = append(l.parents, p.parent)
	t.messages = append(t.messages, me)
	l.blemish(&p, &r)
	l.send(&p, patch, &r)

	switch {
	case len(t.messages) == t.size:
		heap.Pop(&l.alive)
		l.free = append(l.free, t)
		return
	case t.kind == talkSeries && i < int(t.root.total):
		t.next += int64(r.intn(3))
	default:
		t.next += int64(r.draw(t.gap))
	}
	heap.Fix(&l.alive, 0)
}

// answered chooses the message that message i of the thread answers.
func (t *talk) answered(i int, patch bool, r *rng) *said {
	last := &t.messages[i-1]
	choice := r.intn(100)
	switch {
	case patch:
		return &t.messages[0]
	case last.depth >= maxDepth-1:
		return &t.messages[r.intn(i)/2]
	case t.kind == talkDialog && choice < 96:
		return last
	case t.kind == talkDialog:
		return &t.messages[i-1-r.intn(min(i, 3))]
	case choice < 45 && (t.kind == talkOpen || i > int(t.root.total)+1):
		return last
	case choice < 60:
		return &t.messages[0]
	}
	return &t.messages[i-1-r.skewed(i)]
}

// answer decides subject and references of an answer.
func (l *listPlanner) answer(t *talk, p *plan, me *said, r *rng) {
	p.form = formRe
	if t.rootForm == formBlob {
		p.form = formReBlob
	}
	if me.subject.kind() != subjIntl {
		p.enc = encPlain
	}
	if k := r.intn(1000); k < 10 && !l.w.clean { // another subject within the thread
		me.subject, me.series, p.form, p.enc = newSubject(r).as(subjWords), series{}, formPlain, encPlain
	} else if k < 120 && me.subject.kind() == subjWords || k < 120 && me.subject.kind() == subjShort {
		p.form = replyForms[r.pick(replyWeights)]
	}
	if l.w.clean {
		return
	}
	switch k := r.intn(100_000); {
	case k < 900:
		p.refs = refParent
	case k < 2000:
		p.refs = refShort
	case k < 2500:
		p.refs = refAnswer
	case k < 2600:
		p.refs = refProseID
	case k < 2960:
		p.refs = refProse
	case k < 3080:
		p.refs = refHollow
	case k < 3180:
		p.refs = refTight
	case k < 3230:
		p.refs = refCommas
	case k < 3430:
		p.refs = refCut
	}
}

var (
	replyForms   = []subjectForm{formRe, formReUpper, formReNoSpace, formReCount, formReSpaced, formReRe, formReList, formListRe, formFwd, formFw, formFwdTrailer, formFwdAround, formPlain}
	replyWeights = []int{500, 120, 20, 20, 5, 20, 90, 120, 30, 15, 10, 10, 40}
)

// blemish gives a few subjects an odd form.
func (l *listPlanner) blemish(p *plan, r *rng) {
	if l.w.clean {
		return
	}
	switch k := r.intn(100_000); {
	case k < 30:
		p.form, p.enc, p.reply = formNone, encPlain, false
	case k < 45 && p.parent == noID:
		p.subject, p.form, p.enc, p.reply = p.subject.as(subjEmpty), formPlain, encPlain, false
	case k < 60 && p.parent != noID:
		p.subject, p.form, p.enc, p.reply = p.subject.as(subjEmpty), formRe, encPlain, true
	case k < 110 && p.subject.kind() == subjWords && (p.form == formRe || p.form == formPlain):
		p.enc = encWords
	case k < 140 && p.subject.kind() == subjWords:
		p.enc = encSpaces
	}
}

// send puts a message under way: once, twice, or never.
func (l *listPlanner) send(p *plan, patch bool, r *rng) {
	delay := r.draw(delayCurve)
	if (patch || p.form == formBlob) && r.intn(100) < 87 {
		delay = 3 // a series is sent in one go and mostly stays in order
	}
	lost, again := r.ppm(53_000), r.ppm(1_050)
	if l.w.clean {
		lost, again, delay = false, false, 5
	}
	if lost {
		return
	}
	p.arrival = p.sent + int64(delay)
	l.w.dress(p)
	l.underway.push(p, &l.serial)
	if again {
		q := *p
		q.key = mix(p.key)
		q.arrival += int64(r.between(1, 1200))
		l.underway.push(&q, &l.serial)
	}
}

func (l *listPlanner) refs(dst []int32, k refLink) []int32 {
	switch k.form {
	case refNone, refProse:
		return dst
	case refParent, refAnswer, refProseID, refHollow:
		return append(dst, k.parent)
	}
	start := len(dst)
	for sid := k.parent; sid != noID; sid = l.parents[sid] {
		dst = append(dst, sid)
	}
	list := dst[start:]
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	n := len(list)
	switch {
	case k.form == refShort && n > 4:
		n = 1 + copy(list[1:], list[n-3:])
	case k.form == refCut && n > 2:
		list[n/2] = list[n-1]
		n = n/2 + 1
	case n > maxReference:
		n = 1 + copy(list[1:], list[n-maxReference+1:])
	}
	return dst[:start+n]
}

// threadQueue is a heap of talks by the time of their next message.
type threadQueue []*talk

func (q threadQueue) Len() int { return len(q) }
func (q threadQueue) Less(i, j int) bool {
	return q[i].next < q[j].next || q[i].next == q[j].next && q[i].serial < q[j].serial
}
func (q threadQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *threadQueue) Push(x any)   { *q = append(*q, x.(*talk)) }
func (q *threadQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
