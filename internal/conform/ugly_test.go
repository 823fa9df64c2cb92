package conform

import (
	"archive/tar"
	"bytes"
	"io"
	"reflect"
	"testing"

	"mailbench/index"
	"mailbench/internal/oracle"
)

// TestOracle_ugly holds the keys of the test mail of other mail software, and
// of whatever else lies beside it, against the oracle's.
func TestOracle_ugly(t *testing.T) {
	r := tar.NewReader(bytes.NewReader(readFile(t, mustShared(t, "corpora", "ugly.tar.zst"))))
	files := 0
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files++
		for mode := range modes {
			if diff := keyDifference(b, mode, index.WantAll); diff != "" {
				t.Errorf("%s, %s: %s", h.Name, mode, diff)
			}
		}
	}
	t.Log(files, "files")
}

// keyDifference tells where the fast keys of a header are not the oracle's.
func keyDifference(header []byte, mode string, want index.Want) string {
	if end := headerEnd(header); end >= 0 {
		header = header[:end]
	}
	x := index.Extractor{Want: want, Compat: modes[mode].fast}
	var f index.Fields
	x.Extract(header, &f)
	slow := oracle.New([]oracle.Message{{UID: 1, Header: header, InternalDate: 1}}, modes[mode].oracle).Keys(0)
	if want != index.WantAll {
		slow.From, slow.To, slow.Cc, slow.DisplayFrom, slow.DisplayTo = "", "", "", "", ""
	}
	if got := keysOf(&f, 1); !reflect.DeepEqual(got, slow) {
		return differences(got, slow)
	}
	return ""
}

// FuzzOracle looks for a header of which the fast packages and the oracle read
// ids, subject or date differently. Addresses are left out: of malformed ones,
// which is what fuzzing finds, no RFC says what they are.
func FuzzOracle(f *testing.F) {
	f.Add([]byte("Subject: [a] Re: =?utf-8?q?x?= (fwd)\nDate: Mon, 1 Jan 24 1:2:3 (c) EST\nReferences: <a@x> <\"b\"@(c)y>\nFrom: \"a\" <b@[c]>\n"))
	f.Add([]byte("In-Reply-To: x <a(b)@[c]>\nMessage-ID: <a(b)@c>\nSubject: =?iso-8859-1?b?4g==?= \n  =?utf-8*en?q?_=C3=A9?= [fwd: x]\n"))
	f.Fuzz(func(t *testing.T, header []byte) {
		if bytes.IndexByte(header, 0) >= 0 {
			return // nothing says what a NUL is
		}
		for mode := range modes {
			if diff := keyDifference(header, mode, index.WantThread); diff != "" {
				t.Errorf("%s: %q: %s", mode, header, diff)
			}
		}
	})
}
