package sqlstore

import (
	"strings"
	"testing"

	"mailbench/store"
)

func TestKeys(t *testing.T) {
	for _, uid := range []int64{1<<32 | 1, 7<<32 | 0xffffffff, 0x7fffffff<<32 | 12} {
		if got, ok := uidOf(keyOf(uid)); !ok || got != uid {
			t.Errorf("%d: key %s is %d, %v", uid, keyOf(uid), got, ok)
		}
	}
	for _, key := range []string{"", ".", "1", "1.", ".1", "01.1", "1.01", "+1.1", "1.-1", "1.1.1", "2147483648.1", "1.4294967296", "gone"} {
		if uid, ok := uidOf(key); ok {
			t.Errorf("%q is no key, got %d", key, uid)
		}
	}
}

func TestMySQLConfig(t *testing.T) {
	for _, c := range []struct{ dsn, net, addr, user, password, db string }{
		{"mysql://u:p%40w@h:3307/d", "tcp", "h:3307", "u", "p@w", "d"},
		{"mariadb://u@h/d", "tcp", "h:3306", "u", "", "d"},
		{"mysql://u@[::1]/d", "tcp", "[::1]:3306", "u", "", "d"},
		{"mysql://root@localhost/d?socket=/run/a.sock", "unix", "/run/a.sock", "root", "", "d"},
		{"mysql://root@localhost/d?tls=skip-verify", "tcp", "localhost:3306", "root", "", "d"},
	} {
		cfg, err := mysqlConfig(c.dsn)
		if err != nil {
			t.Errorf("%s: %v", c.dsn, err)
			continue
		}
		if cfg.Net != c.net || cfg.Addr != c.addr || cfg.User != c.user || cfg.Passwd != c.password || cfg.DBName != c.db {
			t.Errorf("%s: %s %s %s %q %s", c.dsn, cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName)
		}
	}
}

// TestDSN_errors: each is told, and none tells the password.
func TestDSN_errors(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"oracle://u:secret@h/d", "postgres://"},
		{"file.db", "postgres://"},
		{"mysql://u:secret@h", "no database"},
		{"mysql://u:secret@h/d?charset=x", `"charset"`},
		{"mysql://u:secret@h:x/d", "port"},
		{"mysql://u:secret@h/d?tls=nobody-knows", "nobody-knows"},
		{"postgres://u:secret@h:x/d", "port"},
	} {
		cfg := store.Config{Dir: t.TempDir(), Extra: map[string]string{"dsn": c.dsn}}
		_, err := store.Open(Format, cfg)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want one about %s", c.dsn, err, c.want)
		}
	}
}

func TestExtra_errors(t *testing.T) {
	for key, value := range map[string]string{"conns": "0", "headers": "some", "mailbox": strings.Repeat("x", maxMailbox+1)} {
		cfg := store.Config{Dir: t.TempDir(), Extra: map[string]string{key: value}}
		if _, err := store.Open(Format, cfg); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s=%.20s: %v", key, value, err)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	f.Add(identityHead + strings.Repeat("ab", 16) + "\n/mail\n")
	f.Add(identityHead + "ab\n/mail\n")
	f.Add("mailbench")
	f.Fuzz(func(t *testing.T, text string) {
		name, path, err := parseIdentity("mailbox", text)
		if err == nil && identityHead+name+"\n"+path+"\n" != text {
			t.Errorf("%q is read as %q, %q", text, name, path)
		}
		if err != nil && !strings.Contains(err.Error(), "mailbox: offset ") {
			t.Errorf("%q: the error names no place: %v", text, err)
		}
	})
}
