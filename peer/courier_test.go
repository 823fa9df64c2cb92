package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/corpus"
	"mailbench/peer/imap"
)

// TestCourier holds that Courier answers over a corpus without faults what is
// known of it, as far as it does as RFC 5256 says, and the same when asked again.
func TestCourier(t *testing.T) {
	spec := corpus.Spec{Messages: 300, Clean: true}
	truth, err := corpus.NewTruth(spec)
	if err != nil {
		t.Fatal(err)
	}
	inst, run := prepared(t, NewCourier(CourierOptions{}), spec)
	d := inst.Describe()
	if !strings.HasSuffix(d.Version, ")") || d.Cached != "" || len(d.Notes) == 0 || !strings.Contains(d.Config, "THREAD=REFERENCES") {
		t.Errorf("description %+v", d)
	}
	if strings.Contains(d.Config, run.Dir) {
		t.Errorf("configuration\n%s", d.Config)
	}
	if inst.Task(OpCompact) != nil {
		t.Error("courier compacts")
	}
	said(t, inst, OpNoop)
	for round := range 2 {
		for _, op := range []Op{OpSelectFirst, OpSelectAgain, OpResync} {
			if got := said(t, inst, op); !slices.Contains(got, "300 EXISTS") {
				t.Errorf("%s: %q", op, got)
			}
		}
		sorts := map[Op]string{OpSortDateFirst: "date", OpSortSubjectFirst: "subject"}
		if round > 0 {
			sorts = map[Op]string{OpSortDateAgain: "date", OpSortSubjectAgain: "subject"}
		}
		for op, key := range sorts {
			if err := tiesAside(line(t, said(t, inst, op), "SORT "), truth, key); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
		for _, op := range []Op{OpThreadFirst, OpThreadAgain} {
			if !told(t, inst, op, truth) {
				t.Errorf("%s is another answer than the corpus knows", op)
			}
		}
		sameFiles(t, inst, run)
		files, err := inst.Files()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f File) bool { return f.Class == "uidlist" })
		if i < 0 {
			t.Fatalf("files %+v", files)
		}
		if st, err := os.Stat(filepath.Join(run.Dir, files[i].Path)); err != nil || st.Size() != files[i].Size || st.Size() < 300*10 {
			t.Errorf("%+v: %v", files[i], err)
		}
		if err := inst.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if files, err := inst.Files(); err != nil || len(files) > 0 {
			t.Errorf("after Fresh %+v, %v", files, err)
		}
	}
	if inst.LogTail() == "" {
		t.Error("it says nothing to its log")
	}
}

// tiesAside holds that an answer has all messages in the order of key, those
// with the same key in any order. Which these are shows in the order of the
// reversed key, in which only they stand as in the other one.
func tiesAside(answer string, truth *corpus.Truth, key string) error {
	got, err := imap.ParseNumbers(nil, []byte(answer), "SORT")
	if err != nil {
		return err
	}
	var at [2]map[uint32]int
	for i, keys := range []string{key, "reverse " + key} {
		order, err := truth.Sort(keys, nil)
		if err != nil {
			return err
		}
		at[i] = map[uint32]int{}
		for n, uid := range order {
			at[i][uid] = n
		}
	}
	all := map[uint32]bool{}
	for i, uid := range got {
		if _, ok := at[0][uid]; !ok || all[uid] {
			return fmt.Errorf("%d is there twice or wrongly", uid)
		}
		all[uid] = true
		if i == 0 {
			continue
		}
		before := got[i-1]
		if at[0][before] > at[0][uid] && at[1][before] < at[1][uid] {
			return fmt.Errorf("%d before %d", before, uid)
		}
	}
	if len(all) != len(at[0]) {
		return fmt.Errorf("%d messages of %d", len(all), len(at[0]))
	}
	return nil
}

func TestTiesAside(t *testing.T) {
	truth, err := corpus.NewTruth(corpus.Spec{Messages: 40, Clean: true})
	if err != nil {
		t.Fatal(err)
	}
	right, err := truth.Sort("date", nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong := slices.Clone(right)
	slices.Reverse(wrong)
	for _, c := range []struct {
		order []uint32
		good  bool
	}{{right, true}, {wrong, false}, {right[1:], false}, {append(slices.Clone(right[1:]), right[1]), false}} {
		answer := "SORT " + strings.Trim(fmt.Sprint(c.order), "[]")
		if err := tiesAside(answer, truth, "date"); (err == nil) != c.good {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestCourier_empty(t *testing.T) {
	inst, _ := prepared(t, NewCourier(CourierOptions{}), corpus.Spec{})
	if got := said(t, inst, OpSelectFirst); !slices.Contains(got, "0 EXISTS") {
		t.Errorf("select: %q", got)
	}
}

func TestCourier_absent(t *testing.T) {
	name := filepath.Join(t.TempDir(), "imapd")
	err := NewCourier(CourierOptions{Binary: name}).Available()
	if m, ok := err.(*Missing); !ok || !strings.Contains(m.Error(), name) || m.Install == "" {
		t.Errorf("%v, want a *Missing", err)
	}
}

func TestCourierVersion(t *testing.T) {
	for in, want := range map[string]string{
		"Courier 1.0.16 (Courier-IMAP 5.0.13)/x86_64-pc-linux-gnu/2023-03-23 08:10:59": "5.0.13 (Courier 1.0.16)",
		"Courier-IMAP 4.18\nmore": "Courier-IMAP 4.18",
		"":                        "",
	} {
		if got := courierVersion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
