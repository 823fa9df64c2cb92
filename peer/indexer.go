package peer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// An indexer is what notmuch and mu have in common as an Instance: a program
// that is not spoken to, a clone, and a database of its own beside it.
type indexer struct {
	run     *Run
	program string
	env     []string
	desc    Description
	home    string // its home directory, below run.Dir: everything it writes
	mail    string // the clone
	data    string // the directory of its database
	class   func(path string) string
	// fresh makes ready for a first index, when the database is gone.
	fresh func(ctx context.Context) error
	// settle is how old cur/ must be for the program to trust its time.
	settle time.Duration
}

// prepareIndexer clones the mail and makes the directories.
func prepareIndexer(ctx context.Context, run *Run, program string) (*indexer, error) {
	x := &indexer{run: run, program: program, home: filepath.Join(run.Dir, "home")}
	x.mail = filepath.Join(x.home, "Mail", "INBOX")
	x.data = filepath.Join(x.home, "data")
	for _, dir := range []string{x.home, filepath.Dir(x.mail)} {
		if err := indexerDir(dir, run.User); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(run.Log, "cloning %s\n", run.Corpus)
	if err := clone.Maildir(ctx, run.Corpus, x.mail, run.Clone, run.User); err != nil {
		return nil, err
	}
	x.env = []string{"HOME=" + x.home, "TMPDIR=" + x.home, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
	x.class = func(string) string { return "database" }
	return x, nil
}

// indexerDir makes a directory that the program may write.
func indexerDir(dir string, u *proc.User) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if u == nil {
		return nil
	}
	return os.Chown(dir, int(u.UID), int(u.GID))
}

func (x *indexer) Describe() Description { return x.desc }

// command is the program with args, as the user of the run.
func (x *indexer) command(args ...string) proc.Command {
	return proc.Command{
		Path: x.program, Args: args, Env: x.env, Dir: x.home, User: x.run.User,
		Stderr: filepath.Join(x.run.Dir, "stderr.log"),
	}
}

// output runs the program, unmeasured, and returns what it prints.
func (x *indexer) output(ctx context.Context, args ...string) (string, error) {
	return programOutput(ctx, x.command(args...), x.LogTail)
}

// Fresh removes the database.
func (x *indexer) Fresh(ctx context.Context) error {
	if err := os.RemoveAll(x.data); err != nil {
		return err
	}
	if err := indexerDir(x.data, x.run.User); err != nil {
		return err
	}
	return x.fresh(ctx)
}

// touched changes the time of cur/ and nothing else.
func (x *indexer) touched(ctx context.Context) error {
	now := time.Now()
	if err := os.Chtimes(filepath.Join(x.mail, "cur"), now, now); err != nil {
		return err
	}
	return x.settled(ctx)
}

// settled waits until cur/ is so old that the program takes its time for final.
func (x *indexer) settled(ctx context.Context) error {
	st, err := os.Stat(filepath.Join(x.mail, "cur"))
	if err != nil {
		return err
	}
	t := time.NewTimer(x.settle - time.Since(st.ModTime()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Files lists the database.
func (x *indexer) Files() ([]File, error) {
	var files []File
	err := filepath.WalkDir(x.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(x.run.Dir, path)
		if err != nil {
			return err
		}
		files = append(files, File{Class: x.class(rel), Path: rel, Size: st.Size()})
		return nil
	})
	return files, err
}

// LogTail is the last line of what it said to standard error.
func (x *indexer) LogTail() string { return lastLine(filepath.Join(x.run.Dir, "stderr.log")) }

// Close ends nothing: each process has ended with its operation.
func (x *indexer) Close() error { return nil }

// lastLine is the last line of a file that is not empty, "" without one. It
// reads 4 KiB at most.
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	const most = 4 << 10
	tail := make([]byte, min(st.Size(), most))
	n, _ := f.ReadAt(tail, st.Size()-int64(len(tail)))
	text := strings.TrimSpace(string(tail[:n]))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// indexerProgram finds a program: given is what the user says, else it is
// looked for in the roots of MAILBENCH_PEERS and in PATH. "" when it is not there.
func indexerProgram(given, name string) string {
	if path, _ := findProgram(peerRoots(), given, "usr/bin/"+name); path != "" || given != "" {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}
