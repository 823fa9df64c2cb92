package suite

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A mixState is a command of BenchmarkMix, in the order in which a client goes
// through them.
type mixState uint8

const (
	mixLogin mixState = iota
	mixList
	mixStatus
	mixSelect
	mixFetch
	mixFetch2
	mixSort
	mixThread
	mixStore
	mixDelete
	mixExpunge
	mixAppend
	mixLogout
	numMixStates
)

// mixStates are imaptest's, with its default probabilities in percent: of a
// command in its turn, and of the same once more (documentation of imaptest,
// "ImapTest States": each state is tried in the order of the table; a command
// that its probability leaves out is passed over). Of its defaults COPY is
// missing, which needs a second mailbox. SORT and THREAD are off there; here
// each is as likely as LIST, STATUS and STORE: the posts ask what they cost
// beside the rest.
var mixStates = [numMixStates]struct {
	short          string
	percent, again int
	selected       bool // needs a mailbox with messages
}{
	mixLogin:   {"Logi", 100, 0, false},
	mixList:    {"List", 50, 0, false},
	mixStatus:  {"Stat", 50, 0, false},
	mixSelect:  {"Sele", 100, 0, false},
	mixFetch:   {"Fetc", 100, 0, true},
	mixFetch2:  {"Fet2", 100, 30, true},
	mixSort:    {"Sort", 50, 0, true},
	mixThread:  {"Thre", 50, 0, true},
	mixStore:   {"Stor", 50, 0, true},
	mixDelete:  {"Dele", 100, 0, true},
	mixExpunge: {"Expu", 100, 0, true},
	mixAppend:  {"Appe", 100, 5, false},
	mixLogout:  {"Logo", 100, 0, false},
}

// percent draws a decision.
func percent(rnd *rand.Rand, p int) bool { return rnd.IntN(100) < p }

// nextState draws what a client does after state; logout is the probability of
// LOGOUT, after which it logs in again. A client that stays logged in begins
// with LIST again.
func nextState(rnd *rand.Rand, state mixState, logout int) mixState {
	if state == mixLogout {
		return mixLogin
	}
	if again := mixStates[state].again; again > 0 && percent(rnd, again) {
		return state
	}
	for {
		if state++; state == numMixStates {
			state = mixList
		}
		p := mixStates[state].percent
		if state == mixLogout {
			p = logout
		}
		if percent(rnd, p) {
			return state
		}
	}
}

// mixCounts counts commands by state.
type mixCounts [numMixStates]int

func (c mixCounts) total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// mixHead are the lines above counts, as imaptest prints them: the names, and
// both probabilities.
func mixHead(logout int) []string {
	var names, first, again strings.Builder
	for i, s := range mixStates {
		fmt.Fprintf(&names, " %5s", s.short)
		p := s.percent
		if mixState(i) == mixLogout {
			p = logout
		}
		fmt.Fprintf(&first, " %4d%%", p)
		more := ""
		if s.again > 0 {
			more = strconv.Itoa(s.again) + "%"
		}
		fmt.Fprintf(&again, " %5s", more)
	}
	return []string{names.String(), first.String(), strings.TrimRight(again.String(), " ")}
}

func (c mixCounts) line() string {
	var b strings.Builder
	for _, n := range c {
		fmt.Fprintf(&b, " %5d", n)
	}
	return b.String()
}
