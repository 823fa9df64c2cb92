//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mailbench/index/designs"
)

func TestThreadAndSort_everyForm(t *testing.T) {
	for _, b := range boxes(t, home(t)) {
		for _, design := range []string{"column", "scan"} {
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{"thread"}, answerThread},
				{[]string{"thread", "-alg", "references"}, answerThread},
				{[]string{"thread", "-alg", "REFERENCES"}, answerThread},
				{[]string{"thread", "-alg", "refs"}, answerThread},
				{[]string{"thread", "-alg", "orderedsubject"}, "* THREAD (4)(1 2)(3)\n"},
				{[]string{"thread", "-search", "recent"}, answerThread},
				{[]string{"thread", "-answers", "computed", "-fields", "envelope", "-compat", "dovecot"}, answerThread},
				{[]string{"sort"}, answerDate},
				{[]string{"sort", "-keys", "date"}, answerDate},
				{[]string{"sort", "-keys", "reverse date"}, "* SORT 3 2 1 4\n"},
				{[]string{"sort", "-keys", "SUBJECT"}, answerSubject},
				{[]string{"sort", "-keys", "subject reverse date"}, "* SORT 3 4 2 1\n"},
				{[]string{"sort", "-keys", "arrival"}, "* SORT 1 2 3 4\n"},
				{[]string{"sort", "-keys", "from"}, "* SORT 3 2 1 4\n"},
				{[]string{"sort", "-keys", "cc"}, "* SORT 1 3 4 2\n"},
				{[]string{"sort", "-search", "undeleted", "-keys", "reverse arrival"}, "* SORT 4 3 2 1\n"},
			} {
				args := append(append([]string{c.args[0], "-design", design}, c.args[1:]...), b.path)
				if got := must(t, args...); got != c.want {
					t.Errorf("%s, %q: %q, want %q", b.name, args, got, c.want)
				}
			}
		}
	}
}

func TestOneMessage(t *testing.T) {
	path := filepath.Join(home(t), "one.eml")
	writeFile(t, path, []byte(mails[0].text))
	if got := must(t, "thread", path); got != "* THREAD (1)\n" {
		t.Errorf("thread: %q", got)
	}
	if got := must(t, "sort", "-keys", "subject", path); got != "* SORT 1\n" {
		t.Errorf("sort: %q", got)
	}
	if got := explained(t, path)[0]; got["key"] != "one.eml" || got["offset"] != nil || got["message_offset"] != 0.0 || got["folder"] != "" {
		t.Errorf("explain: %v", got)
	}
}

// TestNoMessages holds that an empty mailbox has an answer as IMAP gives it.
func TestNoMessages(t *testing.T) {
	dir := home(t)
	for _, sub := range []string{"cur", "new", "tmp"} {
		mkdir(t, filepath.Join(dir, "nothing", sub))
	}
	empty := filepath.Join(dir, "empty.mbox")
	writeFile(t, empty, nil)
	for _, path := range []string{filepath.Join(dir, "nothing"), empty} {
		for _, c := range []struct {
			want string
			args []string
		}{{"* THREAD\n", []string{"thread"}}, {"* SORT\n", []string{"sort"}}, {"", []string{"explain"}}} {
			if got := must(t, append(c.args, path)...); got != c.want {
				t.Errorf("%s %s: %q, want %q", c.args, path, got, c.want)
			}
		}
	}
}

func TestSelect(t *testing.T) {
	for _, b := range boxes(t, home(t)) {
		var got struct {
			UIDValidity, UIDNext uint32
			UIDs                 [][2]any
			Flags                map[string]string
		}
		text := must(t, "select", "-json", b.path)
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil || strings.Count(text, "\n") != 1 {
			t.Fatalf("%s: %v in %q", b.name, err, text)
		}
		if got.UIDValidity == 0 || got.UIDNext != 5 || len(got.UIDs) != 4 || len(got.Flags) != 4 {
			t.Errorf("%s: %+v", b.name, got)
		}
		plain := must(t, "select", b.path)
		for i, pair := range got.UIDs {
			key, _ := pair[1].(string)
			if pair[0] != float64(i+1) || got.Flags[key] != flags[i] || !b.mbox && key != name(i) {
				t.Errorf("%s: %v, flags %q", b.name, pair, got.Flags[key])
			}
			if want := fmt.Sprintf("\n%d %s %s\n", i+1, key, flags[i]); !strings.Contains(plain, want) {
				t.Errorf("%s: no line %q in %q", b.name, want, plain)
			}
		}
	}
}

// TestSelect_uidlist holds that Dovecot's UIDs are adopted, from the maildir or
// from a file, or not.
func TestSelect_uidlist(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	list := "3 V1234 N900 G0123\n" + "100 :" + name(2) + "\n" + "200 :" + name(0) + "\n" + "300 :" + name(1) + "\n" + "400 :" + name(3) + "\n"
	other := filepath.Join(dir, "list")
	writeFile(t, other, []byte(strings.ReplaceAll(list, "V1234", "V77")))
	uids := func(args ...string) (validity float64, out []float64) {
		var got map[string]any
		if err := json.Unmarshal([]byte(must(t, append(append([]string{"select", "-json"}, args...), md)...)), &got); err != nil {
			t.Fatal(err)
		}
		for _, pair := range got["uids"].([]any) {
			out = append(out, pair.([]any)[0].(float64))
		}
		return got["uidvalidity"].(float64), out
	}
	if v, got := uids("-uidlist", other); v != 77 || !reflect.DeepEqual(got, []float64{100, 200, 300, 400}) {
		t.Errorf("-uidlist: %v, %v", v, got)
	}
	writeFile(t, filepath.Join(md, "dovecot-uidlist"), []byte(list))
	if v, got := uids(); v != 1234 || !reflect.DeepEqual(got, []float64{100, 200, 300, 400}) {
		t.Errorf("the maildir's own: %v, %v", v, got)
	}
	if v, got := uids("-uidlist", "none"); v == 1234 || !reflect.DeepEqual(got, []float64{1, 2, 3, 4}) {
		t.Errorf("none: %v, %v", v, got)
	}
	if got := must(t, "thread", md); got != "* THREAD (200 300 400)(100)\n" {
		t.Errorf("thread with adopted UIDs: %q", got)
	}
}

// TestUIDList_unusable holds that UIDs the user asked for are never silently
// others: what is named must be a uidlist.
func TestUIDList_unusable(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	prose := filepath.Join(dir, "prose")
	writeFile(t, prose, []byte("no uidlist\n"))
	for _, name := range []string{dir, prose, filepath.Join(dir, "none-such")} {
		if r := mailbench(t, "select", "-uidlist", name, md); r.code != 2 || !strings.Contains(r.errs, name) || r.out != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestThread_everyDesign holds that each design answers alike, in a directory
// that goes and in one that stays.
func TestThread_everyDesign(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)[0].path
	for _, d := range designs.Names() {
		for _, more := range [][]string{nil, {"-index-dir", filepath.Join(dir, "ix", d)}, {"-index-dir", filepath.Join(dir, "ix", d)}} {
			if got := must(t, append(append([]string{"thread", "-design", d}, more...), md)...); got != answerThread {
				t.Errorf("%s %q: %q", d, more, got)
			}
		}
	}
}
