package corpus

import (
	"context"
	"errors"
)

var errNotYet = errors.New("corpus: not yet")

type Message struct {
	N        int
	File     string
	Dir      string
	Flags    string
	Internal int64
	Sent     int64
	Sender   string
	Data     []byte
	Size     int64
}
type Generator struct{}

func Generate(spec Spec) *Generator       { return &Generator{} }
func (g *Generator) Next(m *Message) bool { return false }

type Truth struct{}

func NewTruth(spec Spec) (*Truth, error)                           { return nil, errNotYet }
func (t *Truth) Thread(alg string, uids []uint32) (string, error)  { return "", errNotYet }
func (t *Truth) Sort(keys string, uids []uint32) ([]uint32, error) { return nil, errNotYet }
func (t *Truth) Digest(answer string) (string, error)              { return "", errNotYet }
func (t *Truth) Undeleted() []uint32                               { return nil }
func AnswerDigest(line []byte) string                              { return "" }

type Progress interface {
	Start(what string, total int)
	Add(n int)
	Done()
}
type Info struct {
	Digest   string
	Messages int
	Bytes    int64
}

func WriteMaildir(ctx context.Context, dir string, spec Spec, p Progress) (Info, error) {
	return Info{}, errNotYet
}
func WriteMbox(ctx context.Context, path string, spec Spec, p Progress) (Info, error) {
	return Info{}, errNotYet
}

type Fixture struct {
	Path     string
	Spec     Spec
	Format   string
	Digest   string
	Messages int
	Bytes    int64
	Answers  map[string]string
}

func Cached(ctx context.Context, root string, spec Spec, format string, p Progress) (*Fixture, error) {
	return nil, errNotYet
}

type CloneHow uint8

const (
	CloneAuto CloneHow = iota
	CloneCopy
	CloneReflink
	CloneHardlink
)

func Clone(ctx context.Context, src, dst string, how CloneHow) error { return errNotYet }
