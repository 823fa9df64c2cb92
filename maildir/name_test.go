package maildir

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
)

var seed = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

// source returns random numbers that -seed replays.
func source(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	return rand.New(rand.NewPCG(s, 0))
}

func TestParse(t *testing.T) {
	const noSize = -1
	tests := []struct {
		file string
		sep  byte
		want Name
		back string // File, if not file
	}{
		{"17.1.h", 0, Name{"17.1.h", 0, 0, -1, -1, false, ""}, ""},
		{"17.1.h:2,", 0, Name{"17.1.h", 0, 0, -1, -1, true, ""}, ""},
		{"17.1.h:2,FS", 0, Name{"17.1.h", FlagFlagged | FlagSeen, 0, -1, -1, true, ""}, ""},
		{"17.1.h:2,DFPRST", 0, Name{"17.1.h", 63, 0, -1, -1, true, ""}, ""},
		{"17.M5P6.h,S=87,W=90:2,S", 0, Name{"17.M5P6.h,S=87,W=90", FlagSeen, 0, 87, 90, true, ""}, ""},
		{"17.1.h,W=90:2,", 0, Name{"17.1.h,W=90", 0, 0, -1, 90, true, ""}, ""},
		{"17.1.h,U=3,S=5", 0, Name{"17.1.h,U=3,S=5", 0, 0, 5, -1, false, ""}, ""},
		// The first S= counts, even if it is not a number; no digits, no value.
		{"17.h,S=x,S=5", 0, Name{"17.h,S=x,S=5", 0, 0, -1, -1, false, ""}, ""},
		{"17.h,S=,W=7", 0, Name{"17.h,S=,W=7", 0, 0, -1, 7, false, ""}, ""},
		{"17.h,S=5x", 0, Name{"17.h,S=5x", 0, 0, -1, -1, false, ""}, ""},
		{"17.h,S=999999999999999999", 0, Name{"17.h,S=999999999999999999", 0, 0, 999999999999999999, -1, false, ""}, ""},
		{"17.h,S=9999999999999999999", 0, Name{"17.h,S=9999999999999999999", 0, 0, -1, -1, false, ""}, ""},
		{"17.h:2,S,S=5", 0, Name{"17.h", FlagSeen, 0, noSize, -1, true, ",S=5"}, ""},
		// Two info parts: base before the first, flags after the last.
		{"17.h,U=9:2:2,RS", 0, Name{"17.h,U=9", FlagReplied | FlagSeen, 0, -1, -1, true, ""}, "17.h,U=9:2,RS"},
		{"17.h:2,:2,S", 0, Name{"17.h", FlagSeen, 0, -1, -1, true, ""}, "17.h:2,S"},
		{"17.h:2,:::2:2::2,S", 0, Name{"17.h", FlagSeen, 0, -1, -1, true, ""}, "17.h:2,S"},
		// Other separators.
		{"17.h;2,S", 0, Name{"17.h;2,S", 0, 0, -1, -1, false, ""}, ""},
		{"17.h;2,S", ';', Name{"17.h", FlagSeen, 0, -1, -1, true, ""}, ""},
		{"17.h!2,FS", '!', Name{"17.h", FlagFlagged | FlagSeen, 0, -1, -1, true, ""}, ""},
		{"17.h:2,S", ';', Name{"17.h:2,S", 0, 0, -1, -1, false, ""}, ""},
		// Info that is none: kept, no flags.
		{"17.h:", 0, Name{"17.h", 0, 0, -1, -1, false, ":"}, ""},
		{"17.h:2", 0, Name{"17.h", 0, 0, -1, -1, false, ":2"}, ""},
		{"17.h:1,S", 0, Name{"17.h", 0, 0, -1, -1, false, ":1,S"}, ""},
		{"17.h:3,S", 0, Name{"17.h", 0, 0, -1, -1, false, ":3,S"}, ""},
		// Order, repetition, unknown letters, keywords, a second comma.
		{"17.h:2,TSSX9F", 0, Name{"17.h", FlagFlagged | FlagSeen | FlagTrashed, 0, -1, -1, true, "X9"}, "17.h:2,FSTX9"},
		{"17.h:2,XS9", 0, Name{"17.h", FlagSeen, 0, -1, -1, true, "X9"}, "17.h:2,SX9"},
		{"17.h:2,abSz", 0, Name{"17.h", FlagSeen, 1<<0 | 1<<1 | 1<<25, -1, -1, true, ""}, "17.h:2,Sabz"},
		{"17.h:2,FS,extra", 0, Name{"17.h", FlagFlagged | FlagSeen, 0, -1, -1, true, ",extra"}, ""},
		{"17.h:2,:S2,x", 0, Name{"17.h", FlagSeen, 0, -1, -1, true, ":2,x"}, "17.h:2,:2S,x"},
		{"17.h:2,\x80é", 0, Name{"17.h", 0, 0, -1, -1, true, "\x80é"}, ""},
		{"", 0, Name{"", 0, 0, -1, -1, false, ""}, ""},
		{":2,S", 0, Name{"", FlagSeen, 0, -1, -1, true, ""}, ""},
	}
	for _, tt := range tests {
		o := Options{tt.sep}
		got := Parse(tt.file, o)
		if got != tt.want {
			t.Errorf("Parse(%q):\ngot  %+v\nwant %+v", tt.file, got, tt.want)
		}
		back := tt.back
		if back == "" {
			back = tt.file
		}
		if f := got.File(o); f != back {
			t.Errorf("Parse(%q).File() = %q, want %q", tt.file, f, back)
		}
	}
	n := Parse("17.h:1,x", Options{})
	n.Flags |= FlagSeen
	if got := n.File(Options{}); got != "17.h:2,S" {
		t.Errorf("flag set on a name without info: %q", got)
	}
}

func TestFlags_String(t *testing.T) {
	for f, want := range map[Flags]string{0: "", FlagSeen: "S", FlagTrashed | FlagDraft: "DT", 63: "DFPRST", 255: "DFPRST"} {
		if got := f.String(); got != want {
			t.Errorf("%d: %q, want %q", f, got, want)
		}
	}
}

func TestParse_noAllocation(t *testing.T) {
	names := []string{"1700000000.M123456P789.host,S=1234,W=1260:2,FS", "1700000000.1_2.host", "1.h:2,TSSX9F", "1.h:1,S"}
	if n := testing.AllocsPerRun(100, func() {
		for _, f := range names {
			Parse(f, Options{})
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCompare(t *testing.T) {
	// Each sorts before the next; Dovecot's order except where only bytes decide.
	ordered := []string{
		"",
		".3.h",
		"x",
		"7.h",
		"8.h",
		"999999999.zz.h",
		"1000000000.aa.h",
		"1000000001.1_2.h", // no microseconds, below M
		"1000000001.M2P3.h",
		"1000000001.M2P4.h",
		"1000000001.V9M10P1.h", // wherever the M stands
		"1000000001.M123P1.h",
		"1000000001.P5.M1.h", // behind the second dot it is a host
		"1000000001.R5.h",
		"99999999999999999999999.h",
		"99999999999999999999999.i",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// oddName draws names that collide in every part.
func oddName(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	name := pick("", "1", "2", "01", "1700000000", "1700000001", "1099511627776", "99999999999999999999999", "x")
	name += pick("", ".", ".1", ".M", ".M5", ".M05", ".M7", ".M999999", ".M4194304", ".M99999999999999999999", ".V1M5", ".R")
	name += pick("", ".h", "P1.h", ".M3", ",S=5")
	return name
}

func TestCompare_isAnOrder(t *testing.T) {
	r := source(t)
	for range 20000 {
		a, b, c := oddName(r), oddName(r), oddName(r)
		if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a == b) {
			t.Fatalf("%q, %q: %d and %d", a, b, Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) < 0 && Compare(b, c) < 0 && Compare(a, c) >= 0 {
			t.Fatalf("not transitive: %q %q %q", a, b, c)
		}
	}
}

func TestSortBase(t *testing.T) {
	r := source(t)
	for _, n := range []int{0, 1, 2, 3, digits - 1, digits, digits + 1, 5000} {
		list := make([]Entry, n)
		for i := range list {
			list[i] = Entry{Base: oddName(r), Size: int64(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, compareEntries)
		SortBase(list)
		if !slices.Equal(list, want) {
			t.Fatalf("%d entries: wrong order or not stable", n)
		}
		SortBase(list)
		if !slices.Equal(list, want) {
			t.Fatalf("%d entries: sorting again changed the order", n)
		}
	}
}
