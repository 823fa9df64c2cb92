package peer

import (
	"fmt"
	"os"
	"path/filepath"
)

// dovecotPrograms are the programs that are started.
type dovecotPrograms struct{ imap, doveadm, doveconf, dovecot string }

// dovecotPlaces are where distributions put what is not for the user's PATH.
var dovecotPlaces = []string{"usr/lib/dovecot", "usr/libexec/dovecot", "usr/local/libexec/dovecot", "usr/local/lib/dovecot"}

// find finds the programs, or says as a *Missing which is not there.
func (d *dovecot) find() (p dovecotPrograms, err error) {
	roots := append(peerRoots(), "/")
	imap := make([]string, len(dovecotPlaces))
	for i, dir := range dovecotPlaces {
		imap[i] = filepath.Join(dir, "imap")
	}
	const install = "apt-get install dovecot-imapd (Debian), dnf install dovecot (Fedora)"
	var root string
	if p.imap, root = findProgram(roots, d.o.Binary, imap...); p.imap == "" {
		return p, &Missing{named(d.o.Binary, "dovecot's imap"), install}
	}
	// The others of the same installation first: versions do not mix.
	if root != "" {
		roots = append([]string{root}, roots...)
	} else if dir := filepath.Dir(p.imap); filepath.Base(dir) == "dovecot" {
		roots = append([]string{filepath.Join(dir, "..", "..", "..")}, roots...)
	}
	for _, f := range []struct {
		to          *string
		given, name string
	}{{&p.doveadm, d.o.Doveadm, "doveadm"}, {&p.doveconf, "", "doveconf"}, {&p.dovecot, "", "dovecot"}} {
		*f.to, _ = findProgram(roots, f.given, "usr/bin/"+f.name, "usr/sbin/"+f.name, "usr/local/bin/"+f.name, "usr/local/sbin/"+f.name)
		if *f.to == "" {
			return p, &Missing{named(f.given, f.name), install}
		}
	}
	return p, nil
}

func named(given, what string) string {
	if given == "" {
		return what
	}
	return fmt.Sprintf("%s at %s", what, given)
}

// peerRoots are the directories of MAILBENCH_PEERS, each made by dpkg -x.
func peerRoots() (roots []string) {
	for _, root := range filepath.SplitList(os.Getenv("MAILBENCH_PEERS")) {
		if abs, err := filepath.Abs(root); root != "" && err == nil {
			roots = append(roots, abs)
		}
	}
	return roots
}

// findProgram returns the first program that is there and may be executed, and
// the root below which it is: given alone where the user names one, else the
// names below each root. "" when there is none.
func findProgram(roots []string, given string, names ...string) (path, root string) {
	if given != "" {
		if abs, err := filepath.Abs(given); err == nil && executable(abs) {
			return abs, ""
		}
		return "", ""
	}
	for _, root := range roots {
		for _, name := range names {
			if path := filepath.Join(root, name); executable(path) {
				return path, root
			}
		}
	}
	return "", ""
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
