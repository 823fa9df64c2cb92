package corpus

import (
	"testing"
)

func TestPeek(t *testing.T) {
	g := Generate(Spec{Messages: 3000})
	var m Message
	for g.Next(&m) {
		if m.N%700 == 0 {
			t.Logf("%d %s/%s %d %d\n%s", m.N, m.Dir, m.File, m.Internal, len(m.Data), m.Data)
		}
	}
	t.Log(g.Info())
}

func BenchmarkGenerate(b *testing.B) {
	g := Generate(Spec{Messages: MaxMessages})
	var m Message
	var n int64
	for b.Loop() {
		g.Next(&m)
		n += int64(len(m.Data))
	}
	b.ReportMetric(float64(n)/float64(b.N), "B/msg")
}
