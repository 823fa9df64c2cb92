package conform

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
)

// A watched maildir is one with an index beside it.
type watched struct {
	path string
	src  index.Source
	base *index.Base
}

// watch opens a maildir with a new index; it is closed with the test.
func watch(t *testing.T, path, dir string) *watched {
	t.Helper()
	src, err := source.Open(path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	base, err := index.OpenBase(nil, dir, index.BaseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for err := range base.Check() {
			t.Error(err)
		}
		base.Close()
	})
	return &watched{path, src, base}
}

// uids syncs and returns base name to UID.
func (w *watched) uids(t *testing.T) map[string]uint32 {
	t.Helper()
	if _, err := w.base.Sync(w.src); err != nil {
		t.Fatal(err)
	}
	table, err := w.base.Table()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint32{}
	for row, uid := range table.UIDs() {
		m[string(table.Key(row))] = uid
	}
	return m
}

// runUIDAssign: UIDs from 1 in name order; bases in ties may change places.
func runUIDAssign(t *testing.T, c *check) {
	var k struct {
		Ties json.RawMessage
	}
	c.decode(t, &k)
	path, _ := maildirOf(t, c)
	uids := watch(t, path, t.TempDir()).uids(t)
	bases := slices.SortedFunc(maps.Keys(uids), func(a, b string) int { return int(uids[a]) - int(uids[b]) })
	tied := tiesOf(t, k.Ties)
	c.accept(t, bases, func(_, want any) bool {
		pairs, ok := want.([]any)
		if !ok || len(pairs) != len(bases) {
			return false
		}
		for i, p := range pairs {
			pair := p.([]any)
			base := pair[1].(string)
			if float64(uids[bases[i]]) != pair[0] || base != bases[i] && (tied[base] == 0 || tied[base] != tied[bases[i]]) {
				return false
			}
		}
		return true
	})
}

// tiesOf numbers the groups of ties: a list of bases, or a list of lists.
func tiesOf(t *testing.T, raw json.RawMessage) map[string]int {
	t.Helper()
	group := map[string]int{}
	var one []string
	var many [][]string
	switch {
	case raw == nil:
	case json.Unmarshal(raw, &one) == nil:
		many = [][]string{one}
	case json.Unmarshal(raw, &many) != nil:
		t.Fatalf("ties are not lists of names: %s", raw)
	}
	for i, bases := range many {
		for _, base := range bases {
			group[base] = i + 1
		}
	}
	return group
}

func runUIDListSync(t *testing.T, c *check) {
	path, _ := maildirOf(t, c)
	dir := t.TempDir()
	w := watch(t, path, dir)
	uids := w.uids(t)
	h := w.base.Header()
	got := map[string]any{"uidvalidity": float64(h.UIDValidity), "uidnext": float64(h.UIDNext), "uids": plain(t, uids)}
	c.accept(t, got, func(_, want any) bool {
		w, ok := want.(map[string]any)
		if !ok {
			return false
		}
		if w["uidvalidity"] == "new" {
			w = maps.Clone(w)
			delete(w, "uidvalidity")
			if h.UIDValidity <= listValidity(filepath.Join(path, "dovecot-uidlist")) {
				return false
			}
		}
		return subset(got, w)
	})
	// We keep the answer in our own index, not in the uidlist: read again it
	// must be the same.
	again := watch(t, path, dir)
	if second := again.uids(t); !maps.Equal(uids, second) {
		t.Errorf("first %v, read again %v", uids, second)
	}
	if h2 := again.base.Header(); h2.UIDValidity != h.UIDValidity || h2.UIDNext != h.UIDNext {
		t.Errorf("first uidvalidity %d uidnext %d, read again %d and %d", h.UIDValidity, h.UIDNext, h2.UIDValidity, h2.UIDNext)
	}
}

// listValidity is the UIDVALIDITY that a uidlist's first line names, or 0.
func listValidity(path string) uint32 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	line := bufio.NewScanner(f)
	if !line.Scan() {
		return 0
	}
	for i, word := range strings.Fields(line.Text()) {
		if n, err := strconv.ParseUint(strings.TrimPrefix(word, "V"), 10, 32); err == nil && (word[0] == 'V' || i == 1) {
			return uint32(n)
		}
	}
	return 0
}

func runMaildirSteps(t *testing.T, c *check) {
	var k struct {
		Steps []struct {
			Scan        bool
			ExpectUIDs  map[string]uint32 `json:"expect_uids"`
			Add, Remove string
			Rename      []string
			SetMtimeDir []any `json:"set_mtime_dir"`
			SameSecond  bool  `json:"same_second"`
		}
	}
	c.decode(t, &k)
	path, _ := maildirOf(t, c)
	w := watch(t, path, t.TempDir())
	for i, s := range k.Steps {
		if s.Add != "" {
			if err := os.WriteFile(filepath.Join(path, s.Add), []byte("Subject: added\n\nbody\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s.Remove != "" {
			if err := os.Remove(filepath.Join(path, s.Remove)); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.Rename) == 2 {
			if err := os.Rename(filepath.Join(path, s.Rename[0]), filepath.Join(path, s.Rename[1])); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.SetMtimeDir) == 2 {
			when := time.Now().Add(time.Duration(s.SetMtimeDir[1].(float64)) * time.Second)
			if err := os.Chtimes(filepath.Join(path, s.SetMtimeDir[0].(string)), when, when); err != nil {
				t.Fatal(err)
			}
		}
		if s.Scan {
			if got := w.uids(t); s.ExpectUIDs != nil && !maps.Equal(got, s.ExpectUIDs) {
				t.Errorf("step %d: got %v, want %v", i, got, s.ExpectUIDs)
			}
		}
	}
}

func runMaildirRace(t *testing.T, c *check) {
	var k struct {
		Actions []map[string]any
		Storm   struct {
			Flags   []string `json:"rename_flags"`
			Seconds float64
			Workers int
		}
		Expect struct {
			Once     int      `json:"bases_exactly_once"`
			Bases    []string `json:"bases"`
			Stable   bool     `json:"uids_stable"`
			Expunged int
		}
	}
	c.decode(t, &k)
	path, _ := maildirOf(t, c)
	w := watch(t, path, t.TempDir())
	before := w.uids(t)
	var end sync.WaitGroup
	stop := make(chan struct{})
	cur := names(t, filepath.Join(path, "cur"))
	for worker := range k.Storm.Workers {
		end.Add(1)
		go func() {
			defer end.Done()
			rename(filepath.Join(path, "cur"), cur, worker, k.Storm.Workers, k.Storm.Flags, stop)
		}()
	}
	for _, a := range k.Actions {
		act(t, path, a)
	}
	syncs := 0
	for start := time.Now(); ; syncs++ {
		now := w.uids(t)
		if k.Expect.Stable {
			for base, uid := range before {
				if k.Expect.Expunged == 0 && now[base] != uid {
					t.Fatalf("sync %d: %s had UID %d, has %d", syncs, base, uid, now[base])
				}
			}
		}
		if k.Expect.Once > 0 && len(now) != k.Expect.Once {
			t.Fatalf("sync %d: %d messages, want %d", syncs, len(now), k.Expect.Once)
		}
		before = now
		if time.Since(start).Seconds() >= k.Storm.Seconds {
			break
		}
	}
	close(stop)
	end.Wait()
	if k.Expect.Bases != nil {
		got := slices.Sorted(maps.Keys(w.uids(t)))
		if want := slices.Sorted(slices.Values(k.Expect.Bases)); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	t.Logf("%d syncs", syncs)
}

// rename changes the flags of this worker's share of the files until stopped.
func rename(dir string, files []string, worker, workers int, flags []string, stop chan struct{}) {
	for {
		for i := worker; i < len(files); i += workers {
			select {
			case <-stop:
				return
			default:
			}
			base, _, _ := strings.Cut(files[i], ":2,")
			next := base + ":2," + flags[rand.IntN(len(flags))]
			if os.Rename(filepath.Join(dir, files[i]), filepath.Join(dir, next)) == nil {
				files[i] = next
			}
		}
	}
}

// act does what another process does to a maildir.
func act(t *testing.T, path string, action map[string]any) {
	t.Helper()
	name := func(v any) string { return filepath.Join(path, v.(string)) }
	var err error
	for verb, v := range action {
		switch verb {
		case "rename", "move":
			pair, ok := v.([]any)
			if !ok || len(pair) != 2 {
				t.Fatalf("action %v", action)
			}
			err = os.Rename(name(pair[0]), name(pair[1]))
		case "remove", "delete", "unlink":
			err = os.Remove(name(v))
		case "add":
			err = os.WriteFile(name(v), []byte("Subject: added\n\nbody\n"), 0o600)
		default:
			err = fmt.Errorf("no such action")
		}
		if err != nil {
			t.Fatalf("%v: %v", action, err)
		}
	}
}
