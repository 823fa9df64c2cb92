package suite

import (
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/oracle"
)

// An answerer knows the right answers and shares no code with what is
// measured: the generator's own truth, or the literal RFC 5256.
type answerer interface {
	Thread(alg string, uids []uint32) (string, error)
	Sort(keys string, uids []uint32) ([]uint32, error)
}

// A truth gives digests of right answers. They are kept in a file per corpus
// digest, because the literal RFC takes minutes on a large mailbox; the
// answerer itself is dropped between rows, so that it does not weigh on the
// heap of what is measured.
type truth struct {
	file    string
	digests map[string]string
	load    func() (answerer, error)
	loaded  answerer
}

// newTruth finds the digests that were kept for the corpus of that digest by
// the code that load runs.
func newTruth(cacheDir string, code embed.FS, digest string, load func() (answerer, error)) *truth {
	t := &truth{file: filepath.Join(cacheDir, "answers", digest+"-"+codeHash(code)+".json"), digests: map[string]string{}, load: load}
	if b, err := os.ReadFile(t.file); err == nil {
		if json.Unmarshal(b, &t.digests) != nil {
			t.digests = map[string]string{}
		}
	}
	return t
}

// codeHash tells one state of a package's code from another.
func codeHash(code embed.FS) string {
	h := xxhash.New()
	names, _ := code.ReadDir(".") // what is embedded can be read
	for _, f := range names {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			b, _ := code.ReadFile(f.Name())
			h.Write(b)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// thread returns the digest of "* THREAD ..." for alg on uids (nil: all).
func (t *truth) thread(alg string, uids []uint32) (string, error) {
	return t.get("thread "+alg+setName(uids), func(a answerer) (string, error) {
		line, err := a.Thread(alg, uids)
		if err != nil {
			return "", err
		}
		return corpus.AnswerDigest([]byte(withVerb("THREAD", line))), nil
	})
}

// sort returns the digest of "* SORT ..." for keys on uids.
func (t *truth) sort(keys string, uids []uint32) (string, error) {
	return t.get("sort "+keys+setName(uids), func(a answerer) (string, error) {
		order, err := a.Sort(keys, uids)
		if err != nil {
			return "", err
		}
		return corpus.AnswerDigest(appendSort(nil, order)), nil
	})
}

func (t *truth) get(key string, ask func(answerer) (string, error)) (string, error) {
	if d, ok := t.digests[key]; ok {
		return d, nil
	}
	if t.loaded == nil {
		a, err := t.load()
		if err != nil {
			return "", fmt.Errorf("truth: %w", err)
		}
		t.loaded = a
	}
	d, err := ask(t.loaded)
	if err != nil {
		return "", fmt.Errorf("truth: %s: %w", key, err)
	}
	t.digests[key] = d
	return d, t.save()
}

// keep returns what was kept under key, or what ask finds.
func (t *truth) keep(key string, ask func() (string, error)) (string, error) {
	if d, ok := t.digests[key]; ok {
		return d, nil
	}
	d, err := ask()
	if err != nil {
		return "", fmt.Errorf("truth: %s: %w", key, err)
	}
	t.digests[key] = d
	return d, t.save()
}

// setName tells one set of uids from another in the cache of digests.
func setName(uids []uint32) string {
	if uids == nil {
		return ""
	}
	h := xxhash.New()
	var b [4]byte
	for _, u := range uids {
		binary.LittleEndian.PutUint32(b[:], u)
		h.Write(b[:])
	}
	return fmt.Sprintf(" on %d: %016x", len(uids), h.Sum64())
}

func (t *truth) save() error {
	b, err := json.MarshalIndent(t.digests, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o755); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", t.file, os.Getpid())
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, t.file)
}

// drop lets go of the answerer until it is needed again.
func (t *truth) drop() { t.loaded = nil }

// withVerb puts "* VERB " before an answer that lacks it.
func withVerb(verb, line string) string {
	if strings.HasPrefix(line, "* ") {
		return line
	}
	return strings.TrimRight("* "+verb+" "+line, " ")
}

func appendSort(dst []byte, uids []uint32) []byte {
	dst = append(dst, "* SORT"...)
	for _, u := range uids {
		dst = fmt.Appendf(dst, " %d", u)
	}
	return dst
}

// An rfcOracle is the literal RFC 5256 over a user's mail, with UIDs 1..n in
// the order of the names.
type rfcOracle struct{ msgs []oracle.Message }

func readOracle(path, tempDir string) (answerer, error) {
	src, err := source.Open(path, source.Options{TempDir: tempDir})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, err
	}
	src.Order(l.Entries)
	entries, _ := once(l.Entries)
	o := &rfcOracle{msgs: make([]oracle.Message, len(entries))}
	for i := range entries {
		e := &entries[i]
		header, err := src.ReadHeader(e, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		internal := e.MTime
		if !e.MTimeOK {
			if _, internal, err = src.Stat(e); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Key, err)
			}
		}
		msg, err := src.ReadMessage(e, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		o.msgs[i] = oracle.Message{UID: uint32(i + 1), Header: append([]byte(nil), header...), InternalDate: internal, RFC822Size: crlfSize(msg)}
	}
	return o, nil
}

// crlfSize is the size of msg with every line end as CRLF (RFC 3501,
// RFC822.SIZE).
func crlfSize(msg []byte) int64 {
	n := int64(len(msg))
	for i, c := range msg {
		if c == '\n' && (i == 0 || msg[i-1] != '\r') {
			n++
		}
	}
	return n
}

func (o *rfcOracle) of(uids []uint32) []oracle.Message {
	if uids == nil {
		return o.msgs
	}
	out := make([]oracle.Message, 0, len(uids))
	for _, u := range uids {
		if int(u) >= 1 && int(u) <= len(o.msgs) {
			out = append(out, o.msgs[u-1])
		}
	}
	return out
}

func (o *rfcOracle) Thread(alg string, uids []uint32) (string, error) {
	box := oracle.New(o.of(uids), oracle.RFC)
	switch alg {
	case "references":
		return box.References(), nil
	case "refs":
		return box.Refs(), nil
	case "orderedsubject":
		return box.OrderedSubject(), nil
	}
	return "", fmt.Errorf("no algorithm %q", alg)
}

func (o *rfcOracle) Sort(keys string, uids []uint32) ([]uint32, error) {
	return oracle.Sort(o.of(uids), keys), nil
}
