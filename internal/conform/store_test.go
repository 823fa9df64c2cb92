package conform

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/index/designs"
)

// A step of a store-scenario. The README of the cases explains them.
type step struct {
	Do            string
	File          string
	With          string
	As            string
	To            any
	ToBytes       any `json:"to_bytes"`
	Bytes         any
	Count         int
	Offset, Value any
	Hex           string
	ExpectRereads *int64 `json:"expect_rereads"`
	ExpectError   string `json:"expect_error"`
	KillAt        any    `json:"kill_at"`

	For   string
	Steps []step
}

// runStoreScenario plays the scenario on each design that promises to detect
// damage. One that does not is allowed any answer, so there is nothing to hold
// it to.
func runStoreScenario(t *testing.T, c *check) {
	var k struct {
		Steps  []step
		Expect struct {
			Answers     string
			Hang        float64 `json:"hang_s"`
			UIDValidity string
		}
	}
	c.decode(t, &k)
	if k.Expect.Answers != "equal-to-rebuild" {
		t.Fatalf("no test knows the answers %q", k.Expect.Answers)
	}
	ran := 0
	for _, d := range designs.All {
		if d.Integrity() != index.DetectsDamage {
			continue
		}
		ways := index.AxesOf(d).Answers
		if len(ways) == 0 {
			ways = []string{""}
		}
		for _, answers := range ways {
			ran++
			t.Run("design="+d.Name()+"/answers="+answers, func(t *testing.T) {
				s := newStore(t, c.Dir, d, answers)
				defer s.abandon()
				start := time.Now()
				s.play(k.Steps, nil)
				if took := time.Since(start) - s.checking; took.Seconds() > k.Expect.Hang && k.Expect.Hang > 0 && !c.heavy {
					t.Errorf("took %v without the checks, allowed are %v s", took, k.Expect.Hang)
				}
				if k.Expect.UIDValidity == "strictly increasing" {
					s.wantIncreasing()
				}
			})
		}
	}
	if ran == 0 {
		t.Fatal("no design promises to detect damage")
	}
}

// play does the steps; vars are the values of the loops around them.
func (s *store) play(steps []step, vars map[string]string) {
	s.t.Helper()
	for _, st := range steps {
		if st.For != "" {
			s.loop(st, vars)
			continue
		}
		s.do(st, vars)
	}
}

// loop repeats steps: "x in a,b,c [words]" or "5 times [words]".
func (s *store) loop(st step, vars map[string]string) {
	s.t.Helper()
	name, list, isList := strings.Cut(st.For, " in ")
	if !isList {
		times, err := strconv.Atoi(strings.Fields(st.For)[0])
		if err != nil {
			s.t.Fatalf("cannot read the loop %q", st.For)
		}
		for range times {
			s.play(st.Steps, vars)
		}
		return
	}
	for _, value := range strings.Split(list, ",") {
		inner := map[string]string{strings.TrimSpace(name): strings.Fields(value)[0]}
		for k, v := range vars {
			inner[k] = v
		}
		s.snapshot()
		s.play(st.Steps, inner)
	}
}

// text is the value of a loop variable, or v itself.
func text(v any, vars map[string]string) string {
	s := fmt.Sprint(v)
	if value, ok := vars[s]; ok {
		return value
	}
	return s
}

// bytesOf reads "2^31-64", "100" or a fraction of size as "0.5".
func (s *store) bytesOf(v any, vars map[string]string, size int64) int64 {
	s.t.Helper()
	word := text(v, vars)
	if word == "header" {
		return min(size, 4096)
	}
	if base, rest, ok := strings.Cut(word, "^"); ok && base == "2" {
		power, less, _ := strings.Cut(rest, "-")
		p, err := strconv.Atoi(power)
		l, err2 := strconv.ParseInt("0"+less, 10, 64)
		if err == nil && err2 == nil {
			return 1<<p - l
		}
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		s.t.Fatalf("cannot read the number %q", word)
	}
	if strings.Contains(word, ".") && f < 1 {
		f *= float64(size)
	}
	return int64(f)
}

func (s *store) do(st step, vars map[string]string) {
	s.t.Helper()
	switch st.Do {
	case "open":
		s.open()
		s.rereads = st.ExpectRereads
	case "close":
		s.close()
	case "sync":
		s.sync(st)
	case "query-all":
		s.queryAll()
	case "truncate", "zero", "flip", "patch", "append", "replace", "extend-sparse":
		s.damage(st, vars)
	case "restore":
		s.restore()
	case "delete-mailbox":
		s.deleteMailbox()
	case "create-mailbox":
		s.copyMbox(filepath.Join(s.caseDir, st.With))
	case "append-messages":
		s.appendMessages(st.Count)
	case "limit-space":
		s.faults.limit(s.bytesOf(st.Bytes, vars, 0))
	case "unlimit":
		s.faults.clear()
	default:
		b, _ := json.Marshal(st)
		s.t.Fatalf("no test knows the step %s", b)
	}
}
