package suite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/bar"
	"mailbench/internal/oracle"
	"mailbench/internal/temp"
)

// A fixture is the opened corpus: its mail, its identity and its truth.
type fixture struct {
	name     string
	digest   string
	path     string
	kind     string              // maildir, mbox
	order    []string            // keys of a user's mail in UID order; nil: by the names
	twins    map[string]mailName // of a user's mail: the file that counts of a name that is there twice
	messages int
	bytes    int64
	files    *temp.Set
	truth    *truth
	own      bool        // a synthetic corpus beside the run's: clones may be hard links
	clone    *live       // of an own one
	image    *temp.Image // in which the mail lies; nil: where the user has it
}

// open makes or opens the corpus, once.
func (r *Runner) open() (*fixture, error) {
	if r.opened == nil && r.openErr == nil {
		r.opened, r.openErr = r.openCorpus()
	}
	return r.opened, r.openErr
}

func (r *Runner) openCorpus() (*fixture, error) {
	if err := r.makePlaces(); err != nil {
		return nil, err
	}
	if corpus.IsSpec(r.cfg.Corpus) {
		return r.openSynthetic()
	}
	path, err := fromPWD(r.cfg.Corpus)
	if err != nil {
		return nil, err
	}
	return r.openMailbox(path)
}

func (r *Runner) openSynthetic() (*fixture, error) {
	spec, err := corpus.Parse(r.cfg.Corpus)
	if err != nil {
		return nil, err
	}
	if spec.Count() == 0 {
		return nil, fmt.Errorf("%s: no messages", r.cfg.Corpus)
	}
	made, err := corpus.Cached(context.Background(), filepath.Join(r.cfg.CacheDir, "corpus"), spec, "maildir", bar.New())
	if err != nil {
		return nil, err
	}
	f := &fixture{name: spec.Name(), digest: made.Digest, path: made.Path, kind: "maildir", messages: made.Messages, bytes: made.Bytes}
	if f.files, err = mailFiles(made.Path, "maildir"); err != nil {
		return nil, err
	}
	f.truth = newTruth(r.cfg.CacheDir, corpus.Sources, made.Digest, func() (answerer, error) { return corpus.NewTruth(spec) })
	return f, nil
}

// openMailbox opens a user's mail. Its digest covers what the operations read:
// keys, flags and every header, in UID order.
func (r *Runner) openMailbox(path string) (*fixture, error) {
	src, err := source.Open(path, source.Options{TempDir: r.scratch})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, err
	}
	if err := damage(src); err != nil {
		return nil, err
	}
	if len(l.Entries) == 0 {
		return nil, fmt.Errorf("%s: no messages", path)
	}
	src.Order(l.Entries)
	entries, twins := once(l.Entries)
	f := &fixture{name: filepath.Base(path), path: path, kind: src.Kind(), twins: twins, messages: len(entries)}
	// Sizes and times of files decide orders too, but a copy of the mail is the
	// same corpus to its reader.
	h, beside := xxhash.New(), xxhash.New()
	var buf []byte
	for i := range entries {
		e := &entries[i]
		f.order = append(f.order, strings.Clone(e.Key))
		header, err := src.ReadHeader(e, buf)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, e.Key, err)
		}
		buf = header
		fmt.Fprintf(h, "%s %v %d\n", e.Key, e.Flags, len(header))
		h.Write(header)
		size, internal, err := src.Stat(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, e.Key, err)
		}
		fmt.Fprintf(beside, "%d %d\n", size, internal)
	}
	f.digest = fmt.Sprintf("%016x", h.Sum64())
	if f.files, err = mailFiles(path, f.kind); err != nil {
		return nil, err
	}
	f.bytes = f.files.Bytes()
	f.truth = newTruth(r.cfg.CacheDir, oracle.Sources, fmt.Sprintf("%s-%016x", f.digest, beside.Sum64()), func() (answerer, error) { return readOracle(path, r.scratch) })
	return f, nil
}

// damage is that of a compressed file: a part of a corpus is another corpus.
func damage(src index.Source) error {
	if d, ok := src.(interface{ Damage() error }); ok {
		return d.Damage()
	}
	return nil
}

// mailFiles are the files of a mailbox whose temperature matters: of a maildir
// its mail, not what other programs keep beside it or in subfolders.
func mailFiles(path, kind string) (*temp.Set, error) {
	if kind == "maildir" {
		return temp.FilesIf(isMailName, path, "cur", "new")
	}
	return temp.Files(path)
}

// source opens the mail of f anew.
func (f *fixture) source(tempDir string) (index.Source, error) {
	src, err := source.Open(f.path, source.Options{Kind: f.kind, TempDir: tempDir})
	if p, ok := src.(temp.Pauser); ok && err == nil && f.image != nil {
		f.image.Attach(p)
	}
	return src, err
}

// errSkip makes a row be skipped with a reason instead of failing.
type errSkip struct{ why string }

func (e *errSkip) Error() string { return e.why }

func skip(format string, args ...any) error { return &errSkip{fmt.Sprintf(format, args...)} }

func asSkip(err error) (string, bool) {
	if e, ok := errors.AsType[*errSkip](err); ok {
		return e.why, true
	}
	return "", false
}
