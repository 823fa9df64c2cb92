package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Fixture is a corpus on disk, complete, not to be changed.
type Fixture struct {
	Path     string            `json:"-"` // the maildir or mbox
	Spec     Spec              `json:"-"`
	Name     string            `json:"name"`   // Spec.Name
	Format   string            `json:"format"` // "maildir" or "mbox"
	Digest   string            `json:"digest"` // Info.Digest
	Messages int               `json:"messages"`
	Bytes    int64             `json:"bytes"`
	Answers  map[string]string `json:"answers"` // AnswerDigest of each of Questions
}

// readyFile is written last. A directory without it is what a killed maker
// left behind.
const readyFile = ".ready"

// DefaultRoot is where Cached keeps corpora that are given no place:
// mailbench/corpus in the user's cache directory.
func DefaultRoot() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("corpus: %w", err)
	}
	return filepath.Join(dir, "mailbench", "corpus"), nil
}

// Cached returns spec's corpus in the format "maildir" or "mbox", made on the
// first call and kept under root ("" is DefaultRoot) in a directory whose name
// is the parameters:
//
//	synthetic.v1.n20000.seed0.list.maildir/
//		mail/      the maildir (mail.mbox: the mbox)
//		.ready     the Fixture as JSON, written last
//
// It is made beside, under a name of its own, and renamed when complete, by one
// process at a time; others wait. What a killed process left is removed by the
// next maker. Before anything is written the free space is checked: the error
// wraps ErrNoSpace.
func Cached(ctx context.Context, root string, spec Spec, format string, p Progress) (*Fixture, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	file := map[string]string{"maildir": "mail", "mbox": "mail.mbox"}[format]
	if file == "" {
		return nil, fmt.Errorf("%w: no format %q (maildir, mbox)", ErrSpec, format)
	}
	if root == "" {
		var err error
		if root, err = DefaultRoot(); err != nil {
			return nil, err
		}
	}
	spec = spec.norm()
	name := spec.Name() + "." + format
	dir := filepath.Join(root, name)
	want := Fixture{Path: filepath.Join(dir, file), Spec: spec, Name: spec.Name(), Format: format, Messages: spec.Count()}
	if f := readFixture(dir, want); f != nil {
		return f, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(root, name+".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if f := readFixture(dir, want); f != nil { // somebody else made it meanwhile
		return f, nil
	}
	if err := sweep(root, name); err != nil {
		return nil, err
	}
	if err := checkSpace(root, spec, format); err != nil {
		return nil, err
	}
	return makeFixture(ctx, root, name, file, want, p)
}

// makeFixture builds a fixture under another name and renames it.
func makeFixture(ctx context.Context, root, name, file string, f Fixture, p Progress) (_ *Fixture, err error) {
	tmp, err := os.MkdirTemp(root, name+".tmp-")
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	g := Generate(f.Spec)
	t := newTruth(g)
	var info Info
	if f.Format == "maildir" {
		info, err = writeMaildir(ctx, filepath.Join(tmp, file), g, func() { t.add(g) }, p)
	} else {
		info, err = writeMbox(ctx, filepath.Join(tmp, file), g, plain, func() { t.add(g) }, p)
	}
	if err != nil {
		return nil, err
	}
	t.finish(g)
	f.Digest, f.Messages, f.Bytes, f.Answers = info.Digest, info.Messages, info.Bytes, t.Digests()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	if err := writeReady(filepath.Join(tmp, readyFile), &f); err != nil {
		return nil, err
	}
	if err := errors.Join(syncDir(tmp), os.Rename(tmp, filepath.Join(root, name)), syncDir(root)); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return &f, nil
}

func writeReady(path string, f *Fixture) error {
	text, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	_, err = out.Write(append(text, '\n'))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	return nil
}

// readFixture returns the finished fixture in dir, nil if there is none.
func readFixture(dir string, want Fixture) *Fixture {
	text, err := os.ReadFile(filepath.Join(dir, readyFile))
	if err != nil {
		return nil
	}
	f := Fixture{}
	if json.Unmarshal(text, &f) != nil || f.Name != want.Name || f.Format != want.Format || f.Messages != want.Messages {
		return nil
	}
	if _, err := os.Stat(want.Path); err != nil {
		return nil
	}
	f.Path, f.Spec = want.Path, want.Spec
	return &f
}

// sweep removes what earlier makers of the same fixture left behind. The lock
// is held, so that nobody is still at work on it.
func sweep(root, name string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	for _, e := range entries {
		if e.Name() == name || strings.HasPrefix(e.Name(), name+".tmp-") {
			if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
				return fmt.Errorf("corpus: %w", err)
			}
		}
	}
	return nil
}

// lock waits for the lock file, which ends with the process, not with the file.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	for {
		ok, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("corpus: locking %s: %w", path, err)
		}
		if ok {
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("corpus: waiting for whoever makes %s: %w", strings.TrimSuffix(path, ".lock"), context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
