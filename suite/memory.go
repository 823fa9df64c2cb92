package suite

import (
	"bytes"
	"fmt"
	"strings"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/rfc5322"
	"mailbench/internal/temp"
	"mailbench/thread"
)

// memoryRows measure what needs no file: threading of shapes that hurt, and
// the header scanner.
func memoryRows() []Row {
	var rows []Row
	for _, alg := range []string{"references", "refs", "orderedsubject"} {
		for _, shape := range []string{"list", "deep", "wide", "duplicates", "onesubject", "cycles"} {
			rows = append(rows, Row{"Thread", params("alg", alg, "shape", shape, "msgs", "100k"), false, threadShape(alg, shape)})
		}
	}
	for _, fields := range []string{"thread", "envelope"} {
		rows = append(rows, Row{"HeaderScan", params("fields", fields), false, headerScan(fields)})
	}
	return rows
}

// threadShape threads 100,000 generated messages from their columns and
// formats the answer; reading and interning are done before.
func threadShape(alg, shape string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, _ *fixture) (*job, error) {
		n := 100_000
		if isFresh() {
			n = freshMessages
		}
		spec, err := corpus.Parse(fmt.Sprintf("synthetic:%d,shape=%s", n, shape))
		if err != nil {
			return nil, err
		}
		truth, err := corpus.NewTruth(spec)
		if err != nil {
			return nil, err
		}
		line, err := truth.Thread(alg, nil)
		if err != nil {
			return nil, err
		}
		want := corpus.AnswerDigest([]byte(withVerb("THREAD", line)))
		a, err := thread.ParseAlg(alg)
		if err != nil {
			return nil, err
		}
		in := columnsOf(spec)
		var (
			forest thread.Forest
			sc     thread.Scratch
			got    []byte
			uid    = upTo(n)
		)
		return &job{
			op: "thread-" + alg, messages: n,
			run: func() error {
				thread.Build(a, in, nil, &forest, &sc)
				got = forest.AppendIMAP(got[:0], uid)
				return nil
			},
			check: func() error { return wantDigest("THREAD "+alg+" of "+shape, corpus.AnswerDigest(got), want) },
		}, nil
	}
}

// columnsOf extracts the threading columns of a generated corpus.
func columnsOf(spec corpus.Spec) *thread.Input {
	b := index.NewBuilder(spec.Count(), index.WantThread, index.CompatRFC)
	internal := make([]int64, spec.Count())
	var m corpus.Message
	g := corpus.Generate(spec)
	for row := 0; g.Next(&m); row++ {
		b.Add(0, row, m.Data)
		internal[row] = m.Internal
	}
	cols := b.Columns()
	for _, row := range cols.NoDate {
		cols.Input.Date[row] = internal[row]
	}
	return &cols.Input
}

// headerScan scans up to 64 MB of the corpus's headers in memory.
func headerScan(fields string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		headers, total, err := readHeaders(r, f, 64<<20)
		if err != nil {
			return nil, err
		}
		want := rfc5322.Mask(0)
		names := strings.Fields("Date Subject Message-ID In-Reply-To References")
		if fields == "envelope" {
			names = append(names, "From", "To", "Cc")
		}
		for i := range rfc5322.NumFields {
			for _, n := range names {
				if strings.EqualFold(rfc5322.Field(i).String(), n) {
					want |= rfc5322.Field(i).Mask()
				}
			}
		}
		right := plainCount(headers, names)
		var found int
		return &job{
			op: "header-scan", messages: len(headers), mbPerS: total,
			run: func() error {
				found = 0
				var h rfc5322.Header
				for _, b := range headers {
					rfc5322.Scan(b, want, &h)
					for m := h.Present & want; m != 0; m &= m - 1 {
						found++
					}
				}
				return nil
			},
			check: func() error {
				if found != right {
					return fmt.Errorf("header scan: %d fields, want %d", found, right)
				}
				return nil
			},
		}, nil
	}
}

func readHeaders(r *Runner, f *fixture, most int64) ([][]byte, int64, error) {
	src, err := f.source(r.scratch)
	if err != nil {
		return nil, 0, err
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, 0, err
	}
	var out [][]byte
	var total int64
	for i := range l.Entries {
		b, err := src.ReadHeader(&l.Entries[i], nil)
		if err != nil {
			return nil, 0, err
		}
		if total += int64(len(b)); total > most && len(out) > 0 {
			return out, total - int64(len(b)), nil
		}
		out = append(out, bytes.Clone(b))
	}
	return out, total, nil
}

// plainCount counts the wanted fields the obvious way: split at line ends,
// compare names, first occurrence only.
func plainCount(headers [][]byte, names []string) int {
	n := 0
	for _, b := range headers {
		seen := map[string]bool{}
		for i, line := range bytes.Split(b, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) == 0 && i > 0 {
				break
			}
			name, _, ok := strings.Cut(string(line), ":")
			name = strings.TrimRight(name, " \t")
			if !ok || line[0] == ' ' || line[0] == '\t' || seen[strings.ToLower(name)] {
				continue
			}
			for _, want := range names {
				if strings.EqualFold(name, want) {
					seen[strings.ToLower(name)] = true
					n++
				}
			}
		}
	}
	return n
}

// floorRows are the floors by themselves; rows with a floor also measure it
// beside each sample.
func floorRows(pair temp.State) []Row {
	var rows []Row
	add := func(def bool, prepare func(*Runner, *fixture) (*job, error), kv ...string) {
		rows = append(rows, Row{"Floor", params(kv...), def, prepare})
	}
	for _, op := range []string{"readdir", "names", "headers"} {
		add(true, dirFloor(op, temp.Warm), "op", op, "mails", "warm")
	}
	for _, m := range []temp.State{temp.NoData, temp.Cold} {
		add(m == pair, dirFloor("headers", m), "op", "headers", "mails", m.String())
	}
	for _, op := range []string{"radix", "join", "format"} {
		add(true, memoryFloor(op), "op", op)
	}
	for _, op := range []string{"read", "write", "sync4k", "create"} {
		add(true, diskFloor(op), "op", op)
	}
	return rows
}

func memoryFloor(op string) func(*Runner, *fixture) (*job, error) {
	return func(_ *Runner, f *fixture) (*job, error) {
		n := f.messages
		j := &job{op: "floor-" + op, messages: n}
		switch op {
		case "radix":
			keys := floor.Keys(n)
			work, tmp := make([]uint64, n), make([]uint64, n)
			j.run = func() error { floor.Radix(keys, work, tmp); return nil }
			j.mbPerS = int64(8 * n)
		case "join":
			join := floor.NewJoin(n)
			j.run = func() error { join.Run(); return nil }
		case "format":
			var buf []byte
			j.run = func() error { buf, _ = floor.Format(buf, n); return nil }
		}
		return j, nil
	}
}
