package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// CyrusOptions say which Cyrus is driven. The zero value finds it.
type CyrusOptions struct {
	Bin  string // the directory of imapd and reconstruct; "" = where Debian, Fedora or MAILBENCH_PEERS have them
	Name string // of the column; "" = cyrus
}

// NewCyrus returns Cyrus IMAP as a system. Its imapd can be had on a pipe
// (-X: the service on standard input and output) for a user without a password
// (-N), so that there is no master, no listener and no secret. The mail is not
// cloned: Cyrus stores a message with CRLF in a file named by its UID. Run.Corpus
// "" gives an empty mailbox.
func NewCyrus(o CyrusOptions) System {
	if o.Name == "" {
		o.Name = "cyrus"
	}
	return &cyrus{o: o}
}

type cyrus struct{ o CyrusOptions }

func (c *cyrus) Name() string { return c.o.Name }

func (c *cyrus) Available() error {
	_, err := c.find()
	return err
}

// cyrusPlaces are where the programs are: Debian's, Fedora's, the project's own.
var cyrusPlaces = []string{"usr/lib/cyrus/bin", "usr/libexec/cyrus-imapd", "usr/lib/cyrus-imapd", "usr/local/libexec", "usr/cyrus/bin"}

const cyrusInstall = "apt-get install cyrus-imapd (Debian), dnf install cyrus-imapd (Fedora), or where it conflicts with another server: " +
	"apt-get download cyrus-imapd cyrus-common libical3 libpcre3, each unpacked by dpkg -x below a directory named in MAILBENCH_PEERS"

// cyrusPrograms are what is started, and how it finds its libraries.
type cyrusPrograms struct {
	imapd, reconstruct string
	libraries          []string
}

// find finds the programs, or says as a *Missing what is not there.
func (c *cyrus) find() (p cyrusPrograms, err error) {
	roots, places := append(peerRoots(), "/"), cyrusPlaces
	if c.o.Bin != "" {
		abs, err := filepath.Abs(c.o.Bin)
		if err != nil {
			return p, fmt.Errorf("cyrus: %w", err)
		}
		roots, places = []string{abs}, []string{""}
	}
	// Not any imapd, but the one beside a reconstruct.
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = filepath.Join(place, "reconstruct")
	}
	if p.reconstruct, _ = findProgram(roots, "", names...); p.reconstruct == "" {
		return p, &Missing{named(c.o.Bin, "cyrus' reconstruct"), cyrusInstall}
	}
	dir := filepath.Dir(p.reconstruct)
	if p.imapd, _ = findProgram([]string{dir}, "", "imapd"); p.imapd == "" {
		return p, &Missing{named(dir, "cyrus' imapd"), cyrusInstall}
	}
	p.libraries = libraryDirs(rootOf(dir, cyrusPlaces))
	if lacking := lackingLibraries(p.imapd, p.libraries); len(lacking) > 0 {
		return p, &Missing{strings.Join(lacking, ", ") + " of cyrus' imapd", cyrusInstall}
	}
	return p, nil
}

// A cyrusInstance is Cyrus over one spool.
type cyrusInstance struct {
	run   *Run
	bin   cyrusPrograms
	desc  Description
	env   []string
	spool string // the directory of INBOX: the mail, and what Cyrus keeps of it
}

func (c *cyrus) Prepare(ctx context.Context, run *Run) (Instance, error) {
	bin, err := c.find()
	if err != nil {
		return nil, err
	}
	if run.User == nil && os.Geteuid() == 0 {
		return nil, errors.New("cyrus: it does not serve root: name an ordinary user")
	}
	if strings.ContainsAny(run.Dir, "\n\"") {
		return nil, fmt.Errorf("cyrus: its directory cannot have such a name: %q", run.Dir)
	}
	x := &cyrusInstance{run: run, bin: bin}
	x.env = []string{"PATH=/usr/bin:/bin", "HOME=" + x.dir("tmp"), "LC_ALL=C", "TZ=UTC", "CYRUS_SERVICE=imap", "CYRUS_ID=1"}
	if len(bin.libraries) > 0 {
		x.env = append(x.env, "LD_LIBRARY_PATH="+strings.Join(bin.libraries, ":"))
	}
	for _, dir := range []string{"", "tmp", "spool", "config", "config/db", "config/lock", "config/log", "config/msg", "config/proc", "config/quota", "config/socket", "config/user"} {
		if err := indexerDir(x.dir(dir), run.User); err != nil {
			return nil, err
		}
	}
	config, err := x.configuration()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(x.conf(), []byte(config), 0o644); err != nil {
		return nil, err
	}
	x.desc = Description{
		Config: strings.ReplaceAll(config, run.Dir, "$RUN"),
		Cached: "the whole envelope, message ids, references and subject for threading, addresses, structure (always all of it)",
		Notes: []string{
			"cyrus has its own copy of the mail, a message a file with CRLF; its first select is reconstruct, which reads all of it and fills index and cache",
			"cyrus does not look for mail that others put into its files: there is no resync",
			"cyrus takes the last of several Subject fields, and compares letters with diacritical marks as they are composed (RFC 5051: decomposed); it reads addresses without @ and quoted message ids in its own way",
			"each session of cyrus begins with a LOGIN (outside the times of commands)",
		},
	}
	if x.desc.Version, err = x.create(ctx); err != nil {
		return nil, err
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	return x, x.Fresh(ctx)
}

// configuration is an imapd.conf with everything inside the run's directory.
func (x *cyrusInstance) configuration() (string, error) {
	who, group, err := x.owner()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, line := range [][2]string{
		{"configdirectory", x.dir("config")},
		{"defaultpartition", "default"},
		{"partition-default", x.dir("spool")},
		{"temp_path", x.dir("tmp")},
		{"cyrus_user", who},
		{"cyrus_group", group},
		{"admins", cyrusAdmin},
		{"servername", "localhost"},
		{"allowplaintext", "yes"}, // of a password that nobody looks at, on a pipe
		{"sasl_mech_list", "PLAIN"},
		{"unixhierarchysep", "yes"},
		{"duplicatesuppression", "no"},
		{"search_engine", "none"},
		{"munge8bit", "no"}, // it would cache subjects with 8-bit letters as XXX, and sort by that
	} {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	return b.String(), nil
}

// owner are the names of the user and group that Cyrus runs as: it insists on
// knowing them, and on being them.
func (x *cyrusInstance) owner() (who, group string, err error) {
	uid, gid := os.Geteuid(), os.Getegid()
	if u := x.run.User; u != nil {
		uid, gid = int(u.UID), int(u.GID)
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return "", "", fmt.Errorf("cyrus: it runs only as a user with a name: %w", err)
	}
	g, err := user.LookupGroupId(strconv.Itoa(gid))
	if err != nil {
		return "", "", fmt.Errorf("cyrus: it runs only in a group with a name: %w", err)
	}
	return u.Username, g.Name, nil
}

const (
	cyrusUser  = "user"  // whose INBOX it is
	cyrusAdmin = "admin" // who may make it
)

// create makes the mailbox, finds its directory and returns the version.
func (x *cyrusInstance) create(ctx context.Context) (version string, err error) {
	if x.run.Timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, x.run.Timeout)
		defer cancel()
	}
	p, err := proc.Start(ctx, x.imapd())
	if err != nil {
		return "", fmt.Errorf("cyrus: %w", err)
	}
	defer func() {
		p.Kill()
		p.Wait(ctx)
	}()
	client := imap.New(p)
	hello, err := client.Greeting(ctx)
	if err != nil {
		return "", fmt.Errorf("cyrus: no greeting (imapd must know -X and -N, as 3.0 does): %w: %s", err, x.LogTail())
	}
	for _, command := range []string{"LOGIN " + cyrusAdmin + " x", "CREATE user/" + cyrusUser} {
		if _, err := client.Do(ctx, command, nil); err != nil {
			return "", fmt.Errorf("cyrus: %w", err)
		}
	}
	if err := client.Logout(ctx); err != nil {
		return "", fmt.Errorf("cyrus: %w", err)
	}
	if x.spool, err = x.findSpool(); err != nil {
		return "", err
	}
	return cyrusVersion(hello.Text), nil
}

// cyrusVersion is "3.6.1-Debian-3.6.1-4+deb12u5" of the greeting "[...] host
// Cyrus IMAP 3.6.1-Debian-3.6.1-4+deb12u5 server ready".
func cyrusVersion(greeting string) string {
	_, rest, ok := strings.Cut(greeting, "Cyrus IMAP ")
	if !ok {
		return greeting
	}
	version, _, _ := strings.Cut(rest, " ")
	return version
}

func (x *cyrusInstance) dir(name string) string { return filepath.Join(x.run.Dir, name) }
func (x *cyrusInstance) conf() string           { return x.dir("imapd.conf") }
func (x *cyrusInstance) log() string            { return x.dir("cyrus.log") }

func (x *cyrusInstance) Describe() Description { return x.desc }

// LogTail is the last that it said to standard error; the rest it tells syslog.
func (x *cyrusInstance) LogTail() string { return lastLine(x.log()) }

// command is a program of Cyrus', as the user of the run.
func (x *cyrusInstance) command(program string, args ...string) proc.Command {
	return proc.Command{
		Path: program, Args: append([]string{"-C", x.conf()}, args...),
		Env: x.env, Dir: x.dir("tmp"), User: x.run.User, Stderr: x.log(),
	}
}

func (x *cyrusInstance) imapd() proc.Command { return x.command(x.bin.imapd, "-X", "-N") }

// reconstruct makes index and cache. It prints a line for each message, which
// nobody wants; the shell that takes them away is it itself a millisecond later.
func (x *cyrusInstance) reconstruct() proc.Command {
	c := x.command(x.bin.reconstruct, "-q", "user/"+cyrusUser)
	c.Args = append([]string{"-c", `exec "$@" >/dev/null`, "sh", c.Path}, c.Args...)
	c.Path = "/bin/sh"
	return c
}

// Task says how Cyrus does op: an imapd of its own for each, or reconstruct.
func (x *cyrusInstance) Task(op Op) *Task {
	t := &Task{Command: x.imapd(), Before: x.indexed}
	switch op {
	case OpNoop:
		t.Before = nil // it wants no mailbox
	case OpSelectFirst:
		return &Task{Command: x.reconstruct(), Note: "reconstruct: it reads all mail and fills the cache too"}
	case OpThreadFirst:
		t.Note = "the cache is reconstruct's"
	case OpResync, OpCompact:
		return nil
	}
	t.Script, t.Answer = scriptOf(op, Step{Command: "LOGIN " + cyrusUser + " x"})
	return t
}

// indexed makes the index, without which there is no mailbox to select, where
// no first select has made it.
func (x *cyrusInstance) indexed(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(x.spool, "cyrus.index")); err == nil {
		return nil
	}
	p, err := proc.Start(ctx, x.reconstruct())
	if err != nil {
		return fmt.Errorf("cyrus: %w", err)
	}
	use, err := p.Wait(ctx)
	if err != nil {
		return fmt.Errorf("cyrus: reconstruct: %w", err)
	}
	if use.Exit != 0 {
		return fmt.Errorf("cyrus: reconstruct: exit status %d: %s", use.Exit, x.LogTail())
	}
	return nil
}

// Close ends nothing: each process has ended with its operation.
func (x *cyrusInstance) Close() error { return nil }
