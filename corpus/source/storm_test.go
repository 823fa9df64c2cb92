package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"mailbench/index"
)

// Another program sets a flag in place: the message is the same.
func TestMbox_flagSetInPlace(t *testing.T) {
	data := []byte(from + message(1, "Status: O \n") + from + message(2, ""))
	path := write(t, "a", data)
	s := open(t, path, Options{})
	l := list(t, s)
	if err := os.WriteFile(path, bytes.Replace(data, []byte("Status: O "), []byte("Status: RO"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range l.Entries {
		if b, err := s.ReadHeader(&l.Entries[i], nil); err != nil || !bytes.Contains(b, fmt.Appendf(nil, "message %d", i+1)) {
			t.Errorf("%q, %v", b, err)
		}
	}
	if l2 := list(t, s); l2.Entries[0].Key != l.Entries[0].Key || l2.Entries[0].Flags != index.FlagSeen {
		t.Errorf("%+v", l2.Entries[0])
	}
}

// A program that writes the mbox anew in place, over and over, while we list
// and read: no crash, and a header is the one that the key names or an error.
func TestMbox_rewriteStorm(t *testing.T) {
	data := sample(400)
	one := len(from + message(0, ""))
	path := write(t, "a.mbox", data)
	s := open(t, path, Options{})
	named := map[string]string{}
	l := list(t, s)
	for i := range l.Entries {
		b, err := s.ReadHeader(&l.Entries[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		named[strings.Clone(l.Entries[i].Key)] = string(b)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			part := data[i%4*100*one:]
			if i%4 > 0 {
				part = part[bytes.Index(part, []byte("\nFrom "))+1:]
			}
			os.WriteFile(path, part, 0o600) // truncates first
			time.Sleep(time.Millisecond)
		}
	}()
	read, missing := 0, 0
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		if err := s.List(l); err != nil {
			continue // empty or half written at that moment
		}
		for i := range l.Entries {
			b, err := s.ReadHeader(&l.Entries[i], nil)
			switch want, ok := named[l.Entries[i].Key]; {
			case err == nil && ok && string(b) != want:
				t.Fatalf("%s is %q, want %q", l.Entries[i].Key, b, want)
			case err == nil:
				read++
			case errors.Is(err, fs.ErrNotExist):
				missing++
			default:
				t.Fatal(err)
			}
		}
	}
	close(stop)
	<-done
	t.Logf("%d headers read, %d gone", read, missing)
}
