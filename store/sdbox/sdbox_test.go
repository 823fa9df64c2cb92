package sdbox

import (
	"testing"
	"time"

	"mailbench/store"
	"mailbench/store/catalog"
	"mailbench/store/storetest"
)

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

func TestCut(t *testing.T) { storetest.Cut(t, Format, options, "sdbox.list") }

func TestExtremes(t *testing.T) { storetest.Extremes(t, Format, options) }

// A damaged list is made again from the files (D3).
var options = storetest.Options{LosesFlags: true}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }

func FuzzDecode(f *testing.F) {
	l := &layout{now: time.Now, guids: catalog.NewGUIDs()}
	r := catalog.NewRow(7, &store.Message{Body: []byte("Subject: x\n\nbody\n"), Date: 1}, time.Now)
	b, err := l.Encode(nil, 7, &store.Message{Body: []byte("Subject: x\n\nbody\n")}, &r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := l.Decode(file)
		if err == nil && (r.Off < 0 || r.Size < 0 || r.Off+r.Size > int64(len(file)) || catalog.KeyID(r.Key) == 0) {
			t.Errorf("%+v of %d bytes", r, len(file))
		}
	})
}
