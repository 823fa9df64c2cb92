package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// CourierOptions say which Courier is driven. The zero value finds it.
type CourierOptions struct {
	Binary string // of imapd; "" = where Debian, the project's own packages or MAILBENCH_PEERS have it
	Name   string // of the column; "" = courier
}

// NewCourier returns Courier's IMAP server as a system: its imapd on a pipe,
// already authenticated. It caches nothing, so that threading again costs what
// threading first does, and has nothing to compact. Run.Corpus "" gives an empty
// mailbox.
func NewCourier(o CourierOptions) System {
	if o.Name == "" {
		o.Name = "courier"
	}
	return &courier{o: o}
}

type courier struct{ o CourierOptions }

func (c *courier) Name() string { return c.o.Name }

// ordersNoTies: see tieless.
func (c *courier) ordersNoTies() bool { return true }

func (c *courier) Available() error {
	_, err := c.find()
	return err
}

// courierPlaces are where imapd is: Debian's, then that of the project's own
// packages, which Fedora's users have.
var courierPlaces = []string{"usr/bin/imapd", "usr/lib/courier-imap/bin/imapd", "usr/lib/courier/bin/imapd", "usr/local/bin/imapd"}

const courierInstall = "apt-get install courier-imap (Debian), or where it conflicts with another server: " +
	"apt-get download courier-imap courier-authlib libcourier-unicode4 libidn12 libgamin0 gamin, " +
	"each unpacked by dpkg -x below a directory named in MAILBENCH_PEERS"

// courierPrograms are what is started, and how it finds its libraries.
type courierPrograms struct {
	imapd     string
	gamServer string   // of gamin; "": there is none
	libraries []string // where to look before the usual places
}

// find finds the programs, or says as a *Missing what is not there.
func (c *courier) find() (p courierPrograms, err error) {
	var root string
	if p.imapd, root = findProgram(append(peerRoots(), "/"), c.o.Binary, courierPlaces...); p.imapd == "" {
		return p, &Missing{named(c.o.Binary, "courier's imapd"), courierInstall}
	}
	if root == "" {
		root = rootOf(p.imapd, courierPlaces)
	}
	p.libraries = libraryDirs(root)
	if lacking := lackingLibraries(p.imapd, p.libraries); len(lacking) > 0 {
		return p, &Missing{strings.Join(lacking, ", ") + " of courier's imapd", courierInstall}
	}
	roots := []string{"/"}
	if root != "" {
		roots = []string{root, "/"}
	}
	p.gamServer, _ = findProgram(roots, "", "usr/libexec/gam_server", "usr/lib/gamin/gam_server")
	return p, nil
}

// A courierInstance is Courier over one clone.
type courierInstance struct {
	run  *Run
	bin  courierPrograms
	desc Description
	env  []string
	gam  *proc.Process // gamin's server; nil: none
}

func (c *courier) Prepare(ctx context.Context, run *Run) (_ Instance, err error) {
	bin, err := c.find()
	if err != nil {
		return nil, err
	}
	if run.User == nil && os.Geteuid() == 0 {
		return nil, errors.New("courier: it is not to serve root: name an ordinary user")
	}
	x := &courierInstance{run: run, bin: bin}
	for _, dir := range []string{run.Dir, x.dir("home")} {
		if err := indexerDir(dir, run.User); err != nil {
			return nil, err
		}
	}
	base := []string{"PATH=/usr/bin:/bin", "HOME=" + x.dir("home"), "LC_ALL=C", "TZ=UTC"}
	if len(bin.libraries) > 0 {
		base = append(base, "LD_LIBRARY_PATH="+strings.Join(bin.libraries, ":"))
	}
	x.env = base
	version, err := programOutput(ctx, x.command("--version"), x.LogTail)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(version, "Courier") {
		return nil, fmt.Errorf("courier: %s is not Courier's: it says %.80q", bin.imapd, version)
	}
	settings := x.settings()
	x.env = append(base, settings...)
	x.desc = Description{
		Version: courierVersion(version),
		Config:  strings.Join(settings, "\n"),
		Notes: []string{
			"courier caches nothing: threading and sorting read every message, whole, each time",
			"courier threads otherwise than RFC 5256 says in rare cases (141 of 367,982 messages of a real mailbox got another parent)",
			"courier sorts messages of the same date or subject in no order (RFC 5256: by their numbers)",
		},
	}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if err := x.watchFiles(ctx, base); err != nil {
		return nil, err
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	return x, x.Fresh(ctx)
}

// courierVersion is "5.0.13 (Courier 1.0.16)" of the line
// "Courier 1.0.16 (Courier-IMAP 5.0.13)/x86_64-pc-linux-gnu/...".
func courierVersion(line string) string {
	line, _, _ = strings.Cut(line, "\n")
	suite, rest, ok := strings.Cut(line, " (Courier-IMAP ")
	version, _, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		return line
	}
	return version + " (" + suite + ")"
}

// settings are those of its file imapd as Debian has them, without what would
// let it do more than to serve one mailbox.
func (x *courierInstance) settings() []string {
	return []string{
		"AUTHENTICATED=user", "AUTHADDR=user@localhost", "MAILDIR=Maildir",
		"IMAP_CAPABILITY=IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT",
		"IMAP_KEYWORDS=1", "IMAP_USELOCKS=1", "IMAP_DISABLETHREADSORT=0", "IMAP_CHECK_ALL_FOLDERS=0", "IMAP_OBSOLETE_CLIENT=0",
		"IMAP_MAILBOX_SANITY_CHECK=1", "IMAP_ENHANCEDIDLE=0", "IMAP_IDLE_TIMEOUT=60", "IMAP_UMASK=022", "IMAP_STARTTLS=NO",
	}
}

// watchFiles starts the server that imapd's library for watching files wants.
// Where it finds none imapd starts one, which becomes a daemon; where there is
// none to start it tries for 1.2 s at its beginning, and at every lock. So one is
// started beforehand, and without one locks are not used.
func (x *courierInstance) watchFiles(ctx context.Context, base []string) error {
	client := "mailbench-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	x.env = append(x.env, "GAM_CLIENT_ID="+client)
	if x.bin.gamServer != "" {
		p, err := proc.Start(context.WithoutCancel(ctx), proc.Command{
			Path: x.bin.gamServer, Args: []string{"--notimeout", client}, Env: base, Dir: x.dir("home"), User: x.run.User, Stderr: x.log(),
		})
		if err != nil {
			return fmt.Errorf("courier: %w", err)
		}
		x.gam = p
		if awaitSocket(ctx, client) {
			return nil
		}
	}
	for i, s := range x.env {
		if s == "IMAP_USELOCKS=1" {
			x.env[i] = "IMAP_USELOCKS=0"
		}
	}
	x.desc.Config = strings.Replace(x.desc.Config, "IMAP_USELOCKS=1", "IMAP_USELOCKS=0", 1)
	x.desc.Notes = append(x.desc.Notes, "gamin's gam_server does not run: each imapd that was built with gamin waits 1.2 s for it at its start (not in the times of commands)")
	return nil
}

// awaitSocket waits until a Unix socket with name in its path is there.
func awaitSocket(ctx context.Context, name string) bool {
	for range 100 {
		if b, err := os.ReadFile("/proc/net/unix"); err == nil && strings.Contains(string(b), name) {
			return true
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
	return false
}

func (x *courierInstance) dir(name string) string { return filepath.Join(x.run.Dir, name) }

func (x *courierInstance) maildir() string { return x.dir("home/Maildir") }

// load brings the mail of the corpus in.
func (x *courierInstance) load(ctx context.Context) error {
	if x.run.Corpus != "" {
		fmt.Fprintf(x.run.Log, "courier: cloning %s\n", x.run.Corpus)
		return clone.Maildir(ctx, x.run.Corpus, x.maildir(), x.run.Clone, x.run.User)
	}
	for _, dir := range []string{"", "cur", "new", "tmp"} {
		if err := indexerDir(filepath.Join(x.maildir(), dir), x.run.User); err != nil {
			return err
		}
	}
	return nil
}

func (x *courierInstance) log() string { return x.dir("courier.log") }

func (x *courierInstance) LogTail() string { return lastLine(x.log()) }

func (x *courierInstance) Describe() Description { return x.desc }

// command is imapd, as the user of the run.
func (x *courierInstance) command(args ...string) proc.Command {
	return proc.Command{Path: x.bin.imapd, Args: args, Env: x.env, Dir: x.dir("home"), User: x.run.User, Stderr: x.log()}
}

// Task says how Courier does op: an imapd of its own for each.
func (x *courierInstance) Task(op Op) *Task {
	t := &Task{Command: x.command("Maildir")}
	if op == OpResync {
		t.Before = x.touched
	}
	if t.Script, t.Answer = scriptOf(op); t.Script == nil {
		return nil
	}
	return t
}

// touched changes the time of cur/ and nothing else.
func (x *courierInstance) touched(context.Context) error {
	now := time.Now()
	return os.Chtimes(filepath.Join(x.maildir(), "cur"), now, now)
}

// Close ends gamin's server: each imapd has ended with its operation.
func (x *courierInstance) Close() error {
	if x.gam == nil {
		return nil
	}
	x.gam.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := x.gam.Wait(ctx)
	x.gam = nil
	return err
}
