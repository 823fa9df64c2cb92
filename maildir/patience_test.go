package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReader_patienceEnds holds that messages which are not there stop costing
// a listing each when somebody changes the mailbox without pause.
func TestReader_patienceEnds(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(root, "cur", fmt.Sprintf("%d.M1P1.h:2,", 1000+i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.patience = 0
	missing := func(i int) {
		t.Helper()
		now := time.Now()
		if err := os.Chtimes(filepath.Join(root, "cur"), now, now); err != nil {
			t.Fatal(err)
		}
		e := Entry{File: fmt.Sprintf("%d.M2P2.h:2,S", i), Base: fmt.Sprintf("%d.M2P2.h", i)}
		if _, err := r.ReadHeader(&e, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%v, want a message that is not there", err)
		}
	}
	missing(0)
	p := r.places.Load()
	if p == nil || r.spent.Load() <= 0 {
		t.Fatal("no listing was made for the first message")
	}
	p.cost = time.Hour // as of a mailbox too large to be listed again soon
	spent := r.spent.Load()
	for i := range 100 {
		missing(i)
	}
	if r.spent.Load() != spent {
		t.Error("a listing was made for a message that the last one had not")
	}
	e := Entry{File: "1007.M1P1.h:2,RS", Base: "1007.M1P1.h"}
	if _, err := r.ReadHeader(&e, nil); err != nil {
		t.Errorf("a message under other flags: %v", err)
	}
}
