package stat

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"mailbench/corpus"
	"mailbench/index"
)

// memory is a corpus as an index.Source, without a disk.
type memory struct {
	msgs []corpus.Message
}

func generated(spec corpus.Spec) *memory {
	m := &memory{}
	g := corpus.Generate(spec)
	var msg corpus.Message
	for g.Next(&msg) {
		msg.Data = bytes.Clone(msg.Data)
		m.msgs = append(m.msgs, msg)
	}
	return m
}

func (m *memory) Kind() string                { return "memory" }
func (m *memory) Path() string                { return "-" }
func (m *memory) State() (index.State, error) { return index.State{}, nil }
func (m *memory) Order([]index.Entry)         {}
func (m *memory) UIDList() (string, bool)     { return "", false }
func (m *memory) Close() error                { return nil }
func (m *memory) List(l *index.Listing) error {
	l.Entries = l.Entries[:0]
	for i := range m.msgs {
		e := index.Entry{Key: m.msgs[i].File, Ref: int32(i), Size: -1, Dir: index.DirNone}
		if m.msgs[i].Dir == "new" {
			e.Dir = index.DirNew
		}
		l.Entries = append(l.Entries, e)
	}
	return nil
}

func (m *memory) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	return nil, fs.ErrInvalid // stat reads whole messages
}

func (m *memory) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	return append(buf[:0], m.msgs[e.Ref].Data...), nil
}

func (m *memory) Stat(e *index.Entry) (int64, int64, error) {
	return int64(len(m.msgs[e.Ref].Data)), m.msgs[e.Ref].Internal, nil
}

// The numbers are those measured on real lists, see corpus/doc.go; the bounds
// are what 20,000 messages let one say.
func TestGeneratorLooksLikeRealLists(t *testing.T) {
	s, err := Read(generated(corpus.Spec{}))
	if err != nil {
		t.Fatal(err)
	}
	percent := func(share float64) float64 { return 100 * share }
	for _, c := range []struct {
		what        string
		got, lo, hi float64
	}{
		{"mean header 5200", s.Header.Mean, 5000, 5400},
		{"median header 4500", float64(s.Header.P50), 4300, 4700},
		{"p90 header 9000", float64(s.Header.P90), 8600, 9400},
		{"p99 header 14800", float64(s.Header.P99), 14000, 15600},
		{"largest header 26600", float64(s.Header.Max), 19000, 27500},
		{"headers over 4 KiB 60%", percent(s.Over4K), 55, 65},
		{"headers over 8 KiB 13%", percent(s.Over8K), 11, 15},
		{"mean Cc 468", s.Cc.Mean, 420, 510},
		{"mean To 143", s.To.Mean, 110, 160},
		{"mean message: 1.9 to 2.65 GB at 367,918", s.Size.Mean, 5200, 7200},
		{"largest message: MBs", float64(s.Size.Max), 500_000, 4_200_000},
		{"References 84%", percent(s.HasReferences), 81, 87},
		{"levels, up to 177", float64(s.Depth.Max), 20, 178},
		{"ids, up to 168", float64(s.Refs.Max), 20, 168},
		{"largest thread, up to 500", float64(s.ThreadSize.Max), 100, 520},
		{"threads of one message 38%", percent(s.Single), 33, 43},
		{"mean thread 5.75 to 8", s.ThreadSize.Mean, 5, 8.5},
		{"parents absent 5.2%", percent(s.AbsentParent), 4, 6.4},
		{"children before parents 3%", percent(s.EarlyChild), 2.2, 3.8},
		{"repeated Message-ID 0.1%", percent(s.DuplicateID), 0.05, 0.18},
		{"In-Reply-To without id 0.3%", percent(s.ProseInReplyTo), 0.18, 0.42},
		{"References without id 0.1%", percent(s.HollowReferences), 0.04, 0.18},
		{"encoded subjects 0.4%", percent(s.EncodedSubject), 0.15, 0.8},
		{"From lines 0.6%", percent(s.FromLine), 0.4, 0.8},
		{"raw 8-bit: a few", percent(s.Raw8Bit), 0.01, 0.2},
		{"NUL: a few", percent(s.NUL), 0.005, 0.12},
		{"bare CR: a few", percent(s.BareCR), 0.005, 0.1},
		{"without Subject: a few", percent(1 - s.HasSubject), 0.005, 0.1},
		{"without Date: a few", percent(1 - s.HasDate), 0.005, 0.1},
		{"unusable Date: a few", percent(s.BadDate), 0.005, 0.1},
		{"new/ 1%", percent(s.New), 0.99, 1.01},
	} {
		if c.got < c.lo || c.got > c.hi {
			t.Errorf("%s: %.4g, want %.4g to %.4g", c.what, c.got, c.lo, c.hi)
		}
	}
	if t.Failed() {
		var b strings.Builder
		_ = s.Print(&b) // a Builder takes everything
		t.Log(b.String())
	}
}

func TestRead_small(t *testing.T) {
	m := &memory{}
	for _, text := range []string{
		"Message-ID: <a@x>\nSubject: one\n\nFrom here\n",
		"Message-ID: <b@x>\nReferences: <a@x>\nSubject: Re: one\n\n.\n",
		"Message-ID: <c@x>\nReferences: <a@x> <b@x>\nSubject: Re: one\n\n.\n",
		"Message-ID: <c@x>\nReferences: <gone@x>\nSubject: =?utf-8?q?two?=\n\n\x00\n",
		"References: none\nIn-Reply-To: your letter\nSubject: three\nSubject: four\nno colon\n\n\r.\n",
		"Message-ID: <d@x>\nReferences: <e@x>\n\n",
		"Message-ID: <e@x>\n\n",
		"",
	} {
		m.msgs = append(m.msgs, corpus.Message{Data: []byte(text)})
	}
	s, err := Read(m)
	if err != nil {
		t.Fatal(err)
	}
	eighth := 1.0 / 8
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"messages", float64(s.Messages), 8},
		{"threads", float64(s.Threads), 5}, // a b c; c2; three; e d; empty
		{"levels", float64(s.Depth.Max), 3},
		{"thread size", float64(s.ThreadSize.Max), 3},
		{"single", s.Single, 3.0 / 5},
		{"absent", s.AbsentParent, 1.0 / 4},
		{"early", s.EarlyChild, 1.0 / 3},
		{"duplicates", s.DuplicateID, eighth},
		{"hollow", s.HollowReferences, eighth},
		{"prose", s.ProseInReplyTo, eighth},
		{"encoded", s.EncodedSubject, eighth},
		{"nul", s.NUL, eighth},
		{"cr", s.BareCR, eighth},
		{"no colon", s.NoColon, eighth},
		{"twice", s.DuplicateField, eighth},
		{"from line", s.FromLine, eighth},
		{"reply", s.Reply, 2 * eighth},
		{"largest", float64(s.Size.Max), float64(len(m.msgs[4].Data))},
	} {
		if d := c.got - c.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestDescribe_empty(t *testing.T) {
	var b strings.Builder
	if err := Describe(&b, &memory{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "messages") {
		t.Errorf("no table: %q", b.String())
	}
}
