package corpus

// epoch is when the first message of every corpus may arrive:
// 1 January 2010. Ten decimal digits, as the order of file names wants.
const epoch = 1262304000

// noID stands for a message or reference without identity.
const noID int32 = -1

// A refForm says how a message names the messages before it. The ids that
// count for threading, in order, are given by planner.refs.
type refForm uint8

const (
	refNone      refForm = iota
	refFull              // References: all ancestors, at most 168, and In-Reply-To
	refParent            // References: only the parent
	refShort             // References: the first ancestor and the last three
	refAnswer            // only In-Reply-To: <id>
	refProseID           // only In-Reply-To: prose, an address and the id
	refProse             // only In-Reply-To, prose without an id: no reference at all
	refHollow            // References without any id, and In-Reply-To: <id>
	refTight             // as refFull, no white space between the ids
	refCommas            // as refFull, commas between the ids
	refCut               // as refFull, but the second half of the ancestors is missing, save the parent
	refExplicit          // by the planner's rule, adversarial shapes
	maxReference = 168
)

// A fault is something odd in a message.
type fault uint16

const (
	faultNUL        fault = 1 << iota // NUL bytes in the body
	faultNULHeader                    // a NUL in a header field nobody reads
	faultCR                           // a bare CR in a header field and in the body
	fault8bit                         // raw Latin-1 in a header field
	faultNoColon                      // a header line without a colon
	faultTwice                        // a second Subject field
	faultFromLine                     // a body line that begins with From
	faultQuotedFrom                   // a body line that begins with >From
	faultLongLine                     // a body line of several KB
	faultNoID                         // no Message-ID field
	faultBareID                       // a Message-ID without brackets
	faultNoTo                         // neither To nor Cc
)

// A plan is all that was decided about one message before a byte is written.
// Truth is computed from plans.
type plan struct {
	key      uint64 // seed of what is drawn while writing; differs between copies
	thread   uint64 // seed of what a thread's messages share
	sid      int32  // identity: the message that it is, also for a second copy
	parent   int32  // identity of the answered message, noID if none
	refs     refForm
	faults   fault
	form     subjectForm
	enc      subjectEncoding
	date     dateForm
	list     uint8
	series   series
	bareTo   bool // the first address of To is written without a name
	reply    bool
	subject  subjectKey
	sent     int64 // what Date says, meaningless for dateBad and dateNone
	internal int64
	zone     int
	from     who
	to, cc   who // the first address of each
	nTo, nCc int
	header   int // wanted size of the header block
	body     int // wanted size of the body
	arrival  int64
}

// id returns the identity by which other messages can name this one, noID if
// it has no valid Message-ID.
func (p *plan) id() int32 {
	if p.faults&(faultNoID|faultBareID) != 0 {
		return noID
	}
	return p.sid
}

// sentOrInternal is RFC 5256 section 2.2: the sent date, or INTERNALDATE where
// there is none.
func (p *plan) sentOrInternal() int64 {
	if p.date == dateBad || p.date == dateNone {
		return p.internal
	}
	return p.sent
}

// baseKey is the decided base subject; none without a Subject field.
func (p *plan) baseKey() subjectKey {
	if p.form == formNone {
		return subjEmpty
	}
	return p.subject
}

// refLink is what refs needs to know of a message.
type refLink struct {
	sid, parent int32
	form        refForm
}

// A planner decides messages one after another, in order of arrival.
type planner interface {
	next(p *plan) // never ends
	// refs appends the ids of References, or of In-Reply-To where it counts,
	// first to last. They are below ids().
	refs(dst []int32, l refLink) []int32
	ids() int // identities used so far, absent ones included
}

// world is what all messages of a corpus share.
type world struct {
	seed   uint64
	shape  Shape
	clean  bool
	body   Body
	people []person
}

func newWorld(s Spec) *world {
	seed := mix2(s.Seed, uint64(s.Shape)+0x6d61696c62656e63)
	return &world{seed: seed, shape: s.Shape, clean: s.Clean, body: s.Body, people: makePeople(seed)}
}

func (w *world) planner() planner {
	if w.shape == List {
		return newListPlanner(w)
	}
	return &shapePlanner{w: w}
}

// Curves of sizes and counts; see doc.go for what they copy.
var (
	headerCurve = []point{{0, 900}, {10000, 1800}, {50000, 2400}, {100000, 2750}, {250000, 3450}, {500000, 4450},
		{750000, 5750}, {900000, 8900}, {950000, 10800}, {990000, 14700}, {999000, 19000}, {1000000, 26600}}
	toCurve = []point{{0, 1}, {570000, 1}, {750000, 3}, {900000, 9}, {990000, 50}, {1000000, 130}}
	ccCurve = []point{{0, 1}, {50000, 1}, {100000, 2}, {250000, 4}, {500000, 8}, {750000, 15}, {900000, 29}, {990000, 80}, {1000000, 165}}

	bodyCurves = [numBodies][]point{
		BodyShort: {{0, 60}, {250000, 260}, {500000, 430}, {750000, 720}, {900000, 1350}, {950000, 2300}, {980000, 5000},
			{990000, 22000}, {999000, 100000}, {999900, 400000}, {1000000, 4100000}},
		BodyReal: {{0, 100}, {10000, 150}, {50000, 360}, {100000, 520}, {250000, 940}, {500000, 1500}, {750000, 2900}, {900000, 6500},
			{950000, 10500}, {990000, 36000}, {999000, 170000}, {999900, 700000}, {1000000, 4100000}},
		BodyNone: {{0, 2}, {1000000, 2}},
	}
)

// dress decides everything about a message that does not depend on its
// neighbours. sid, parent, thread, subject, form, reply, sent and arrival are
// given.
func (w *world) dress(p *plan) {
	r := rng(p.key)
	p.list = uint8(mix2(p.thread, 1) % uint64(len(lists)))
	p.from = w.author(p.sid)
	p.zone = w.people[p.from].zone
	p.header = r.draw(headerCurve)
	p.body = r.draw(bodyCurves[w.body])
	if w.shape != List {
		p.header, p.body = 500, 40
	}
	w.dressPeople(p, &r)
	w.dressDate(p, &r)
	if w.clean || w.shape != List {
		return
	}
	k := r.intn(1_000_000)
	for _, f := range faultShares {
		if k -= f.ppm; k < 0 {
			p.faults |= f.fault
			break
		}
	}
	if p.faults&faultTwice != 0 && p.form == formNone {
		p.faults &^= faultTwice
	}
	if p.faults&faultNoTo != 0 {
		p.to, p.cc, p.nTo, p.nCc = nobody, nobody, 0, 0
	}
}

var faultShares = []struct {
	ppm   int
	fault fault
}{
	{300, faultNUL}, {100, faultNULHeader}, {300, faultCR}, {400, fault8bit}, {150, faultNoColon}, {150, faultTwice},
	{5400, faultFromLine}, {600, faultQuotedFrom}, {3000, faultLongLine}, {300, faultNoID}, {100, faultBareID}, {1500, faultNoTo},
}

// dressPeople fills To and Cc. An answer goes to the author it answers, the
// rest to the list and to the thread's circle, which writing draws again from
// the thread's seed.
func (w *world) dressPeople(p *plan, r *rng) {
	list := who(numPeople + int(p.list))
	p.to, p.cc = list, nobody
	p.nTo, p.nCc = r.draw(toCurve), 0
	switch {
	case p.parent != noID && w.shape == List && r.intn(10) < 8:
		p.to = w.author(p.parent)
	case r.intn(10) < 3:
		p.to = who(r.skewed(numPeople))
	}
	p.bareTo = r.intn(4) == 0
	if r.ppm(940000) {
		p.nCc = r.draw(ccCurve)
	}
	if w.shape != List {
		p.nTo, p.nCc = 1, min(p.nCc, 1)
	}
	// Long lists of people stand in long headers.
	if room := p.header / 40 / 3; p.nTo+p.nCc > room {
		p.nTo = min(p.nTo, 1+room/4)
		p.nCc = min(p.nCc, max(1, room-p.nTo))
	}
	if p.nCc > 0 {
		if p.cc = who(r.skewed(numPeople)); p.to != list && r.intn(3) == 0 {
			p.cc = list
		}
	}
}

// dressDate decides how Date is written, and changes sent where the form
// cannot hold it.
func (w *world) dressDate(p *plan, r *rng) {
	if w.clean {
		return
	}
	switch k := r.intn(100_000); {
	case k < 3000:
		p.date = dateTwoDigits
	case k < 5000:
		p.date = dateComment
	case k < 5600:
		p.date = dateNoDay
	case k < 5700:
		p.date = dateNoSeconds
		p.sent -= p.sent % 60
	case k < 8000:
		p.date = dateObsZone
		p.zone = r.intn(len(obsZones))
	case k < 8030:
		p.date = dateObsYear
	case k < 8100:
		p.date = dateUnknown
	case k < 8140:
		p.date = dateBad
		p.zone = r.intn(len(badDates))
	case k < 8160:
		p.date = dateNone
	case k < 9200: // a clock that is minutes wrong
		p.sent += int64(r.between(-900, 900))
	case k < 9250: // or days or years
		p.sent -= int64(r.between(1, 400)) * 86400
	}
}
