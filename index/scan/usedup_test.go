package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
)

// When the UIDs are used up, those of an adopted list or its own, a Sync begins
// with UID 1 under a new UIDVALIDITY.
func TestUsedUp(t *testing.T) {
	for _, c := range []struct {
		name, adopt, own string
		validity         uint32 // 0: the clock's
		first            uint32
	}{
		{"adopted", "3 V5 N4294967295 G1\n", "", 0, 1},
		{"own", "", "1 2000000000 4294967295\n4294967294 1.M1P1.h\n", 2000000001, 1},
		{"both", "3 V5 N4294967295 G1\n", "1 2000000000 4294967295\n", 2000000001, 1},
		{"own, then adopted", "3 V2100000000 N9 G1\n7 :1.M1P1.h\n", "1 2000000000 4294967295\n", 2100000000, 7},
		{"neither", "3 V5 N4294967292 G1\n", "", 5, 4294967292},
		{"adopted, too large", "3 V99999999999999999999 N1\n", "", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, idx := t.TempDir(), t.TempDir()
			for _, sub := range []string{"cur", "new", "tmp"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			files := map[string]string{filepath.Join(dir, "cur/1.M1P1.h:2,S"): "\n", filepath.Join(dir, "cur/2.M1P1.h:2,"): "\n"}
			if c.adopt != "" {
				files[filepath.Join(dir, "dovecot-uidlist")] = c.adopt
			}
			if c.own != "" {
				files[filepath.Join(idx, File)] = c.own
				if _, err := index.NextUIDValidity(fsys.OS, idx, 2000000000, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range files {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			src, err := source.Open(dir, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var was index.Status
			for again := range 2 {
				m, err := Design.Open(index.Config{Dir: idx, Source: src})
				if err != nil {
					t.Fatal(err)
				}
				ch, err := m.Sync()
				if err != nil {
					t.Fatal(err)
				}
				if again == 0 && (!ch.Rebuilt || ch.Added != 2 || ch.Removed != 0) || again == 1 && (ch.Rebuilt || ch.Added > 0) {
					t.Errorf("changes %+v", ch)
				}
				st := m.Status()
				if st.UIDValidity == 5 && c.validity != 5 || c.validity != 0 && st.UIDValidity != c.validity || st.UIDValidity == 1<<32-1 || again == 1 && st != was {
					t.Errorf("status %+v, was %+v", st, was)
				}
				was = st
				var uids []uint32
				m.Messages(func(m index.Message) bool { uids = append(uids, m.UID); return true })
				want := []uint32{c.first, c.first + 1}
				if c.first == 7 {
					want[1] = 9
				}
				if fmt.Sprint(uids) != fmt.Sprint(want) {
					t.Errorf("UIDs %v, want %v", uids, want)
				}
				for err := range m.Check() {
					t.Error(err)
				}
				m.Close()
			}
		})
	}
}
