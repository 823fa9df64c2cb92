package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// DovecotOptions say which Dovecot is driven, and how it is configured.
type DovecotOptions struct {
	Binary      string // of imap; "" = where Debian, Fedora or MAILBENCH_PEERS have it
	Doveadm     string // "" likewise
	Name        string // of the column; "" = dovecot
	CacheFields string // mail_cache_fields; "" = Dovecot's own default
	WithIndex   string // a directory with dovecot.index* to start from (a copy is used), "" = none
	Fsync       string // mail_fsync: optimized, always or never; "" = optimized
	Format      string // maildir, sdbox or mdbox; "" = maildir
}

// DovecotMatchedFields is the mail_cache_fields of a column whose cache holds
// what ours do: the fields that threading and sorting by date and subject read.
// Left alone Dovecot begins to cache a field when a client first asks for it;
// named, all of them are cached when a message is read for any. (At 20,000
// messages: thread first 1.2 s instead of 1.5, sort date first 0.07 instead of
// 0.22; the bytes are the same in the end.)
const DovecotMatchedFields = "flags date.sent hdr.date hdr.subject hdr.message-id hdr.in-reply-to hdr.references"

// NewDovecot returns the installed Dovecot as a system: its imap on a pipe,
// already authenticated, with a configuration of its own. Run.Corpus "" gives
// an empty mailbox.
func NewDovecot(o DovecotOptions) System {
	if o.Name == "" {
		o.Name = "dovecot"
	}
	if o.Fsync == "" {
		o.Fsync = "optimized"
	}
	if o.Format == "" {
		o.Format = "maildir"
	}
	return &dovecot{o: o}
}

type dovecot struct{ o DovecotOptions }

func (d *dovecot) Name() string { return d.o.Name }

func (d *dovecot) Available() error {
	_, err := d.find()
	return err
}

// A dovecotInstance is Dovecot over one clone.
type dovecotInstance struct {
	o    DovecotOptions
	run  *Run
	bin  dovecotPrograms
	conf string
	desc Description
	env  []string
}

func (d *dovecot) Prepare(ctx context.Context, run *Run) (Instance, error) {
	bin, err := d.find()
	if err != nil {
		return nil, err
	}
	if err := d.check(run); err != nil {
		return nil, err
	}
	x := &dovecotInstance{o: d.o, run: run, bin: bin, conf: filepath.Join(run.Dir, "dovecot.conf")}
	for _, dir := range []string{run.Dir, x.dir("home"), x.dir("base")} {
		if err := indexerDir(dir, run.User); err != nil {
			return nil, err
		}
	}
	// Each program starts itself again below doveconf and looks for itself in PATH.
	path := strings.Join([]string{filepath.Dir(bin.imap), filepath.Dir(bin.doveadm), "/usr/bin", "/bin"}, ":")
	x.env = []string{"PATH=" + path, "USER=" + x.userName(), "HOME=" + x.dir("home"), "LC_ALL=C"}
	if x.desc.Version, err = x.output(ctx, bin.dovecot, "--version"); err != nil {
		return nil, err
	}
	text, err := x.configuration()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(x.conf, []byte(text), 0o644); err != nil {
		return nil, err
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	config, err := x.output(ctx, bin.doveconf, "-c", x.conf, "-n")
	if err != nil {
		return nil, err
	}
	x.desc.Config = strings.ReplaceAll(config, run.Dir, "$RUN")
	if err := x.Fresh(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// check refuses what cannot work before anything is made.
func (d *dovecot) check(run *Run) error {
	switch d.o.Format {
	case "maildir", "sdbox", "mdbox":
	default:
		return fmt.Errorf("dovecot: no format %q (maildir, sdbox, mdbox)", d.o.Format)
	}
	switch d.o.Fsync {
	case "optimized", "always", "never":
	default:
		return fmt.Errorf("dovecot: no mail_fsync %q (optimized, always, never)", d.o.Fsync)
	}
	if strings.ContainsAny(d.o.CacheFields, "\n\"'#$<") {
		return fmt.Errorf("dovecot: mail_cache_fields cannot be %q", d.o.CacheFields)
	}
	// Each of these means something in a configuration or a mail_location.
	if strings.ContainsAny(run.Dir, ":%#$\"'\\\n~<") {
		return fmt.Errorf("dovecot: its directory cannot have such a name: %q", run.Dir)
	}
	if run.User == nil && os.Geteuid() == 0 {
		return errors.New("dovecot: it does not serve root: name an ordinary user")
	}
	if d.o.WithIndex != "" {
		return d.checkAged(run)
	}
	return nil
}

func (x *dovecotInstance) dir(name string) string { return filepath.Join(x.run.Dir, name) }

func (x *dovecotInstance) maildir() bool { return x.o.Format == "maildir" }

func (x *dovecotInstance) userName() string {
	if u := x.run.User; u != nil && u.Name != "" {
		return u.Name
	}
	return "user"
}

// load brings the mail of the corpus in: a clone, which the other formats then
// import.
func (x *dovecotInstance) load(ctx context.Context) error {
	if x.run.Corpus == "" {
		return indexerDir(x.dir("mail"), x.run.User)
	}
	mail := x.dir("mail")
	if !x.maildir() {
		mail = x.dir("import")
	}
	fmt.Fprintf(x.run.Log, "%s: cloning %s\n", x.o.Name, x.run.Corpus)
	if err := clone.Maildir(ctx, x.run.Corpus, mail, x.run.Clone, x.run.User); err != nil {
		return err
	}
	if x.maildir() {
		return ageMaildir(mail)
	}
	fmt.Fprintf(x.run.Log, "%s: importing into %s\n", x.o.Name, x.o.Format)
	from := "maildir:" + mail + ":INDEX=MEMORY:CONTROL=" + x.dir("importcontrol")
	if _, err := x.output(ctx, x.bin.doveadm, "-c", x.conf, "import", from, "", "ALL"); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(mail), os.RemoveAll(x.dir("importcontrol")))
}

// command is a program of Dovecot's, as the user of the run.
func (x *dovecotInstance) command(program string, args ...string) proc.Command {
	return proc.Command{Path: program, Args: args, Env: x.env, Dir: x.dir("home"), User: x.run.User, Stderr: x.log()}
}

// log gets what its processes say, by themselves and through log_path.
func (x *dovecotInstance) log() string { return x.dir("dovecot.log") }

// LogTail passes over the addresses of a backtrace, which come last.
func (x *dovecotInstance) LogTail() string {
	tail := lastLine(x.log())
	if !strings.Contains(tail, "Raw backtrace") {
		return tail
	}
	b, err := os.ReadFile(x.log()) // of one run: a few lines
	if err != nil {
		return tail
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, line := range slices.Backward(lines) {
		if !strings.Contains(line, "Raw backtrace") {
			return line
		}
	}
	return tail
}

// output runs a program, unmeasured, and returns what it prints.
func (x *dovecotInstance) output(ctx context.Context, program string, args ...string) (string, error) {
	return programOutput(ctx, x.command(program, args...), x.LogTail)
}

// Task says how Dovecot does op: an imap process of its own for each, or
// doveadm's.
func (x *dovecotInstance) Task(op Op) *Task {
	t := &Task{Command: x.command(x.bin.imap, "-c", x.conf), Before: x.settled}
	switch op {
	case OpNoop:
		t.Before = nil
	case OpSelectFirst, OpResync:
		// The indexes of a dbox say which mail there is, and another's are not ours
		// to have for the first time.
		if !x.maildir() || op == OpSelectFirst && x.o.WithIndex != "" {
			return nil
		}
		if op == OpResync {
			t.Before = x.touched
		}
	case OpCompact:
		t.Command = x.command(x.bin.doveadm, "-c", x.conf, "mailbox", "cache", "purge", "INBOX")
		t.Note = "doveadm mailbox cache purge, its start included; the cache as threading and sorting leave it"
		return t
	}
	t.Script, t.Answer = scriptOf(op)
	return t
}

// settled waits until cur/ is old enough not to be read again.
func (x *dovecotInstance) settled(ctx context.Context) error {
	if !x.maildir() {
		return nil
	}
	return settleMaildir(ctx, x.dir("mail")) // an empty one is yet to be made
}

// touched changes the time of cur/ and nothing else.
func (x *dovecotInstance) touched(ctx context.Context) error {
	if err := touchMaildir(x.dir("mail")); err != nil {
		return err
	}
	return x.settled(ctx)
}

// Close ends nothing: each process has ended with its operation.
func (x *dovecotInstance) Close() error { return nil }
