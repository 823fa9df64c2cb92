package catalog

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/index"
)

func dboxOf(t testing.TB, id uint64, body string, r Row) []byte {
	t.Helper()
	g := NewGUIDs()
	r.Size = int64(len(body))
	b, err := AppendDbox(nil, id, g.Of(id), []byte(body), &r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDbox(t *testing.T) {
	for _, r := range []Row{{}, {Date: -5, VSize: 1 << 40, Flags: 63, Keywords: math.MaxUint32}, {Date: math.MaxInt64, VSize: 7}, {Date: math.MinInt64}} {
		for _, body := range []string{"", "x", "\n\n", dboxPost, DboxPre, strings.Repeat("a line\n", 9999), string(dboxOf(t, 9, "inner", Row{}))} {
			b := dboxOf(t, 17, body, r)
			if len(b) > DboxHead+len(body)+DboxTail {
				t.Errorf("%d bytes around a message of %d", len(b)-len(body), len(body))
			}
			if n := DboxMetaLen(b[DboxHead+len(body):]); n != len(b)-DboxHead-len(body) {
				t.Errorf("metadata of %d bytes, want %d", n, len(b)-DboxHead-len(body))
			}
			for _, tail := range []string{"", DboxPre, "\n", strings.Repeat("z", 999)} {
				got, n, err := ParseDbox(append(slices.Clone(b), tail...))
				want := r
				want.Key, want.Size, want.Dir = "17", int64(len(body)), index.DirNone
				if err != nil || got != want || n != int64(len(b)) {
					t.Errorf("body of %d, tail of %d: %+v, %d, %v; want %+v, %d", len(body), len(tail), got, n, err, want, len(b))
				}
			}
		}
	}
	if _, err := AppendDbox(nil, 1<<32, [16]byte{}, nil, &Row{}); err == nil {
		t.Error("an id of 33 bits")
	}
}

// TestDbox_damage: cut anywhere, or with any byte changed, it is no message.
func TestDbox_damage(t *testing.T) {
	b := dboxOf(t, 3, "Subject: a\n\nbody\n", Row{Date: 1e9, VSize: 20, Flags: 5})
	for n := range b {
		if _, _, err := ParseDbox(b[:n]); err == nil {
			t.Errorf("cut at %d of %d", n, len(b))
		}
		x := slices.Clone(b)
		x[n] ^= 0x20
		if got, length, err := ParseDbox(x); err == nil && n < len(b)-1 {
			t.Errorf("byte %d of %d changed: %+v, %d", n, len(b), got, length)
		}
	}
}

func TestDboxFile(t *testing.T) {
	line := DboxFile(time.Unix(1e9, 0))
	if n := DboxFileLen([]byte(line + "\x01\x02")); n != len(line) {
		t.Errorf("%q: %d", line, n)
	}
	for _, bad := range []string{"", "2 M1e C", "2 M1e C1234567\n", "3" + line[1:], "2 M1f" + line[5:], line[:len(line)-1], "2 M1e C12345678" + strings.Repeat("0", 99) + "\n"} {
		if n := DboxFileLen([]byte(bad)); n != 0 {
			t.Errorf("%q: %d", bad, n)
		}
	}
}

func TestGUIDs(t *testing.T) {
	a, b := NewGUIDs(), NewGUIDs()
	seen := map[[16]byte]string{}
	for id := range uint64(1000) {
		for name, g := range map[string]*GUIDs{"a": &a, "b": &b} {
			who := fmt.Sprint(name, id)
			if other, ok := seen[g.Of(id)]; ok {
				t.Fatalf("%s and %s have the same GUID", who, other)
			}
			seen[g.Of(id)] = who
		}
	}
}

func FuzzParseDbox(f *testing.F) {
	f.Add(dboxOf(f, 3, "Subject: a\n\nbody\n", Row{Date: 1e9}))
	f.Add([]byte(DboxPre))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, n, err := ParseDbox(b)
		if err != nil {
			return
		}
		if n > int64(len(b)) || r.Size > n || KeyID(r.Key) == 0 {
			t.Fatalf("%+v of %d bytes in %d", r, n, len(b))
		}
		if m := DboxMetaLen(b[DboxHead+r.Size:]); int64(m) != n-DboxHead-r.Size {
			t.Errorf("metadata of %d bytes, want %d", m, n-DboxHead-r.Size)
		}
	})
}

func FuzzDboxFileLen(f *testing.F) {
	f.Add([]byte(DboxFile(time.Unix(1, 0))))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := DboxFileLen(b); n < 0 || n > len(b) || n > 0 && !bytes.HasSuffix(b[:n], []byte("\n")) {
			t.Error(n)
		}
	})
}

// TestKeyID: the inverse of IDKey, and 0 for everything that is no key.
func TestKeyID(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, id := range []uint64{1, 9, 10, 1 << 32, 1<<62 - 1, r.Uint64() >> 2} {
		if got := KeyID(IDKey(id)); got != id {
			t.Errorf("%d: %d", id, got)
		}
	}
	for _, bad := range []string{"", "0", "01", "-1", "1.", "x", "12345678901234567890"} {
		if got := KeyID(bad); got != 0 {
			t.Errorf("%q: %d", bad, got)
		}
	}
}

// TestMemory holds C4.
func TestMemory(t *testing.T) {
	const n, bound = 200_000, 150
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := New("test", "here", nil)
	for i := range n {
		c.Load(Row{Key: IDKey(uint64(i + 1))})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n
	t.Logf("%d bytes a message", per)
	if per > bound {
		t.Errorf("%d bytes a message, more than %d", per, bound)
	}
	runtime.KeepAlive(c)
}

// TestDboxFile_times: whatever the clock says, the line is read back, and fits into the
// bytes that readers look at.
func TestDboxFile_times(t *testing.T) {
	for _, now := range []int64{math.MinInt64, math.MinInt64 / 2, -1 << 32, -1, 0, 1, 1e9, 1 << 32, 1 << 40, math.MaxInt64 / 2, math.MaxInt64} {
		line := DboxFile(time.Unix(now, 0))
		if n := DboxFileLen([]byte(line + "more\n")); n != len(line) || n > 63 {
			t.Errorf("at %d: %q has length %d, want %d", now, line, n, len(line))
		}
	}
	// As it was written once, by a clock of before 1970.
	if old := "2 M1e C-0000001\n"; DboxFileLen([]byte(old)) != len(old) {
		t.Errorf("%q is no line", old)
	}
	for _, bad := range []string{"", "2 M1e C\n", "2 M1e Cxxxxxxxx\n", "2 M1f C00000001\n", "2 M1e C00000001"} {
		if n := DboxFileLen([]byte(bad)); n != 0 {
			t.Errorf("%q is a line of %d bytes", bad, n)
		}
	}
}
