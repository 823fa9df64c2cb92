package peer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// configuration is dovecot.conf in the dialect of the version that is here.
//
// Version 2.3 has one mail_location for all that 2.4 has settings of their own
// for, and 2.4 wants its first two lines; the settings' names are those of
// doc.dovecot.org's pages on upgrading. Only 2.3.19 has been run.
func (x *dovecotInstance) configuration() (string, error) {
	major, minor, number, err := dovecotVersion(x.desc.Version)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = %s\n", name, value) }
	uid, gid := os.Getuid(), os.Getgid()
	if u := x.run.User; u != nil {
		uid, gid = int(u.UID), int(u.GID)
	}
	flat := major > 2 || major == 2 && minor >= 4 // the dialect of 2.4
	if flat {
		set("dovecot_config_version", number)
		set("dovecot_storage_version", number)
		b.WriteString("protocols {\n  imap = yes\n}\n")
	} else {
		set("protocols", "imap")
	}
	set("ssl", "no")
	set("base_dir", x.dir("base"))
	set("state_dir", x.dir("base"))
	set("log_path", x.log())
	set("stats_writer_socket_path", "") // nobody listens there
	set("mail_home", x.dir("home"))
	set("mail_uid", strconv.Itoa(uid))
	set("mail_gid", strconv.Itoa(gid))
	set("first_valid_uid", "1")
	set("first_valid_gid", "1")
	set("mail_fsync", x.o.Fsync)
	if x.o.CacheFields != "" {
		set("mail_cache_fields", x.o.CacheFields)
	}
	if flat {
		set("mail_driver", x.o.Format)
		set("mail_path", x.dir("mail"))
		set("mail_index_path", x.dir("index"))
		if x.maildir() {
			set("mail_control_path", x.dir("control"))
		}
	} else {
		location := x.o.Format + ":" + x.dir("mail") + ":INDEX=" + x.dir("index")
		if x.maildir() {
			location += ":CONTROL=" + x.dir("control")
		}
		set("mail_location", location)
	}
	b.WriteString("namespace inbox {\n  inbox = yes\n}\n")
	return b.String(), nil
}

// dovecotVersion reads "2.3.19.1 (9b53102964)". number is what 2.4 wants to be
// told: its first three parts.
func dovecotVersion(s string) (major, minor int, number string, err error) {
	word, _, _ := strings.Cut(s, " ")
	word, _, _ = strings.Cut(word, "-") // 2.4.1-4
	parts := strings.Split(word, ".")
	if len(parts) >= 2 {
		var e1, e2 error
		major, e1 = strconv.Atoi(parts[0])
		minor, e2 = strconv.Atoi(parts[1])
		if e1 == nil && e2 == nil {
			for len(parts) < 3 {
				parts = append(parts, "0")
			}
			return major, minor, strings.Join(parts[:3], "."), nil
		}
	}
	return 0, 0, "", fmt.Errorf("dovecot: no version: %q", s)
}
