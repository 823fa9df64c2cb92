package peer

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/peer/proc"
)

func TestDovecotVersion(t *testing.T) {
	for _, c := range []struct {
		in           string
		major, minor int
		number       string
	}{
		{"2.3.19.1 (9b53102964)", 2, 3, "2.3.19"},
		{"2.4.1-4 (7d8c0e5759)", 2, 4, "2.4.1"},
		{"2.4", 2, 4, "2.4.0"},
		{"3.0.2 (abc)", 3, 0, "3.0.2"},
	} {
		major, minor, number, err := dovecotVersion(c.in)
		if err != nil || major != c.major || minor != c.minor || number != c.number {
			t.Errorf("%q: %d.%d %q %v", c.in, major, minor, number, err)
		}
	}
	for _, bad := range []string{"", "dovecot", "2", "x.y (z)"} {
		if _, _, _, err := dovecotVersion(bad); err == nil {
			t.Errorf("%q is taken for a version", bad)
		}
	}
}

// TestDovecotConfiguration holds which dialect is written for which version,
// and that each setting stands in it once.
func TestDovecotConfiguration(t *testing.T) {
	for _, c := range []struct {
		version, format string
		want, not       []string
	}{
		{"2.3.19.1 (x)", "maildir", []string{"mail_location = maildir:/r/mail:INDEX=/r/index:CONTROL=/r/control\n", "protocols = imap\n"}, []string{"mail_driver", "dovecot_config_version"}},
		{"2.3.19.1 (x)", "mdbox", []string{"mail_location = mdbox:/r/mail:INDEX=/r/index\n"}, []string{"CONTROL"}},
		{"2.4.1-4 (x)", "maildir", []string{"dovecot_config_version = 2.4.1\ndovecot_storage_version = 2.4.1\n", "mail_driver = maildir\n", "mail_path = /r/mail\n", "mail_index_path = /r/index\n", "mail_control_path = /r/control\n"}, []string{"mail_location", "protocols ="}},
		{"2.4.1", "sdbox", []string{"mail_driver = sdbox\n"}, []string{"mail_control_path"}},
	} {
		d := NewDovecot(DovecotOptions{Format: c.format, CacheFields: "hdr.date", Fsync: "never"}).(*dovecot)
		x := &dovecotInstance{o: d.o, run: &Run{Dir: "/r", User: &proc.User{UID: 7, GID: 8}}}
		x.desc.Version = c.version
		text, err := x.configuration()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.version, "2.4") != strings.HasPrefix(text, "dovecot_config_version = ") {
			t.Errorf("%s: 2.4 wants its version first, 2.3 not at all:\n%s", c.version, text)
		}
		for _, w := range append(c.want, "mail_uid = 7\n", "mail_gid = 8\n", "mail_cache_fields = hdr.date\n", "mail_fsync = never\n") {
			if !strings.Contains(text, w) {
				t.Errorf("%s %s lacks %q:\n%s", c.version, c.format, w, text)
			}
		}
		for _, w := range c.not {
			if strings.Contains(text, w) {
				t.Errorf("%s %s has %q:\n%s", c.version, c.format, w, text)
			}
		}
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			name, _, ok := strings.Cut(line, " = ")
			if ok && seen[name] {
				t.Errorf("%s: %s twice", c.version, name)
			}
			seen[name] = true
		}
	}
}

func TestDovecotRefuses(t *testing.T) {
	user := &proc.User{UID: 7}
	for _, c := range []struct {
		name string
		o    DovecotOptions
		run  Run
	}{
		{"format", DovecotOptions{Format: "mbox"}, Run{Dir: "/r", User: user}},
		{"fsync", DovecotOptions{Fsync: "sometimes"}, Run{Dir: "/r", User: user}},
		{"fields", DovecotOptions{CacheFields: "flags\nmail_uid = 0"}, Run{Dir: "/r", User: user}},
		{"directory", DovecotOptions{}, Run{Dir: "/r:INDEX=MEMORY", User: user}},
		{"variable", DovecotOptions{}, Run{Dir: "/r/%u", User: user}},
		{"index", DovecotOptions{WithIndex: t.TempDir()}, Run{Dir: "/r", User: user}},
	} {
		if err := NewDovecot(c.o).(*dovecot).check(&c.run); err == nil {
			t.Errorf("%s: taken", c.name)
		}
	}
	if err := NewDovecot(DovecotOptions{}).(*dovecot).check(&Run{Dir: "/r", User: user}); err != nil {
		t.Error(err)
	}
}

// TestDovecotFind holds that the programs of one root are taken together, and
// that a missing one is named.
func TestDovecotFind(t *testing.T) {
	root := t.TempDir()
	t.Setenv("MAILBENCH_PEERS", "/nowhere:"+root)
	names := []string{"usr/libexec/dovecot/imap", "usr/bin/doveadm", "usr/bin/doveconf", "usr/sbin/dovecot"}
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewDovecot(DovecotOptions{}).(*dovecot).find()
	want := dovecotPrograms{filepath.Join(root, names[0]), filepath.Join(root, names[1]), filepath.Join(root, names[2]), filepath.Join(root, names[3])}
	if err != nil || p != want {
		t.Errorf("%+v %v", p, err)
	}
	err = NewDovecot(DovecotOptions{Binary: filepath.Join(root, "no")}).Available()
	if m, ok := err.(*Missing); !ok || !strings.Contains(m.What, "no") || m.Install == "" {
		t.Errorf("a binary that is not there: %v", err)
	}
}

// cacheFile makes a dovecot.index.cache with lists of fields.
func cacheFile(records, deleted uint32, lists ...[]string) []byte {
	le := binary.LittleEndian
	offset := func(off int) []byte {
		off >>= 2
		return []byte{0x80 | byte(off>>21&0x7f), 0x80 | byte(off>>14&0x7f), 0x80 | byte(off>>7&0x7f), 0x80 | byte(off&0x7f)}
	}
	b := make([]byte, 32)
	b[0] = 1
	le.PutUint32(b[16:], records)
	le.PutUint32(b[24:], deleted)
	link := 28 // where the place of the next list belongs
	for _, fields := range lists {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		copy(b[link:], offset(len(b)))
		link = len(b)
		head := make([]byte, 12+8*len(fields))
		var types, decisions, names []byte
		for _, f := range fields {
			d := byte(1)
			if strings.HasPrefix(f, "!") {
				d, f = 0, f[1:]
			}
			types, decisions, names = append(types, 0), append(decisions, d), append(append(names, f...), 0)
		}
		list := slices.Concat(head, types, decisions, names)
		le.PutUint32(list[4:], uint32(len(list)))
		le.PutUint32(list[8:], uint32(len(fields)))
		b = append(b, list...)
	}
	return b
}

func TestReadDovecotCache(t *testing.T) {
	for _, c := range []struct {
		lists [][]string
		want  []string
	}{
		{nil, nil},
		{[][]string{{"hdr.subject", "date.sent", "!size.virtual"}}, []string{"date.sent", "hdr.subject"}},
		{[][]string{{"a"}, {"a", "!b", "c"}}, []string{"a", "c"}}, // the last one counts
	} {
		got, err := readDovecotCache(bytes.NewReader(cacheFile(12, 3, c.lists...)))
		if err != nil || got.records != 12 || got.deleted != 3 || !slices.Equal(got.fields, c.want) {
			t.Errorf("%v: %+v %v", c.lists, got, err)
		}
	}
	loop := cacheFile(1, 0, []string{"a"})
	copy(loop[32:], loop[28:32]) // the next list is this one
	if _, err := readDovecotCache(bytes.NewReader(loop)); err == nil {
		t.Error("a loop of lists has an end")
	}
}

func FuzzReadDovecotCache(f *testing.F) {
	f.Add(cacheFile(1, 0, []string{"a", "!b"}, []string{"c"}))
	f.Add(cacheFile(0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readDovecotCache(bytes.NewReader(b))
		if err == nil && !slices.IsSorted(c.fields) {
			t.Errorf("not sorted: %q", c.fields)
		}
	})
}

func TestDovecotClass(t *testing.T) {
	for name, want := range map[string]string{
		"dovecot.index": "index", "dovecot.index.log": "log", "dovecot.index.log.2": "log", "dovecot.index.cache": "cache",
		"dovecot.index.thread": "thread", "dovecot-uidlist": "uidlist", "dovecot.list.index.log": "list", "dovecot.map.index": "index",
		"dovecot-uidvalidity.6b0e33ef": "list", "m.1": "", "u.17": "", "1001.M1P1.host:2,S": "",
	} {
		if got := dovecotClass(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestUIDNames(t *testing.T) {
	x := &dovecotInstance{o: DovecotOptions{Format: "maildir"}, run: &Run{Dir: t.TempDir()}}
	name := filepath.Join(x.run.Dir, "control", ".INBOX", "dovecot-uidlist")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("3 V17 N4 Gd0f4\n1 :1001.M1.x\n2 W90 S87 :1002.M1.x:2,FS\n3 Pa:b :1003 :x\n")
	got, err := x.UIDNames()
	if err != nil || len(got) != 3 || got[1] != "1001.M1.x" || got[2] != "1002.M1.x" || got[3] != "1003 :x" {
		t.Errorf("%v %v", got, err)
	}
	write("3 V17 N4\nx :1001\n")
	if _, err := x.UIDNames(); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a damaged list: %v", err)
	}
}

func FuzzReadUIDNames(f *testing.F) {
	f.Add([]byte("3 V17 N4\n1 W90 S87 :1001.M1.x:2,FS\n2 :a\n"))
	f.Add([]byte("\n0 :\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		names, err := readUIDNames(bytes.NewReader(b))
		if err == nil && (names[0] != "" || len(names) > bytes.Count(b, []byte("\n"))) {
			t.Errorf("%d names, one of UID 0: %q", len(names), names[0])
		}
	})
}
