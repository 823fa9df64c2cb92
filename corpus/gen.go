package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// A Message is one generated message. Data is valid until the next call of
// Next; the strings stay.
type Message struct {
	N        int    // 1, 2, ...: also its UID in a fresh mailbox
	Dir      string // "cur" or "new"
	File     string // maildir file name, unique, in N's order; with flags
	Flags    string // sorted maildir letters, as in File
	Internal int64  // INTERNALDATE: the file's mtime, the date of the From_ line, unix seconds
	Sender   string // address of the From_ line
	Data     []byte // LF line ends, the last line complete
	VSize    int64  // octets with CRLF line ends, RFC822.SIZE
}

// A Generator yields a corpus message by message. Memory is 4 bytes a message
// and a few MB; a message costs about 5 microseconds. Not for concurrent use.
type Generator struct {
	spec     Spec
	w        *world
	pl       planner
	out      *writer
	plan     plan
	names    namer
	n, count int
	firstNew int
	data     []byte
	name     []byte
	digest   xxhash.Digest
	size     int64
	flags    string // of the last message
	vsize    int64
}

// Generate returns the generator of spec's messages. It panics if spec.Check
// gives an error.
func Generate(spec Spec) *Generator {
	if err := spec.Check(); err != nil {
		panic(err)
	}
	w := newWorld(spec)
	g := &Generator{spec: spec, w: w, pl: w.planner(), count: spec.Count(), firstNew: spec.firstNew()}
	g.out = newWriter(w, g.pl)
	g.digest.Reset()
	return g
}

// step makes the next message in g.data, g.name, g.plan, g.flags and g.vsize.
func (g *Generator) step() bool {
	if g.n >= g.count {
		return false
	}
	g.n++
	p := &g.plan
	g.pl.next(p)
	r := rng(mix2(p.key, 0x6e616d65))
	alone := g.names.slot(p.arrival, &r)
	p.internal = g.names.second
	if !g.w.clean && r.ppm(5000) {
		p.internal -= int64(r.between(1, 40*86400)) // copied here by a client that kept the date
	}
	g.data = g.out.append(g.data[:0], p)
	size := int64(len(g.data))
	g.vsize = size + int64(bytes.Count(g.data, []byte{'\n'}))
	g.name = g.names.append(g.name[:0], alone, size, g.vsize, &r)
	if g.flags = ""; g.n <= g.firstNew {
		g.flags = flagSets[r.pick(flagShares)]
		if g.flags != "" || r.intn(100) > 0 { // one in a hundred has no info part
			g.name = append(append(g.name, ":2,"...), g.flags...)
		}
	}
	g.size += size
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], uint64(p.internal))
	binary.LittleEndian.PutUint64(head[8:], uint64(size))
	g.digest.Write(head[:])
	g.digest.Write(g.name)
	g.digest.Write(g.data)
	return true
}

// Next fills m with the next message and reports whether there was one.
func (g *Generator) Next(m *Message) bool {
	if !g.step() {
		return false
	}
	*m = Message{
		N: g.n, Dir: g.dir(), File: string(g.name), Flags: g.flags, Internal: g.plan.internal,
		Sender: g.sender(), Data: g.data, VSize: g.vsize,
	}
	return true
}

func (g *Generator) dir() string {
	if g.n > g.firstNew {
		return "new"
	}
	return "cur"
}

func (g *Generator) sender() string { return g.w.people[g.plan.from].bare() }

// Info is what was generated so far.
type Info struct {
	Digest   string // of names, dates and bytes of all messages, 16 hexadecimal digits
	Messages int
	Bytes    int64 // of the messages, with LF line ends
}

// Info returns the digest of all messages so far. It is the same whatever
// format they are written in.
func (g *Generator) Info() Info {
	return Info{Digest: fmt.Sprintf("%016x", g.digest.Sum64()), Messages: g.n, Bytes: g.size}
}
