package corpus

import (
	"strconv"
	"strings"
)

const numPeople = 3000

// A person writes mail. The forms differ by person, never by message.
type person struct {
	mailbox, host string
	display       string // decoded display name, "" when From has none
	full          string // the address as From, To and Cc write it
	zone          int    // minutes east of UTC
}

func (p *person) bare() string { return p.mailbox + "@" + p.host }

// who is a person's number or numPeople plus a list's; nobody is no address.
type who = int32

const nobody who = -1

// makePeople draws everybody who writes in a corpus of that seed; the mailing
// lists' own addresses follow them.
func makePeople(seed uint64) []person {
	r := rng(mix2(seed, 0x70656f706c65))
	people := make([]person, 0, numPeople+len(lists))
	for i := range numPeople {
		first, last := firstNames[r.intn(len(firstNames))], lastNames[r.intn(len(lastNames))]
		p := person{host: domains[r.skewed(len(domains))], zone: zones[r.intn(len(zones))]}
		switch r.intn(5) {
		case 0:
			p.mailbox = strings.ToLower(first)
		case 1:
			p.mailbox = strings.ToLower(first[:1] + last)
		case 2:
			p.mailbox = first + "." + last // its case must not matter to SORT
		default:
			p.mailbox = strings.ToLower(first + "." + last)
		}
		if r.intn(2) == 0 {
			p.mailbox += strconv.Itoa(i % 97)
		}
		name := first + " " + last
		switch k := r.intn(1000); {
		case k < 22:
			p.display = intlNames[r.intn(len(intlNames))]
			p.full = string(appendEncodedWord(nil, "utf-8", 'Q', []byte(p.display))) + " <" + p.bare() + ">"
		case k < 150:
			p.display = last + ", " + first
			p.full = `"` + p.display + `" <` + p.bare() + ">"
		case k < 200:
			p.display = first + " " + string(rune('A'+r.intn(26))) + ". " + last
			p.full = `"` + p.display + `" <` + p.bare() + ">"
		case k < 240:
			p.full = p.bare()
		case k < 260:
			p.full = "<" + p.bare() + ">"
		default:
			p.display = name
			p.full = name + " <" + p.bare() + ">"
		}
		people = append(people, p)
	}
	for _, l := range lists {
		people = append(people, person{mailbox: l, host: listHost, full: l + "@" + listHost})
	}
	return people
}

var zones = []int{0, 0, 0, 60, 60, 120, 120, 120, 180, 330, 330, 480, 540, 570, -180, -240, -300, -300, -420, -420, -480, -210}
