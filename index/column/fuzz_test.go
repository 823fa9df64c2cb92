package column

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Decoders are behind checksums, but bytes that no version of this package
// wrote must not make them panic or allocate without bound either.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{6, 6, 1}, []byte{0}, []byte{2, 0, 1}, []byte{1, 1, 0})
	f.Add([]byte{0x14, 0x54}, []byte{}, []byte{1, 0}, []byte{0})
	f.Fuzz(func(t *testing.T, a, b, c, d []byte) {
		var cols columns
		if cols.decodeLinks(&streams{ctl: a, id: b, ref: c, subject: d}, 300) {
			cols.uid = make([]uint32, len(cols.ctl))
			cols.date = make([]int64, len(cols.ctl))
			for i := range cols.uid {
				cols.uid[i] = uint32(i + 1)
			}
			var again columns
			var s streams
			cols.encode(&s, 0, 0)
			if !again.decodeLinks(&s, 300) || !slices.Equal(again.ref, cols.ref) || !slices.Equal(again.id, cols.id) ||
				!slices.Equal(again.subject, cols.subject) || again.numIDs != cols.numIDs {
				t.Fatal("encoded again it says something else")
			}
		}
		var forest thread.Forest
		if n := len(a) / 2; decodeForest(&forest, a, b, len(a), n) {
			uid := make([]uint32, n)
			forest.AppendIMAP(nil, uid)
		}
		decodeOrder(nil, a, make([]uint32, len(b)))
		decodeRuns(nil, a, len(b))
		decodeDeltas(nil, a, len(b))
		decodeUints(nil, a, len(b), 100)
		var text mailsort.Arena
		if n, ok := decodeStrings(&text, a); ok {
			if got := appendStrings(nil, &text); n > 0 && !bytes.Equal(got, a) {
				var other mailsort.Arena
				if m, ok := decodeStrings(&other, got); !ok || m != n || !bytes.Equal(other.Data, text.Data) {
					t.Fatal("strings changed")
				}
			}
		}
		dict := dict{base: len(b)}
		if dict.decodePlaces(a) {
			rank := dict.ranks()
			seen := make([]bool, len(rank))
			for _, r := range rank {
				if seen[r] {
					t.Fatal("a rank twice")
				}
				seen[r] = true
			}
		}
	})
}

// A dictionary that grew in steps ranks like one made at once.
func TestDict_steps(t *testing.T) {
	r, _ := seeded(t)
	for range 50 {
		words := map[string]bool{"": true}
		var grown dict
		for step := range 1 + r.IntN(8) {
			var fresh []string
			for range r.IntN(30) {
				w := randomWord(r)
				if !words[w] {
					words[w] = true
					fresh = append(fresh, w)
				}
			}
			if step == 0 {
				fresh = append(fresh, "")
			}
			slices.Sort(fresh)
			a := mailsort.Arena{Off: []uint32{0}}
			for _, w := range fresh {
				a.Append([]byte(w))
			}
			before := dict{base: grown.base, later: slices.Clone(grown.later)}
			places := grown.add(&a)
			if places != nil {
				if !before.decodePlaces(places) || !slices.Equal(before.later, grown.later) {
					t.Fatal("places decode to something else")
				}
			}
		}
		rank := grown.ranks()
		order := make([]string, len(words))
		for id := range grown.len() {
			k := id
			if rank != nil {
				k = int(rank[id])
			}
			order[k] = string(grown.str(int32(id)))
		}
		if !slices.IsSorted(order) || len(order) != grown.len() {
			t.Fatalf("not in order: %q", order)
		}
	}
}

func randomWord(r *rand.Rand) string {
	b := make([]byte, r.IntN(6))
	for i := range b {
		b[i] = "ab\xff"[r.IntN(3)]
	}
	return string(b)
}

// A record of the tail gives the header fields and the BODYSTRUCTURE that it was
// made of, and any bytes are records or are not.
func FuzzTail(f *testing.F) {
	f.Add([]byte("Date: x\nSubject: a\n b\nReferences: <a@b>\n\nbody"), []byte("(body)"), []byte{1, 0, 0, 0})
	f.Add([]byte("Subject:\r\nsubject: second\r\nMessage-ID: <a@b>\r\n\r\n"), []byte{}, []byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte("no header at all"), []byte(nil), appendRec(nil, &index.Cached{UID: 7, BodyStructure: []byte("x")}, index.SetHash{1, 2}, &rfc5322.Header{}))
	f.Fuzz(func(t *testing.T, header, body, odd []byte) {
		var h, again rfc5322.Header
		rfc5322.Scan(header, tailMask, &h)
		c := index.Cached{UID: 1 + uint32(len(header)), Header: header, BodyStructure: body, Size: 5, VSize: int64(len(body)) - 1, Date: -int64(len(header))}
		b := appendRec(nil, &c, index.SetHash{3, 4}, &h)
		var tl tail
		if !tl.take(b) || len(tl.recs) != 1 {
			t.Fatalf("%d records of one", len(tl.recs))
		}
		r := &tl.recs[0]
		if r.uid != c.UID || r.date != c.Date || r.size != c.Size || r.vsize != c.VSize || r.hash != (index.SetHash{3, 4}) {
			t.Fatalf("%+v of %+v", r, c)
		}
		if got := r.each(nil); !bytes.Equal(got, body) || (got == nil) != (body == nil) {
			t.Fatalf("body %q, want %q", got, body)
		}
		text := r.header(nil)
		rfc5322.Scan(text, tailMask, &again)
		for _, f := range tailFields {
			if h.Present.Has(f) != again.Present.Has(f) || !bytes.Equal(h.Raw(header, f), again.Raw(text, f)) {
				t.Fatalf("%v is %q, was %q", f, again.Raw(text, f), h.Raw(header, f))
			}
		}
		var any tail
		if any.take(odd) {
			for i := range any.recs {
				any.recs[i].header(nil)
				any.recs[i].each(nil)
			}
		}
		any.frame(odd)
		any.later(odd)
		var s store
		s.rows = 3
		s.parts = []part{{name: "uid", rows: 3}, {name: "body", rows: 3, b: odd}}
		if x, err := s.loadBodies(); err == nil {
			for row := range 4 {
				x.of(row)
			}
		}
	})
}
