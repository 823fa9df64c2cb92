package conform

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/thread"
)

// A store is one mbox with one index of one design, and what happened to it.
type store struct {
	t       *testing.T
	design  index.Design
	answers string // Options.Answers
	caseDir string
	mbox    string // the mailbox: a copy of msgs.mbox
	dir     string // of the index
	saved   string // copy of both, for restore
	faults  *faults

	src        *counted
	box        index.Mailbox
	rereads    *int64 // how many headers may be read until the next close
	appended   int
	validities []uint32
	checking   time.Duration // spent on what the scenario does not ask for
}

func newStore(t *testing.T, caseDir string, d index.Design, answers string) *store {
	t.Helper()
	root := t.TempDir()
	s := &store{
		t: t, design: d, answers: answers, caseDir: caseDir, faults: new(faults),
		mbox: filepath.Join(root, "live", "msgs.mbox"), dir: filepath.Join(root, "live", "index"), saved: filepath.Join(root, "saved"),
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.copyMbox(filepath.Join(caseDir, "msgs.mbox"))
	return s
}

func (s *store) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) copyMbox(from string) {
	s.t.Helper()
	b, err := os.ReadFile(from)
	s.must(err)
	s.must(os.WriteFile(s.mbox, b, 0o600))
}

// open is what SELECT does: open, and see what is new.
func (s *store) open() {
	s.t.Helper()
	s.openIn(s.dir, fsys.Failing(fsys.OS, s.faults.fail))
	if _, err := s.box.Sync(); err != nil {
		s.t.Fatal("open: ", err)
	}
	s.validities = append(s.validities, s.box.Status().UIDValidity)
	s.src.headers.Store(0)
}

func (s *store) openIn(dir string, files fsys.FS) {
	s.t.Helper()
	src, err := source.Open(s.mbox, source.Options{TempDir: s.t.TempDir()})
	s.must(err)
	s.src = &counted{Source: src}
	s.box, err = s.design.Open(index.Config{Dir: dir, FS: files, Source: s.src, Options: index.Options{Answers: s.answers}})
	s.must(err)
}

func (s *store) close() {
	s.t.Helper()
	if s.box == nil {
		return
	}
	if n := s.src.headers.Load(); s.rereads != nil && n > *s.rereads {
		s.t.Errorf("%d headers were read again, allowed are %d", n, *s.rereads)
	}
	s.rereads = nil
	// With stored answers a damaged cache may lie unread, and so unhealed.
	healthy := !s.faults.active() && s.answers != "stored"
	s.must(s.box.Close())
	s.must(s.src.Close())
	s.box = nil
	if healthy {
		// What a session healed, the next one finds healthy.
		start := time.Now()
		s.openIn(s.dir, nil)
		for err := range s.box.Check() {
			s.t.Errorf("check: %v", err)
		}
		s.must(s.box.Close())
		s.must(s.src.Close())
		s.box = nil
		s.checking += time.Since(start)
	}
}

// abandon lets go of everything, as the end of a process does.
func (s *store) abandon() {
	if s.box != nil {
		s.box.Close()
		s.src.Close()
		s.box = nil
	}
}

func (s *store) sync(st step) {
	s.t.Helper()
	if s.box == nil {
		s.openIn(s.dir, fsys.Failing(fsys.OS, s.faults.fail))
	}
	if st.KillAt != nil {
		s.faults.kill(fmt.Sprint(st.KillAt))
	}
	_, err := s.box.Sync()
	if err == nil {
		// All fields that SORT and THREAD use belong to this step.
		_, err = answersOf(s.t, s.box)
	}
	switch {
	case st.KillAt != nil:
		s.abandon()
		s.faults.clear()
		return
	case strings.Contains(st.ExpectError, "ENOSPC"):
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			s.t.Fatalf("sync: %v, want ENOSPC or none", err)
		}
		return
	}
	s.must(err)
	s.validities = append(s.validities, s.box.Status().UIDValidity)
}

// queryAll holds every answer against that of an index built anew.
func (s *store) queryAll() {
	s.t.Helper()
	if s.box == nil {
		s.open()
	}
	got, err := answersOf(s.t, s.box)
	if err != nil {
		if s.faults.active() && errors.Is(err, syscall.ENOSPC) {
			return // the disk is full, and it says so
		}
		s.t.Fatal("query: ", err)
	}
	headers := s.src.headers.Load()
	start := time.Now()
	fresh := &store{t: s.t, design: s.design, answers: s.answers, mbox: s.mbox}
	fresh.openIn(s.t.TempDir(), nil)
	defer fresh.abandon()
	if _, err := fresh.box.Sync(); err != nil {
		s.t.Fatal("rebuild: ", err)
	}
	want, err := answersOf(s.t, fresh.box)
	s.must(err)
	s.checking += time.Since(start)
	s.src.headers.Store(headers)
	if s.faults.active() && got.messages != want.messages {
		// The disk is full, the new messages could not be written down: the
		// old state stays readable.
		return
	}
	if got != want {
		s.t.Errorf("answers differ from those of a new index: %s", firstDifference(got.text, want.text))
	}
}

// answers are all of them as text, in which a message is its key.
type answers struct {
	messages int
	text     string
}

var number = regexp.MustCompile(`\d+`)

func answersOf(t *testing.T, box index.Mailbox) (a answers, err error) {
	t.Helper()
	key := map[string]string{}
	var out strings.Builder
	err = box.Messages(func(m index.Message) bool {
		key[strconv.Itoa(int(m.UID))] = m.Key
		fmt.Fprintf(&out, "%s %s %s\n", m.Key, m.Flags, m.Folder)
		return true
	})
	if err != nil {
		return a, err
	}
	named := func(s string) string {
		return number.ReplaceAllStringFunc(s, func(uid string) string { return key[uid] })
	}
	for _, alg := range []thread.Alg{thread.References, thread.Refs, thread.OrderedSubject} {
		tree, err := box.Thread(alg, index.Search{})
		if err != nil {
			return a, err
		}
		out.WriteString(named(string(tree.AppendIMAP(nil))) + "\n")
	}
	for _, keys := range sortKeys {
		uids, err := sortOf(t, box, keys)
		if err != nil {
			return a, err
		}
		out.WriteString(keys + ": " + named(fmt.Sprint(uids)) + "\n")
	}
	return answers{len(key), out.String()}, nil
}

// fileOf is the path of the file that a scenario means: PREFIX.name, or the
// newest of PREFIX.name.NUMBER where a design numbers its files, or, where an
// engine has files of other kinds, the largest.
func (s *store) fileOf(name string) string {
	s.t.Helper()
	files, err := os.ReadDir(s.dir)
	s.must(err)
	found := ""
	for _, f := range files {
		_, rest, _ := strings.Cut(f.Name(), ".")
		number, numbered := strings.CutPrefix(rest, name+".")
		if _, err := strconv.ParseUint(number, 10, 64); rest == name || numbered && err == nil {
			found = f.Name()
		}
	}
	if found != "" {
		return filepath.Join(s.dir, found)
	}
	largest := int64(-1)
	s.must(filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == index.ValidityFile {
			return err
		}
		in, err := d.Info()
		if err == nil && in.Size() > largest {
			found, largest = path, in.Size()
		}
		return err
	}))
	if found == "" {
		s.t.Fatalf("design %s has no file at all", s.design.Name())
	}
	return found
}

// damage changes a file of the index behind its back.
func (s *store) damage(st step, vars map[string]string) {
	s.t.Helper()
	s.close()
	path := s.fileOf(st.File)
	b, err := os.ReadFile(path)
	s.must(err)
	at := func(v any) int64 { return min(max(0, int64(len(b))-1), s.bytesOf(v, vars, int64(len(b)))) }
	switch st.Do {
	case "truncate":
		s.must(os.Truncate(path, min(int64(len(b)), s.bytesOf(st.ToBytes, vars, int64(len(b))))))
	case "extend-sparse":
		s.must(os.Truncate(path, s.bytesOf(st.To, vars, int64(len(b)))))
	case "zero":
		clear(b)
		s.must(os.WriteFile(path, b, 0o600))
	case "append":
		s.must(os.WriteFile(path, append(b, s.payload(st, vars)...), 0o600))
	case "flip":
		b[at(st.Offset)] ^= 1
		s.must(os.WriteFile(path, b, 0o600))
	case "patch":
		copy(b[at(st.Offset):], s.payload(st, vars))
		s.must(os.WriteFile(path, b, 0o600))
	case "replace":
		s.replace(st.File, path, text(st.With, vars))
	}
}

// payload is what a step writes; garbage when it does not say.
func (s *store) payload(st step, vars map[string]string) []byte {
	s.t.Helper()
	if st.Hex != "" {
		b, err := hex.DecodeString(st.Hex)
		s.must(err)
		return b
	}
	n := int64(100)
	if st.Bytes != nil {
		n = s.bytesOf(st.Bytes, vars, 0)
	}
	return []byte(strings.Repeat("garbage ", int(n)/8+1))[:n]
}

func (s *store) replace(name, path, with string) {
	s.t.Helper()
	switch with {
	case "delete":
		s.must(os.Remove(path))
	case "empty":
		s.must(os.WriteFile(path, nil, 0o600))
	case "from-other-mailbox":
		other := &store{t: s.t, design: s.design, answers: s.answers, mbox: filepath.Join(s.t.TempDir(), "other.mbox"), dir: s.t.TempDir(), faults: new(faults)}
		other.appendMessages(9)
		other.sync(step{})
		other.close()
		b, err := os.ReadFile(other.fileOf(name))
		s.must(err)
		s.must(os.WriteFile(path, b, 0o600))
	default:
		s.t.Fatalf("no test knows how to replace a file with %q", with)
	}
}

// snapshot keeps mailbox and index as they are, for restore.
func (s *store) snapshot() {
	s.t.Helper()
	s.close()
	s.must(os.RemoveAll(s.saved))
	s.must(os.CopyFS(s.saved, os.DirFS(filepath.Dir(s.mbox))))
}

func (s *store) restore() {
	s.t.Helper()
	s.close()
	live := filepath.Dir(s.mbox)
	s.must(os.RemoveAll(live))
	s.must(os.CopyFS(live, os.DirFS(s.saved)))
}

func (s *store) deleteMailbox() {
	s.t.Helper()
	s.close()
	s.must(os.Remove(s.mbox))
	files, err := os.ReadDir(s.dir)
	s.must(err)
	for _, f := range files {
		if f.Name() != index.ValidityFile { // what a mailbox that was deleted leaves behind
			s.must(os.RemoveAll(filepath.Join(s.dir, f.Name())))
		}
	}
}

func (s *store) appendMessages(n int) {
	s.t.Helper()
	f, err := os.OpenFile(s.mbox, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	s.must(err)
	defer f.Close()
	for range n {
		s.appended++
		_, err := fmt.Fprintf(f, "From new@x.example Tue Jan  2 00:%02d:00 2024\nFrom: n%d <n%d@x.example>\nDate: Tue, 2 Jan 2024 00:%02d:00 +0000\nMessage-ID: <new%d@x.example>\nIn-Reply-To: <new%d@x.example>\nSubject: Re: appended\n\nnew %d\n\n",
			s.appended, s.appended, s.appended, s.appended, s.appended, s.appended/2, s.appended)
		s.must(err)
	}
}

// wantIncreasing: each time the mailbox was made anew its UIDVALIDITY rose.
func (s *store) wantIncreasing() {
	s.t.Helper()
	rises := 0
	for i := 1; i < len(s.validities); i++ {
		switch a, b := s.validities[i-1], s.validities[i]; {
		case b < a:
			s.t.Errorf("UIDVALIDITY went from %d to %d", a, b)
		case b > a:
			rises++
		}
	}
	if rises < 5 {
		s.t.Errorf("UIDVALIDITY rose %d times: %v", rises, s.validities)
	}
}

// faults are what goes wrong with the files of the index.
type faults struct {
	mu     sync.Mutex
	space  int64  // bytes left, when full is set
	full   bool   // the disk is nearly full
	killAt string // operation before which the process ends
	dead   bool
}

var errKilled = errors.New("the process has ended")

func (f *faults) limit(n int64) { f.mu.Lock(); f.full, f.space = true, n; f.mu.Unlock() }
func (f *faults) kill(op string) {
	f.mu.Lock()
	f.killAt = strings.ToLower(op)
	f.mu.Unlock()
}
func (f *faults) clear() { f.mu.Lock(); f.full, f.killAt, f.dead = false, "", false; f.mu.Unlock() }

func (f *faults) active() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.full }

func (f *faults) fail(op fsys.Op, _ string, _ int64, n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killAt != "" && strings.ToLower(op.String()) == f.killAt {
		f.dead = true
	}
	if f.dead {
		return errKilled
	}
	if f.full && op == fsys.OpWrite {
		if int64(n) > f.space {
			short := f.space
			f.space = 0
			return &fsys.ShortWrite{N: int(short), Err: syscall.ENOSPC}
		}
		f.space -= int64(n)
	}
	return nil
}
