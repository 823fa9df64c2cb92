package imap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/peer/proc"
)

func TestMain(m *testing.M) {
	proc.Watchdog()
	os.Exit(m.Run())
}

// The real Dovecot: what it says is read, and what is appended is there.
func TestDovecot(t *testing.T) {
	program := ""
	for _, path := range []string{"/usr/lib/dovecot/imap", "/usr/libexec/dovecot/imap"} {
		if _, err := os.Stat(path); err == nil {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Dovecot here (Debian: dovecot-imapd, Fedora: dovecot)")
	}
	u, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	d, err := proc.MakeDir("", u)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	if _, err := d.Mkdir("mail"); err != nil {
		t.Fatal(err)
	}
	name := "nobody"
	uid, gid := os.Getuid(), os.Getgid()
	if u != nil {
		name, uid, gid = u.Name, int(u.UID), int(u.GID)
	}
	conf := filepath.Join(d.Path, "conf")
	text := strings.NewReplacer("DIR", d.Path, "UID", fmt.Sprint(uid), "GID", fmt.Sprint(gid)).Replace(`protocols = imap
ssl = no
base_dir = DIR/run
log_path = DIR/log
mail_home = DIR
mail_uid = UID
mail_gid = GID
first_valid_uid = 1
first_valid_gid = 1
stats_writer_socket_path =
mail_location = maildir:DIR/mail
namespace inbox {
  inbox = yes
}
`)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(d.Path, "log")
	if err := os.WriteFile(log, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(log, 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := proc.Start(t.Context(), proc.Command{Path: program, Args: []string{"-c", conf}, Dir: d.Path, User: u, Stderr: log,
		Env: []string{"USER=" + name, "HOME=" + d.Path, "PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	c := New(p)
	if r, err := c.Greeting(ctx); err != nil || r.Status != "PREAUTH" {
		b, _ := os.ReadFile(log)
		if strings.Contains(string(b), "dovecot_config_version") {
			t.Skip("this Dovecot wants the configuration of 2.4")
		}
		t.Fatalf("%v: %s", err, b)
	}
	do := func(command string) (Response, []string) {
		t.Helper()
		var lines []string
		r, err := c.Do(ctx, command, func(l []byte) { lines = append(lines, string(l)) })
		if err != nil {
			b, _ := os.ReadFile(log)
			t.Fatalf("%v\n%s", err, b)
		}
		return r, lines
	}
	caps, err := c.Capabilities(ctx)
	if err != nil || !slices.Contains(caps, "THREAD=REFERENCES") {
		t.Fatal(caps, err)
	}
	bodies := []string{"short\r\n", strings.Repeat("long (\"{5}\r\n", 2000)}
	for i, body := range bodies {
		msg := fmt.Sprintf("Message-ID: <%d@example.org>\r\nReferences: <%d@example.org>\r\nSubject: s%d\r\n\r\n%s", i, i-1, 9-i, body)
		if r, err := c.Append(ctx, "INBOX", []string{`\Seen`}, fmt.Sprintf("%02d-Feb-2003 04:05:06 +0000", i+1), []byte(msg)); err != nil || !strings.HasPrefix(r.Text, "[APPENDUID ") {
			t.Fatal(r, err)
		}
	}
	c.caps = []string{} // as with a server that has no such literals
	if _, err := c.Append(ctx, "INBOX", nil, "", []byte("Subject: s0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	do("SELECT INBOX")
	c.Digest = "THREAD"
	var before, after int64
	c.Sending, c.Replied = func() { before = int64(p.CPU()) }, func() { after = int64(p.CPU()) }
	r, lines := do("UID THREAD REFERENCES UTF-8 ALL")
	c.Sending, c.Replied = nil, nil
	if !slices.Equal(lines, []string{"THREAD (1 2)(3)"}) || r.Digest == 0 {
		t.Errorf("%q %+v", lines, r)
	}
	if before <= 0 || after <= before {
		t.Errorf("CPU before %d, after %d", before, after)
	}
	if _, err := ParseThread([]byte(lines[0])); err != nil {
		t.Error(err)
	}
	if _, lines := do("UID SORT (SUBJECT) UTF-8 ALL"); !slices.Equal(lines, []string{"SORT 3 2 1"}) {
		t.Errorf("%q", lines)
	}
	if _, lines := do("UID FETCH 1:2 BODY[TEXT]"); len(lines) != 2 || !strings.HasSuffix(lines[0], "}\r\n"+bodies[0]+")") || !strings.HasSuffix(lines[1], "}\r\n"+bodies[1]+")") {
		t.Errorf("%.200q", lines)
	}
	if r, err := c.Do(ctx, "SELECT nothere", nil); err == nil || r.Status != "NO" {
		t.Error(r, err)
	}
	alive := p.Usage()
	if err := c.Logout(ctx); err != nil {
		t.Error(err)
	}
	u2, err := p.Wait(ctx)
	if err != nil || u2.Exit != 0 || u2.PeakAnon < alive.PeakAnon || alive.PeakFile <= 0 || u2.User+u2.Sys <= 0 {
		t.Errorf("%+v %v", u2, err)
	}
	t.Logf("Dovecot: %+v", u2)
}
