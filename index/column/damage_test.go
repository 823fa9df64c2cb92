package column

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// quick asks a few questions and gives the answers as text, without UIDs'
// values if keys is set (after a rebuild of the index they differ).
func quick(mb index.Mailbox) (string, error) {
	var b strings.Builder
	for _, alg := range []thread.Alg{thread.References, thread.OrderedSubject} {
		a, err := mb.Thread(alg, index.Search{})
		if err != nil {
			return "", err
		}
		b.Write(a.AppendIMAP(nil))
		b.WriteByte('\n')
	}
	for _, k := range []string{"date", "subject", "from", "displayto", "size", "arrival"} {
		crit, err := mailsort.ParseCriteria(k)
		if err != nil {
			return "", err
		}
		u, err := mb.Sort(crit, index.Search{})
		if err != nil {
			return "", err
		}
		b.Write(mailsort.AppendIMAP(nil, u))
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// small makes an index of n messages with answers of every kind, in two
// segments and with dead rows.
func small(t *testing.T, r *rand.Rand, dir string, n int, o index.Options) *fake {
	t.Helper()
	f := newFake()
	for range n {
		f.add(randomMail(r))
	}
	mb := openBox(t, dir, fast, f, o)
	defer mb.Close()
	for range 2 {
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		if _, err := quick(mb); err != nil {
			t.Fatal(err)
		}
		f.remove(f.keys()[n/2])
		f.add(randomMail(r))
	}
	if _, err := mb.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, err := quick(mb); err != nil {
		t.Fatal(err)
	}
	return f
}

// Every byte of cache and answers flipped: the answers stay right, and after
// the first query that noticed the files are whole again.
func TestFlip_everyByte(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := small(t, r, dir, 12, index.Options{})
	want := rebuilt(t, f)
	step, first := stride(r)
	for _, name := range []string{CacheFile, AnswersFile} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		others := readDir(t, dir)
		for at := first; at < len(good); at += step {
			bad := slices.Clone(good)
			bad[at] ^= 1 << (at % 8)
			writeFile(t, path, bad)
			mb := openBox(t, dir, fast, f, index.Options{})
			got, err := quick(mb)
			mb.Close()
			if err != nil || got != want {
				t.Fatalf("%s: byte %d of %d flipped: %v\n got %s\nwant %s", name, at, len(good), err, got, want)
			}
			restore(t, dir, others)
		}
	}
}

// stride thins out what would take minutes; the nightly run does every byte.
func stride(r *rand.Rand) (step, first int) {
	if os.Getenv("MAILBENCH_EXHAUSTIVE") != "" {
		return 1, 0
	}
	return 23, r.IntN(23)
}

// Cut at every byte: as above.
func TestCut_everyByte(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := small(t, r, dir, 12, index.Options{})
	want := rebuilt(t, f)
	for _, name := range []string{CacheFile, AnswersFile} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		others := readDir(t, dir)
		step, first := stride(r)
		for n := first; n < len(good); n += step {
			writeFile(t, path, good[:n])
			mb := openBox(t, dir, fast, f, index.Options{})
			got, err := quick(mb)
			mb.Close()
			if err != nil || got != want {
				t.Fatalf("%s: cut at %d of %d: %v\n got %s\nwant %s", name, n, len(good), err, got, want)
			}
			restore(t, dir, others)
		}
	}
}

func writeFile(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func restore(t *testing.T, dir string, files []string) {
	t.Helper()
	for _, f := range files {
		name, b, _ := strings.Cut(f, "\x00")
		if name == CacheFile || name == AnswersFile {
			writeFile(t, filepath.Join(dir, name), []byte(b))
		}
	}
}

// rebuilt gives the answers of an index made anew whose UIDs are those of an
// index that saw every delivery.
func rebuilt(t *testing.T, f *fake) string {
	t.Helper()
	dir := t.TempDir()
	g := newFake()
	for i := 1; i <= f.next; i++ { // deliver one after the other, also what has gone since
		key := fmt.Sprintf("%010d.M%06dP1.example", 1_500_000_000+i, i%1_000_000)
		g.mails[key] = f.mails[key]
		if g.mails[key] == nil {
			g.mails[key] = &fakeMail{header: "Subject: gone\n\n"}
		}
	}
	mb := openBox(t, dir, fast, g, index.Options{})
	if _, err := mb.Sync(); err != nil {
		t.Fatal(err)
	}
	for k := range g.mails {
		if f.mails[k] == nil {
			delete(g.mails, k)
		}
	}
	g.state++
	if _, err := mb.Sync(); err != nil {
		t.Fatal(err)
	}
	got, err := quick(mb)
	if err != nil {
		t.Fatal(err)
	}
	mb.Close()
	return got
}

// A crash at every change of files during delivery, query, expunge and
// compaction: what is opened then gives right answers after a Sync.
func TestCrash(t *testing.T) {
	r, seed := seeded(t)
	for _, fields := range []string{"thread", "envelope"} {
		root := t.TempDir()
		dir := filepath.Join(root, "idx")
		f := newFake()
		for range 20 {
			f.add(randomMail(r))
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		log, err := fsys.NewLog(fast, dir)
		if err != nil {
			t.Fatal(err)
		}
		rec := fsys.Recording(fast, log)
		o := index.Options{Fields: fields}
		mb := openBox(t, dir, rec, f, o)
		// The state of the mail at each event: a later crash sees later mail.
		type moment struct {
			events int
			mails  map[string]*fakeMail
			state  uint64
		}
		var moments []moment
		note := func() {
			m := moment{log.Len(), map[string]*fakeMail{}, f.state}
			for k, v := range f.mails {
				m.mails[k] = v
			}
			moments = append(moments, m)
		}
		ask := func() {
			if _, err := mb.Sync(); err != nil {
				t.Fatal(err)
			}
			if _, err := quick(mb); err != nil {
				t.Fatal(err)
			}
		}
		note()
		ask()
		f.add(randomMail(r))
		f.add(randomMail(r))
		note()
		ask()
		f.remove(f.keys()[5])
		f.remove(f.keys()[0])
		note()
		ask()
		if err := mb.Compact(); err != nil {
			t.Fatal(err)
		}
		f.add(randomMail(r))
		note()
		ask()
		mb.Close()
		step, first := 1, 0
		if os.Getenv("MAILBENCH_EXHAUSTIVE") == "" {
			step, first = 4, r.IntN(4)
		}
		for n := first; n <= log.Len(); n += step {
			g := newFake()
			for _, m := range moments {
				if m.events <= n {
					g.mails, g.state = m.mails, m.state
				}
			}
			for _, crash := range fsys.Crashes(seed + uint64(n)) {
				to := filepath.Join(t.TempDir(), "idx")
				if err := log.Replay(to, n, crash); err != nil {
					t.Fatal(err)
				}
				mb := openBox(t, to, fast, g, o)
				_, err := mb.Sync()
				if err == nil {
					err = verify(mb, g, r)
				}
				if err == nil {
					err = check(mb)
				}
				mb.Close()
				if err != nil {
					t.Fatalf("%s: crash after %d of %d events, %v: %v", fields, n, log.Len(), crash, err)
				}
				os.RemoveAll(to)
			}
		}
	}
}

// Every write fails once, as on a full disk: whatever is answered is right,
// and when there is room again everything is.
func TestDiskFull(t *testing.T) {
	r, _ := seeded(t)
	for at := 0; ; at++ {
		dir := t.TempDir()
		f := newFake()
		for range 20 {
			f.add(randomMail(r))
		}
		left, full := at, false
		fsy := fsys.Failing(fast, func(op fsys.Op, name string, off int64, n int) error {
			if !op.Changes() || op == fsys.OpRemove || op == fsys.OpTruncate {
				return nil
			}
			if left > 0 {
				left--
				return nil
			}
			full = true
			if op == fsys.OpWrite && n > 10 {
				return &fsys.ShortWrite{N: n / 2, Err: syscall.ENOSPC}
			}
			return syscall.ENOSPC
		})
		mb := openBox(t, dir, fsy, f, index.Options{})
		run := func(fail bool) {
			_, err := mb.Sync()
			if err != nil && (!fail || !errors.Is(err, syscall.ENOSPC)) {
				t.Fatalf("write %d: sync: %v", at, err)
			}
			if err != nil {
				return
			}
			if err := verify(mb, f, r); err != nil {
				t.Fatalf("write %d: %v", at, err)
			}
		}
		run(true)
		f.add(randomMail(r))
		f.remove(f.keys()[3])
		run(true)
		if err := mb.Compact(); err != nil && !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "no index") {
			t.Fatalf("write %d: compact: %v", at, err)
		}
		run(true)
		done := !full
		left = 1 << 30
		run(false)
		f.add(randomMail(r))
		run(false)
		mb.Close()
		mb = openBox(t, dir, fast, f, index.Options{})
		run(false)
		if err := check(mb); err != nil {
			t.Fatalf("write %d: %v", at, err)
		}
		mb.Close()
		if done {
			return
		}
	}
}

// Offsets beyond 2 and 4 GiB: a cache with a tail of zeros that long takes new
// mail.
func TestLongTail(t *testing.T) {
	r, _ := seeded(t)
	for _, size := range []int64{1<<31 - 64, 1<<32 - 64} {
		dir := t.TempDir()
		f := small(t, r, dir, 12, index.Options{})
		for _, name := range []string{CacheFile, AnswersFile} {
			if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
				t.Skip("no sparse files here:", err)
			}
		}
		for range 5 {
			f.add(randomMail(r))
		}
		mb := openBox(t, dir, fast, f, index.Options{})
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := verify(mb, f, r); err != nil {
			t.Fatal(size, err)
		}
		if err := check(mb); err != nil {
			t.Fatal(size, err)
		}
		mb.Close()
	}
}

// A cache or answers of another mailbox, or an older state of the index, is
// noticed.
func TestSwappedFiles(t *testing.T) {
	r, _ := seeded(t)
	dirs := []string{t.TempDir(), t.TempDir()}
	var boxes [2]*fake
	for i := range dirs {
		boxes[i] = small(t, r, dirs[i], 12, index.Options{UIDValidity: 7})
	}
	for _, name := range []string{CacheFile, AnswersFile} {
		b, err := os.ReadFile(filepath.Join(dirs[1], name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dirs[0], name), b)
		mb := openBox(t, dirs[0], fast, boxes[0], index.Options{})
		if err := verify(mb, boxes[0], r); err != nil {
			t.Errorf("%s swapped: %v", name, err)
		}
		mb.Close()
	}
}

func TestOlderIndex_newerCache(t *testing.T) {
	r, _ := seeded(t)
	dir := t.TempDir()
	f := small(t, r, dir, 12, index.Options{})
	var backup []string
	for _, x := range readDir(t, dir) {
		if !strings.HasPrefix(x, CacheFile) && !strings.HasPrefix(x, AnswersFile) {
			backup = append(backup, x)
		}
	}
	// Two more messages get UIDs, are cached, and are forgotten by the index;
	// two others get the same UIDs.
	for range 2 {
		key := f.add(randomMail(r))
		defer f.remove(key)
	}
	mb := openBox(t, dir, fast, f, index.Options{})
	mb.Sync()
	if err := verify(mb, f, r); err != nil {
		t.Fatal(err)
	}
	mb.Close()
	for _, k := range f.keys()[len(f.keys())-2:] {
		f.remove(k)
	}
	for range 2 {
		f.add(randomMail(r))
	}
	os.Remove(filepath.Join(dir, index.LogFile))
	for _, x := range backup {
		name, b, _ := strings.Cut(x, "\x00")
		writeFile(t, filepath.Join(dir, name), []byte(b))
	}
	mb = openBox(t, dir, fast, f, index.Options{})
	defer mb.Close()
	mb.Sync()
	if err := verify(mb, f, r); err != nil {
		t.Fatal(err)
	}
}

// A message that could not be read is looked for again by the next handle.
func TestAbsent(t *testing.T) {
	r, _ := seeded(t)
	for _, answers := range []string{"stored", "computed"} {
		dir := t.TempDir()
		f := newFake()
		for range 30 {
			f.add(randomMail(r))
		}
		hidden := f.keys()[7]
		f.hide[hidden] = true
		o := index.Options{Answers: answers}
		mb := openBox(t, dir, fast, f, o)
		mb.Sync()
		if err := verify(mb, f, r); err != nil {
			t.Fatal(err)
		}
		mb.Close()
		delete(f.hide, hidden)
		mb = openBox(t, dir, fast, f, o)
		mb.Sync()
		if err := verify(mb, f, r); err != nil {
			t.Fatal(answers, err)
		}
		mb.Close()
	}
}
