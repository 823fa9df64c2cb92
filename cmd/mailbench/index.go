package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

func indexCommand() *cli.Command {
	sub := func(name, usage, example string, where place, action func(*cli.Context, *mailbox) error) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "PATH",
			Description: "Example: " + example,
			Flags:       mailboxFlags(),
			Action: func(c *cli.Context) error {
				return withMailbox(c, where, func(m *mailbox) error { return action(c, m) })
			},
		}
	}
	return &cli.Command{
		Name:  "index",
		Usage: "build, describe, check or compact the index of a mailbox",
		Description: "The index lies in -index-dir, by default below the user's cache directory.\n" +
			"Example: mailbench index build -fields envelope ~/Mail/lkml",
		Subcommands: []*cli.Command{
			sub("build", "bring the index up to date and cache what THREAD and SORT read", "mailbench index build ~/Mail/lkml", forGood, buildIndex),
			infoCommand(),
			checkCommand(),
			sub("compact", "rewrite the files without dead records", "mailbench index compact ~/Mail/lkml", asMade, compactIndex),
		},
	}
}

// buildIndex asks what fills the cache. An answer that is kept hides a damaged
// cache below it, so that one is thrown away and made by asking for a part; an
// answer that is damaged itself is made by asking for all. A write that failed
// is told as such: no damage has to be repaired.
func buildIndex(c *cli.Context, m *mailbox) error {
	if err := askAll(m.mb, index.Search{}); err != nil {
		return err
	}
	if found(m.mb) != nil {
		if err := errors.Join(index.RepairUIDValidity(fsys.OS, m.dir, m.mb.Status().UIDValidity), m.mb.Compact(),
			askAll(m.mb, index.Search{Kind: "recent"}), askAll(m.mb, index.Search{})); err != nil {
			return err
		}
	}
	if err := found(m.mb); err != nil {
		return m.left(err)
	}
	// What is printed is what stays: an engine writes until it is closed.
	if err := m.reopen(); err != nil {
		return err
	}
	return indexInfo(c, m)
}

// left says what err is that build could not repair. A damaged file is put
// aside: the index that is opened next is built without it, under a greater
// UIDVALIDITY if it held the UIDs.
func (m *mailbox) left(err error) error {
	if errors.As(err, new(syscall.Errno)) {
		return fmt.Errorf("index build: %w", err)
	}
	var damage *index.CorruptError
	if errors.As(err, &damage) && filepath.Base(damage.File) != index.ValidityFile {
		name := filepath.Join(m.dir, filepath.Base(damage.File))
		if rerr := os.Rename(name, name+".damaged"); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			return errors.Join(err, rerr)
		}
	}
	return fmt.Errorf("index build: damage is left; remove %s and build again: %w", m.dir, err)
}

// found is the first inconsistency.
func found(mb index.Mailbox) error {
	for err := range mb.Check() {
		return err
	}
	return nil
}

// askAll asks for the thread and the two orders of the 2003 benchmark.
func askAll(mb index.Mailbox, s index.Search) error {
	if _, err := mb.Thread(thread.References, s); err != nil {
		return err
	}
	for _, keys := range []string{"date", "subject"} {
		crit, err := mailsort.ParseCriteria(keys)
		if err != nil {
			return err
		}
		if _, err := mb.Sort(crit, s); err != nil {
			return err
		}
	}
	return nil
}

func indexInfo(c *cli.Context, m *mailbox) error {
	st := m.mb.Status()
	fmt.Fprintf(c.App.Writer, "index %s\nuidvalidity %d\nuidnext %d\nmessages %d\ngeneration %d\n\n",
		m.dir, st.UIDValidity, st.UIDNext, st.Messages, st.Generation)
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "file\tpart\tbytes\trows\tB/msg\t")
	var total int64
	stats := m.mb.Stats()
	if st, err := os.Stat(filepath.Join(m.dir, identityFile)); err == nil {
		stats = append(stats, index.FileStat{Name: identityFile, Bytes: st.Size()})
	}
	for _, s := range stats {
		if s.Part == "" {
			total += s.Bytes
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.2f\t\n", s.Name, s.Part, s.Bytes, s.Rows, perMessage(s.Bytes, st.Messages))
	}
	fmt.Fprintf(w, "all\t\t%d\t%d\t%.2f\t\n", total, st.Messages, perMessage(total, st.Messages))
	return w.Flush()
}

// infoCommand describes the index as it is: a sync first would change it, and
// build a damaged one anew.
func infoCommand() *cli.Command {
	return &cli.Command{
		Name: "info", Usage: "print the bytes of every file and column; exit 1 if something is damaged", ArgsUsage: "PATH",
		Description: "Nothing is changed: mail that came since the last build is not counted.\nExample: mailbench index info ~/Mail/lkml",
		Flags:       mailboxFlags(),
		Action: func(c *cli.Context) error {
			path, err := onlyPath(c)
			if err != nil {
				return err
			}
			m, err := openMailbox(c, path, asItIs)
			if err != nil {
				return err
			}
			found := m.damage(c.App.ErrWriter)
			if found == 0 {
				err = m.hasFiles()
			}
			if err == nil {
				err = indexInfo(c, m)
			}
			if err == nil && found > 0 {
				err = errFound
			}
			return errors.Join(err, m.Close())
		},
	}
}

func perMessage(bytes int64, messages int) float64 {
	return float64(bytes) / float64(max(messages, 1))
}

func compactIndex(c *cli.Context, m *mailbox) error {
	before := fileBytes(m.mb.Stats())
	if err := m.mb.Compact(); err != nil {
		return err
	}
	if err := m.reopen(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.App.Writer, "%d bytes before, %d after\n", before, fileBytes(m.mb.Stats()))
	return err
}

func fileBytes(stats []index.FileStat) (n int64) {
	for _, s := range stats {
		if s.Part == "" {
			n += s.Bytes
		}
	}
	return n
}
