package linked

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/indextest"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

var damageable = []string{indexFile, logFile, cacheName, threadName, listFile}

// A file of an index with other bytes in it: everything gives an answer or an
// error, in bounded memory, and after an error it can be built anew.
func FuzzDamaged(f *testing.F) {
	m := newMaildir(f, 12)
	dir := filepath.Join(f.TempDir(), "index")
	b := m.open(dir, start, map[string]string{"index-rewrite-min": "0"})
	b.threads(f)
	b.sorted(f, "subject from")
	b.done2(f)
	m.remove(3)
	m.deliver()
	b = m.open(dir, start, map[string]string{"index-rewrite-min": "0"})
	b.threads(f)
	b.sorted(f, "date")
	b.done2(f)
	good := map[string][]byte{}
	for i, name := range damageable {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		good[name] = text
		for _, at := range []int{0, 4, 8, 28, 36, 60, len(text) - 4} {
			f.Add(uint8(i), uint16(at), []byte{0xff, 0xff, 0xff, 0x7f}, uint16(0))
		}
		f.Add(uint8(i), uint16(0), []byte{}, uint16(len(text)/2))
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, patch []byte, cut uint16) {
		dir := t.TempDir()
		name := damageable[int(which)%len(damageable)]
		for n, text := range good {
			text = append([]byte(nil), text...)
			if n == name {
				if int(at) <= len(text) {
					copy(text[at:], patch)
				}
				text = text[:len(text)-min(len(text), int(cut))]
			}
			if err := os.WriteFile(filepath.Join(dir, n), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2 {
			everything(t, m, dir)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
			t.Errorf("%d bytes allocated", n)
		}
	})
}

func everything(t *testing.T, m *maildir, dir string) {
	src, err := source.Open(m.path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	box, err := Design.Open(index.Config{Dir: dir, Source: src})
	if err != nil {
		return
	}
	defer box.Close()
	box.Status()
	box.Sync()
	for range box.Check() {
	}
	n := 0
	var uids []uint32
	box.Messages(func(msg index.Message) bool { n++; uids = append(uids, msg.UID); return true })
	for _, alg := range []thread.Alg{thread.References, thread.Refs, thread.OrderedSubject} {
		if a, err := box.Thread(alg, index.Search{}); err == nil {
			a.AppendIMAP(nil)
		}
	}
	for _, by := range []string{"subject", "from date", "arrival", "size"} {
		crit, _ := mailsort.ParseCriteria(by)
		box.Sort(crit, index.Search{Kind: "undeleted"})
	}
	box.(index.Fetcher).Fetch(uids, []string{"Subject", "X-Odd"}, func(uint32, [][]byte) error { return nil })
	left := 1000
	box.(index.Changer).ChangesSince(0, func(index.Message) bool { return true }, func(uint32) bool { left--; return left > 0 })
	box.Compact()
	box.Stats()
	box.Sync()
}

// done2 is done for a fuzz target's set-up.
func (b *box) done2(f *testing.F) {
	b.Close()
	b.src.Close()
}

// The kit with each option at another value than the default.
func TestConformanceOptions(t *testing.T) {
	if os.Getenv("MAILBENCH_LONG") == "" {
		t.Skip("the kit with other options: MAILBENCH_LONG=1")
	}
	for _, o := range []map[string]string{
		{"fsync": "always", "purge-min-size": "0", "purge-deleted-pct": "1", "purge-continued-pct": "20", "purge-header-continue": "1"},
		{"never-cache-fields": "hdr.subject hdr.references date.sent date.received", "always-cache-fields": "hdr.from", "cache-fields": "hdr.to size.virtual", "record-max-size": "200"},
	} {
		t.Run("", func(t *testing.T) {
			t.Log(o)
			indextest.RunOptions(t, Design, indextest.Options{Index: index.Options{Extra: o}, Forgets: o["never-cache-fields"] != ""})
		})
	}
}
