package session

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mailbench/internal/mime"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a/b/c", true}, {"%", "a/b", false}, {"%", "a", true}, {"a/%", "a/b", true}, {"a/%", "a/b/c", false}, {"a/%/c", "a/b/c", true},
		{"a*c", "a/b/c", true}, {"a%c", "abc", true}, {"inbox", "INBOX", true}, {"inbox", "lists", false}, {"", "a", false}, {"%%", "ab", true},
		{"*a", "a", true}, {"*b", "a", false}, {"a", "ab", false}, {"ab", "a", false}, {"*%*", "", true},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q of %q: %v", c.pattern, c.name, got)
		}
	}
}

// TestStarred holds sets against the numbers that they name, one by one.
func TestStarred(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		greatest := uint32(r.IntN(12))
		var words []string
		want := map[uint32]bool{}
		number := func() (string, uint32) {
			if r.IntN(6) == 0 {
				return "*", greatest
			}
			n := uint32(1 + r.IntN(15))
			return string(appendUint(nil, uint64(n))), n
		}
		for range 1 + r.IntN(5) {
			word, lo := number()
			hi := lo
			if r.IntN(2) == 0 {
				var w string
				w, hi = number()
				word += ":" + w
			}
			words = append(words, word)
			for n := min(lo, hi); n <= max(lo, hi) && greatest > 0; n++ {
				want[n] = true
			}
		}
		p := &parser{b: []byte(strings.Join(words, ","))}
		set := starred(p.set(), greatest)
		if err := p.end(); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		for n := range uint32(20) {
			if within(set, n) != want[n] {
				t.Fatalf("seed %d: %q with %d: %d is %v in %v", seed, words, greatest, n, !want[n], set)
			}
		}
		if !slices.IsSortedFunc(set, func(a, b span) int { return int(a.lo) - int(b.lo) }) {
			t.Errorf("%v", set)
		}
	}
}

func TestAppendShort(t *testing.T) {
	for _, c := range []struct{ msg, want string }{
		{"\nx\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1)`},
		{odd[3], `(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 9 0)("message" "rfc822" NIL NIL "the letter" "7bit" 384 ("Wed, 7 Jan 2015 11:00:00 +0000" "inside subject" ((NIL NIL "inner" "example.org")) ((NIL NIL "inner" "example.org")) ((NIL NIL "inner" "example.org")) ((NIL NIL "fwd" "example.org")) NIL NIL NIL "<inner@x>") (("text" "plain" NIL NIL NIL "7bit" 10 0)("application" "octet-stream" ("name" "a.bin") NIL NIL "base64" 8) "mixed") 17) "mixed")`},
		{"Content-Type: image/png; name=\"a (\\\") b\"\nContent-Disposition: attachment\n\nx", `("image" "png" ("name" "a (\") b") NIL NIL "7bit" 1)`},
	} {
		if got := string(appendShort(nil, mime.AppendBodyStructure(nil, []byte(c.msg)))); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.msg, got, c.want)
		}
	}
}

// TestReader: how commands are read from what comes, also in pieces too long.
func TestReader(t *testing.T) {
	m := served(t, Config{Path: maildirOf(t)})
	k := dial(t, m)
	k.want("SELECT {5+}\r\nINBOX{0+}\r\n", "BAD too many arguments")
	if got := k.say("LIST \"\" {1+}\r\n*"); !strings.Contains(got, "INBOX") {
		t.Error(got)
	}
	if got := k.say("NOOP " + strings.Repeat("x", 2<<20)); !strings.HasPrefix(got, "NO ") || !strings.Contains(got, "too long") {
		t.Error(got)
	}
	if got := k.say("SELECT {70000+}\r\n" + strings.Repeat("x", 70000)); !strings.HasPrefix(got, "NO [TOOBIG]") {
		t.Error(got)
	}
	if got := k.say("APPEND INBOX {999999999}"); !strings.HasPrefix(got, "NO [TOOBIG]") {
		t.Error(got)
	}
	k.want("NOOP", "OK NOOP completed")
	// What is announced behind too long a line is no command.
	if got := k.say("NOOP " + strings.Repeat("q", maxLine) + " {14+}\r\nx CAPABILITY\r\n"); !strings.HasPrefix(got, "NO ") {
		t.Error(got)
	}
	k.want("NOOP", "OK NOOP completed")
	// Nor does a command take more memory in many literals than in one.
	many := strings.Repeat(" TEXT {65536+}\r\n"+strings.Repeat("y", 65536), maxSum/65536+1)
	if got := k.say("SEARCH" + many); !strings.HasPrefix(got, "NO [TOOBIG]") {
		t.Error(got)
	}
	big := "{70000+}\r\n" + strings.Repeat("z", 70000)
	if got := k.say("APPEND INBOX " + big + " " + big); !strings.HasPrefix(got, "NO [TOOBIG]") {
		t.Error(got)
	}
	k.want("NOOP", "OK NOOP completed")
}

// TestGreatestNumber holds that 4294967295 is a number like others, and * is none.
func TestGreatestNumber(t *testing.T) {
	k := dial(t, served(t, Config{Path: maildirOf(t, "S", "", "")}))
	k.say("SELECT INBOX")
	for command, want := range map[string]string{
		"UID FETCH 4294967295 (UID)":       "OK ",
		"UID FETCH 100:4294967295 (UID)":   "OK ",
		"UID SEARCH UID 4294967295":        "* SEARCH\r\nOK ",
		"SEARCH UID 3:4294967295":          "* SEARCH 3\r\nOK ",
		"FETCH 4294967295 (UID)":           "BAD ",
		"UID FETCH * (UID)":                "* 3 FETCH (UID 3)\r\nOK ",
		"UID FETCH *:4294967295 (UID)":     "* 3 FETCH (UID 3)\r\nOK ",
		"UID SEARCH UID 4294967295,1 SEEN": "* SEARCH 1\r\nOK ",
	} {
		if got := k.say(command); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
