package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/peer/clone"
)

// dovecotInbox is where the files of INBOX are, below the directories of
// indexes and of controls of a maildir.
const dovecotInbox = ".INBOX"

// dovecotUIDList says which file has which UID. Unlike the indexes it cannot be
// made again.
const dovecotUIDList = "dovecot-uidlist"

// Fresh removes the indexes, or puts the user's own in their place. Of a dbox,
// whose indexes say which mail there is, only the caches go.
func (x *dovecotInstance) Fresh(ctx context.Context) error {
	if !x.maildir() {
		return x.each(func(path string, d fs.DirEntry) error {
			if c := dovecotClass(d.Name()); c == "cache" || c == "thread" {
				return os.Remove(path)
			}
			return nil
		})
	}
	for _, name := range []string{"index", "control"} {
		if err := os.RemoveAll(x.dir(name)); err != nil {
			return err
		}
		if err := indexerDir(x.dir(name), x.run.User); err != nil {
			return err
		}
	}
	if x.o.WithIndex == "" {
		return nil
	}
	return x.putAged(ctx)
}

// checkAged looks whether the directory that the user names has what his index
// needs to be of use.
func (d *dovecot) checkAged(run *Run) error {
	if d.o.Format != "maildir" {
		return errors.New("dovecot: only of a maildir can an index be taken along")
	}
	if len(agedFiles(d.o.WithIndex)) == 0 {
		return fmt.Errorf("dovecot: no dovecot.index* in %s", d.o.WithIndex)
	}
	if agedUIDList(d.o.WithIndex, run.Corpus) == "" {
		return fmt.Errorf("dovecot: no %s in %s or %s: without it every message has a new UID, and the index is made anew",
			dovecotUIDList, d.o.WithIndex, run.Corpus)
	}
	return nil
}

// agedFiles are the indexes in a directory, with their caches and logs.
func agedFiles(dir string) []string {
	names, err := filepath.Glob(filepath.Join(globQuote(dir), "dovecot.index*"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool {
		st, err := os.Stat(name)
		return err != nil || !st.Mode().IsRegular() || strings.HasSuffix(name, ".lock")
	})
}

// globQuote makes dir a pattern that only dir matches.
func globQuote(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// agedUIDList is the first uidlist of some directories, "" when there is none.
func agedUIDList(dirs ...string) string {
	for _, dir := range dirs {
		if st, err := os.Stat(filepath.Join(dir, dovecotUIDList)); dir != "" && err == nil && st.Mode().IsRegular() {
			return filepath.Join(dir, dovecotUIDList)
		}
	}
	return ""
}

// putAged copies the user's index files, which are not changed.
func (x *dovecotInstance) putAged(ctx context.Context) error {
	stage := x.dir("aged")
	if _, err := os.Stat(stage); errors.Is(err, fs.ErrNotExist) {
		// Once: the user's own may change while we measure.
		if err := x.stageAged(stage); err != nil {
			return err
		}
	}
	for _, part := range []string{"index", "control"} {
		if err := os.Remove(x.dir(part)); err != nil {
			return err
		}
		if err := clone.Dir(ctx, filepath.Join(stage, part), x.dir(part), x.run.User); err != nil {
			return err
		}
	}
	return nil
}

// stageAged makes index/ and control/ as Dovecot will want to find them.
func (x *dovecotInstance) stageAged(stage string) error {
	part := stage + ".part"
	index, control := filepath.Join(part, "index", dovecotInbox), filepath.Join(part, "control", dovecotInbox)
	for _, dir := range []string{index, control} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{control: agedUIDList(x.o.WithIndex, x.run.Corpus)}
	for dir, from := range files {
		if err := copyFile(from, filepath.Join(dir, filepath.Base(from))); err != nil {
			return err
		}
	}
	for _, from := range agedFiles(x.o.WithIndex) {
		if err := copyFile(from, filepath.Join(index, filepath.Base(from))); err != nil {
			return err
		}
	}
	for _, dir := range []string{x.o.WithIndex, x.run.Corpus} {
		from := filepath.Join(dir, "dovecot-keywords")
		if _, err := os.Stat(from); err == nil {
			if err := copyFile(from, filepath.Join(control, "dovecot-keywords")); err != nil {
				return err
			}
			break
		}
	}
	return os.Rename(part, stage)
}

// copyFile copies a file of an index: at most 1 GiB for Dovecot's cache.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// each calls fn for every regular file that is not mail.
func (x *dovecotInstance) each(fn func(path string, d fs.DirEntry) error) error {
	for _, name := range []string{"index", "control", "mail"} {
		if name == "mail" && x.maildir() {
			continue // mail only
		}
		err := filepath.WalkDir(x.dir(name), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // not made yet
			}
			if err != nil || !d.Type().IsRegular() || dovecotClass(d.Name()) == "" {
				return err
			}
			return fn(path, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dovecotClass is what a file of Dovecot's is for, "" for mail.
func dovecotClass(name string) string {
	switch {
	case strings.HasPrefix(name, "dovecot.list.index"), strings.HasPrefix(name, "dovecot-uidvalidity"), name == "dovecot.mailbox.log", name == "subscriptions":
		return "list"
	case strings.Contains(name, ".index.cache"):
		return "cache"
	case strings.Contains(name, ".index.thread"):
		return "thread"
	case strings.Contains(name, ".index.log"):
		return "log"
	case strings.HasSuffix(name, ".index"):
		return "index"
	case name == dovecotUIDList, name == "dovecot-keywords":
		return "uidlist"
	case strings.HasPrefix(name, "dovecot"):
		return "other"
	}
	return ""
}

func (x *dovecotInstance) Files() (files []File, err error) {
	err = x.each(func(path string, d fs.DirEntry) error {
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(x.run.Dir, path)
		files = append(files, File{Class: dovecotClass(d.Name()), Path: rel, Size: st.Size()})
		return err
	})
	return files, err
}
