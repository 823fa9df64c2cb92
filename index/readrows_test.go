package index

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// Rows are read from the first on until there is enough of them; a mail that
// has gone is none, another failure names its message.
func TestReadRows(t *testing.T) {
	src := newMemSource()
	for i := range 300 {
		src.deliver(fmt.Sprintf("m%03d", i))
	}
	k := &Tracker{}
	k.Adopt(nil)
	if _, err := k.Scan(src, State{}); err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i := range k.Table().Len() {
		rows = append(rows, i)
	}
	delete(src.msgs, "m007")
	if err := k.Naming(src); err != nil {
		t.Fatal(err)
	}
	var got [300]string
	read := func(e *Entry, buf []byte) ([]byte, error) {
		if e.Key == "m009" {
			return append(buf, "half"...), &fs.PathError{Op: "open", Path: e.Key, Err: fs.ErrPermission}
		}
		return src.ReadHeader(e, buf)
	}
	take := func(_, i int, e *Entry, b []byte) (int, error) {
		if got[i] = string(b); e.Key == "m009" {
			got[i] += fmt.Sprint("size ", e.VSize)
		}
		return len(b), nil
	}
	for at, rounds := 0, 0; at < len(rows); rounds++ {
		part := rows[at:]
		clear(got[:])
		n, gone, denied, err := k.ReadRows(src, part, 2, 500, read, take)
		if err != nil || n == 0 || rounds == 0 && n == len(rows) {
			t.Fatalf("%d of %d rows, %v", n, len(part), err)
		}
		for i := range n {
			if denied[i] != (at+i == 9) || denied[i] && got[i] != "size 0" {
				t.Fatalf("row %d: denied %v, %q", at+i, denied[i], got[i])
			}
			if denied[i] {
				continue
			}
			if want := fmt.Sprintf("\nSubject: m%03d\n", at+i); gone[i] != (at+i == 7) || !gone[i] && !strings.Contains(got[i], want) {
				t.Fatalf("row %d: gone %v, %q", at+i, gone[i], got[i])
			}
		}
		at += n
	}
	boom := errors.New("boom")
	_, _, _, err := k.ReadRows(src, rows[:20], 2, 1<<20, read, func(_, i int, _ *Entry, _ []byte) (int, error) {
		if i == 11 {
			return 0, boom
		}
		return 0, nil
	})
	if !errors.Is(err, boom) || err.Error() != src.Path()+": uid 12: boom" {
		t.Fatal(err)
	}
}
