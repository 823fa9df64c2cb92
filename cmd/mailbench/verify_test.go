//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/peer"
	mailsort "mailbench/sort"
)

// needDovecot skips a test that wants the real one.
func needDovecot(t *testing.T) {
	t.Helper()
	if err := peer.NewDovecot(peer.DovecotOptions{}).Available(); err != nil {
		t.Skip(err)
	}
}

// verdict runs verify and returns what it found.
func verdict(t *testing.T, wantCode int, args ...string) peer.Verdict {
	t.Helper()
	got := mailbench(t, append([]string{"verify", "-json"}, args...)...)
	if got.code != wantCode || got.errs != "" {
		t.Fatalf("%q: exit code %d, want %d, standard error %q, %s", args, got.code, wantCode, got.errs, got.out)
	}
	var v peer.Verdict
	if err := json.Unmarshal([]byte(got.out), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVerify asks the real Dovecot about synthetic mail with all faults.
func TestVerify(t *testing.T) {
	needDovecot(t)
	dir := home(t)
	v := verdict(t, 0, "synthetic:300,seed=3")
	if v.System != "dovecot" || v.Messages != 300 || len(v.Questions) != 22 {
		t.Errorf("%s: %d messages, %d questions", v.System, v.Messages, len(v.Questions))
	}
	for _, q := range v.Questions {
		if q.Result != peer.Same {
			t.Errorf("%s", q)
		}
	}
	text := must(t, "verify", "synthetic:300,seed=3")
	if !strings.Contains(text, "THREAD REFERENCES: same\n") || !strings.Contains(text, "300 messages") {
		t.Errorf("%s", text)
	}
	left, err := filepath.Glob(filepath.Join(dir, "cache/mailbench/scratch/*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestVerify_others asks the other two, where they are: about mail without
// faults Cyrus says what we say, Courier at least to THREAD REFERENCES.
func TestVerify_others(t *testing.T) {
	home(t)
	const corpus = "synthetic:60,clean"
	t.Run("cyrus", func(t *testing.T) {
		if err := peer.NewCyrus(peer.CyrusOptions{}).Available(); err != nil {
			t.Skip(err)
		}
		for _, q := range verdict(t, 0, "-oracle", "cyrus", corpus).Questions {
			if q.Result != peer.Same {
				t.Errorf("%s", q)
			}
		}
	})
	t.Run("courier", func(t *testing.T) {
		if err := peer.NewCourier(peer.CourierOptions{}).Available(); err != nil {
			t.Skip(err)
		}
		for _, q := range verdict(t, 1, "-oracle", "courier", corpus).Questions {
			switch {
			case q.Question == "THREAD REFERENCES" && q.Result != peer.Same,
				q.Question == "THREAD REFS" && q.Result != peer.NotAsked,
				q.Question == "SORT (FROM)" && q.Result != peer.Differs:
				t.Errorf("%s", q)
			}
		}
	})
}

// TestVerify_known plants what Dovecot is known to read differently: a subject
// folded behind a blank, and an encoded word inside a quoted string.
func TestVerify_known(t *testing.T) {
	needDovecot(t)
	dir := home(t)
	md := filepath.Join(dir, "maildir")
	for _, sub := range []string{"cur", "new", "tmp"} {
		mkdir(t, filepath.Join(md, sub))
	}
	for name, head := range map[string]string{
		"1000000001.M1P1.x": "Subject: a b\nFrom: \"A=?utf-8?Q?z?=\" <a@x>\n",
		"1000000002.M1P1.x": "Subject: a \n b\nFrom: Am <b@x>\n",
		"1000000003.M1P1.x": "Subject: a c\nFrom: Ax <c@x>\n",
		"1000000004.M1P1.x": "Subject: a b\nFrom: Ay <d@x>\n",
	} {
		writeFile(t, filepath.Join(md, "cur", name+":2,"), []byte(head+"Date: Thu, 2 May 2024 13:32:10 +0000\n\nx\n"))
	}
	v := verdict(t, 0, md)
	known := map[string]peer.Checked{}
	for _, q := range v.Questions {
		if q.Result == peer.Known {
			known[q.Question] = q
		}
	}
	for question, want := range map[string]struct {
		uids    []uint32
		section string
	}{
		"SORT (SUBJECT)":        {[]uint32{2}, "RFC 5256 section 2.1"},
		"THREAD ORDEREDSUBJECT": {[]uint32{2}, "RFC 5256 section 2.1"},
		"SORT (DISPLAYFROM)":    {[]uint32{1}, "RFC 2047 section 5"},
	} {
		q := known[question]
		if !slices.Equal(q.UIDs, want.uids) || !strings.Contains(strings.Join(q.Sections, ";"), want.section) || q.First == "" || q.Moved == 0 {
			t.Errorf("%s: %+v; known are %v", question, q, known)
		}
	}
}

// TestVerify_planted checks programs that speak IMAP on a pipe: a session of our
// own, which is found right, and one behind a filter that swaps two messages in
// every answer, which are named.
func TestVerify_planted(t *testing.T) {
	home(t)
	t.Setenv(asCommand, "1")
	session := "mine=" + os.Args[0] + " session -index-dir $MAILBENCH_INDEX_DIR {}"
	if _, err := os.Stat("/bin/sed"); err != nil {
		t.Skip(err)
	}
	const corpus = "synthetic:60,clean"
	for _, q := range verdict(t, 0, "-system", session, corpus).Questions {
		if q.Result != peer.Same {
			t.Errorf("as it is: %s", q)
		}
	}
	swapped := session + ` | sed -u -E '/^\* (THREAD|SORT) /{s/\b7\b/@/; s/\b8\b/7/; s/@/8/}'`
	for _, q := range verdict(t, 1, "-system", swapped, corpus).Questions {
		if q.Result != peer.Differs {
			t.Errorf("swapped: %s", q)
			continue
		}
		if !strings.Contains(q.First, "UID 7") && !strings.Contains(q.First, "UID 8") {
			t.Errorf("swapped: %s: %s", q.Question, q.First)
		}
		explained := strings.Join(q.Explained, "\n")
		if !strings.Contains(explained, `{"uid":7,`) && !strings.Contains(explained, `{"uid":8,`) {
			t.Errorf("swapped: %s: %s", q.Question, explained)
		}
	}
	// Other sizes are other messages: nothing can be compared.
	other := session + ` | sed -u -E '/UID 7 /s/RFC822.SIZE [0-9]+/RFC822.SIZE 1/'`
	got := mailbench(t, "verify", "-system", other, corpus)
	if got.code != 2 || !strings.Contains(got.errs, "UID 7 has a size of 1 bytes") {
		t.Errorf("another size: exit code %d, %s%s", got.code, got.out, got.errs)
	}
	got = mailbench(t, "verify", "-system", "mine=echo nothing to say >&2; exit 3", corpus)
	if got.code != 2 || !strings.Contains(got.errs, "exit status 3") || !strings.Contains(got.errs, "nothing to say") {
		t.Errorf("one that fails: exit code %d, %s%s", got.code, got.out, got.errs)
	}
	got = mailbench(t, "verify", "-timeout", "500ms", "-system", "mine=echo '* PREAUTH hello'; exec sleep 60", corpus)
	if got.code != 2 || strings.Count(got.errs, "\n") != 1 {
		t.Errorf("one that hangs: exit code %d, %s%s", got.code, got.out, got.errs)
	}
}

// TestVerify_missing holds that a machine without the server is told how to get
// it, and that this is no failure.
func TestVerify_missing(t *testing.T) {
	home(t)
	t.Setenv("MAILBENCH_PEERS", "")
	for name, system := range map[string]peer.System{
		"courier": peer.NewCourier(peer.CourierOptions{}), "cyrus": peer.NewCyrus(peer.CyrusOptions{}), "dovecot": peer.NewDovecot(peer.DovecotOptions{}),
	} {
		if system.Available() == nil {
			continue // it is here
		}
		if got := must(t, "verify", "-oracle", name, "synthetic:3"); !strings.HasPrefix(got, "nothing verified: ") || !strings.Contains(got, "install") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestVerify_shared asks the Dovecot that is here about real mail, and holds
// both its answers and ours against those that were written down.
func TestVerify_shared(t *testing.T) {
	needDovecot(t)
	shared := "../../../shared"
	if dir := os.Getenv("MAILBENCH_SHARED"); dir != "" {
		shared = dir
	}
	mail := filepath.Join(shared, "corpora/real-500.mbox.zst")
	if _, err := os.Stat(mail); err != nil {
		t.Skip("the real mail is not beside the repository: ", err)
	}
	dir := home(t)
	results := map[string]string{}
	for _, q := range verdict(t, 0, mail).Questions {
		results[q.Question] = q.Result
	}
	md := filepath.Join(dir, "md")
	must(t, "corpus", "import", mail, md)
	ours, err := openOurs(md, filepath.Join(dir, "ours"), "column", rfcReading)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	files, err := filepath.Glob(filepath.Join(shared, "oracle/real-500/*.txt"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d answers, %v", len(files), err)
	}
	for _, name := range files {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kind, what, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txt"), "_")
		what = strings.ToUpper(strings.ReplaceAll(what, "_", " "))
		var got []byte
		question := "SORT (" + what + ")"
		if kind == "thread" {
			question = "THREAD " + what
			line, err := ours.Thread(what)
			if err != nil {
				t.Fatal(err)
			}
			got = append([]byte("* "), line...)
		} else {
			uids, err := ours.Sort(what)
			if err != nil {
				t.Fatal(err)
			}
			got = mailsort.AppendIMAP(nil, uids)
		}
		if results[question] != peer.Same || !bytes.Equal(got, bytes.TrimSpace(want)) {
			t.Errorf("%s: %q; as it was written down: %v", question, results[question], bytes.Equal(got, bytes.TrimSpace(want)))
		}
	}
}
