package mbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mailbench/internal/fsys"
)

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// gz and zst compress each part as a member or frame of its own.
func gz(parts ...[]byte) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&out)
		w.Write(p)
		w.Close()
	}
	return out.Bytes()
}

func zst(window int, parts ...[]byte) []byte {
	var out bytes.Buffer
	for _, p := range parts {
		w, err := zstd.NewWriter(&out, zstd.WithWindowSize(window))
		if err != nil {
			panic(err)
		}
		w.Write(p)
		w.Close()
	}
	return out.Bytes()
}

func TestOpen(t *testing.T) {
	mail := listMail(60)
	a, b := mail[:len(mail)/3], mail[len(mail)/3:] // inside a line
	skippable := []byte{0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}
	tests := []struct {
		name string
		data []byte
	}{
		{"plain.mbox", mail},
		{"one.gz", gz(mail)},
		{"two.gz", gz(a, b)},
		{"empty-member.gz", gz(a, nil, b)},
		{"padded.gz", append(gz(a, b), make([]byte, 512)...)},
		{"one.zst", zst(1<<20, mail)},
		{"two.zst", zst(1<<20, a, b)},
		{"skip.zst", append(append(skippable, zst(1<<20, a, b)...), skippable...)},
		{"wrong-name.mbox", zst(1<<20, mail)},
		{"wide.zst", zst(128<<20, mail)},
	}
	for _, test := range tests {
		for _, memory := range []int64{0, 1, 1000, int64(len(mail)), int64(len(mail) - 1)} {
			dir := t.TempDir()
			f, err := Open(write(t, test.name, test.data), Options{TempDir: dir, MemoryLimit: memory})
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if !bytes.Equal(f.Data(), mail) || len(f.Messages()) != 60 || f.Err() != nil || f.Problems().Total > 0 {
				t.Errorf("%s, %d in memory: %d of %d bytes, %d messages, %v", test.name, memory, len(f.Data()), len(mail), len(f.Messages()), f.Err())
			}
			if names, _ := os.ReadDir(dir); len(names) > 0 {
				t.Errorf("%s: spill file has a name", test.name)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Errorf("second Close: %v", err)
			}
		}
	}
}

func TestOpen_empty(t *testing.T) {
	for name, data := range map[string][]byte{"a.mbox": nil, "a.gz": gz(nil), "a.zst": zst(1<<20, nil)} {
		f, err := Open(write(t, name, data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Messages()) != 0 || f.Err() != nil {
			t.Errorf("%s: %d messages, %v", name, len(f.Messages()), f.Err())
		}
		f.Close()
	}
}

func TestOpen_unusable(t *testing.T) {
	dir := t.TempDir()
	bz := write(t, "a.bz2", []byte("BZh91AY"))
	big := write(t, "big.gz", gz(make([]byte, 1<<20)))
	for _, test := range []struct {
		path, want string
		o          Options
	}{
		{filepath.Join(dir, "none"), "no such file", Options{}},
		{dir, "is a directory", Options{}},
		{bz, "bzip2", Options{}},
		{big, "more than the limit", Options{MaxSize: 1000}},
		{big, "no-dir", Options{MemoryLimit: 1000, TempDir: filepath.Join(dir, "no-dir")}},
		{"/dev/null", "not a regular file", Options{}},
	} {
		f, err := Open(test.path, test.o)
		if err == nil {
			f.Close()
			t.Errorf("%s: opened", test.path)
			continue
		}
		if s := err.Error(); !strings.Contains(s, test.path) || !strings.Contains(s, test.want) || strings.Contains(s, "\n") {
			t.Errorf("%s: %q, want one line with %q", test.path, s, test.want)
		}
	}
}

// A full disk while decompressing is the disk's error, not damage.
func TestOpen_diskFull(t *testing.T) {
	full := errors.New("no space left")
	fs := fsys.Failing(fsys.OS, func(op fsys.Op, name string, off int64, n int) error {
		if op == fsys.OpWrite && off+int64(n) > 100_000 {
			return full
		}
		return nil
	})
	dir := t.TempDir()
	for _, data := range [][]byte{gz(listMail(100)), zst(1<<20, listMail(100))} {
		_, err := Open(write(t, "a", data), Options{FS: fs, MemoryLimit: 1000, TempDir: dir})
		if !errors.Is(err, full) {
			t.Errorf("%v, want the disk's error", err)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("%s is left", names[0])
	}
}

// Cut at many places: the messages are a prefix of the whole's, and the loss
// is told.
func TestOpen_cut(t *testing.T) {
	mail := listMail(12)
	var whole []Message
	Scan(mail, MboxRD, func(m Message) bool { whole = append(whole, m); return true })
	a, b := mail[:len(mail)/2], mail[len(mail)/2:]
	for name, data := range map[string][]byte{"gz": gz(a, b), "zst": zst(1<<20, a, b)} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a."+name)
		for n := 6; n < len(data); n += 1 + n%97 {
			if err := os.WriteFile(path, data[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			ms := f.Messages()
			if len(ms) >= len(whole) || fmt.Sprint(ms) != fmt.Sprint(whole[:len(ms)]) {
				t.Fatalf("%s cut at %d: %d messages that are no prefix", name, n, len(ms))
			}
			// Between two members nobody can see that one is missing.
			if err := f.Err(); err == nil {
				if !bytes.Equal(f.Data(), a) {
					t.Fatalf("%s cut at %d of %d: no error", name, n, len(data))
				}
			} else if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "truncated at offset") {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
			f.Close()
		}
	}
}

// Flipped bytes: no panic, and the damage is told where a checksum is.
func TestOpen_flipped(t *testing.T) {
	mail := listMail(3)
	for name, data := range map[string][]byte{"gz": gz(mail), "zst": zst(1<<20, mail)} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a."+name)
		for i := 4; i < len(data); i += 1 + i%13 {
			bad := bytes.Clone(data)
			bad[i] ^= 0x10
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, Options{MaxSize: 64 << 20})
			if err != nil {
				continue // a length beyond MaxSize
			}
			if f.Err() == nil && !bytes.Equal(f.Data(), mail) {
				t.Errorf("%s, byte %d flipped: other bytes and no error", name, i)
			}
			f.Close()
		}
	}
}

// Damage behind the last message or in a checksum: all messages, and an error.
func TestOpen_damagedBehind(t *testing.T) {
	mail := listMail(300)
	badSum := gz(mail)
	badSum[len(badSum)-8] ^= 1
	badSum2 := gz(mail[:len(mail)/2], mail[len(mail)/2:])
	badSum2[len(badSum2)-8] ^= 1
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"a.gz", append(gz(mail), "rubbish"...), errTrailing},
		{"a.zst", append(zst(1<<20, mail), "rubbish"...), errTrailing},
		{"b.zst", append(zst(1<<20, mail[:1000], mail[1000:]), make([]byte, 512)...), errTrailing},
		{"sum.gz", badSum, gzip.ErrChecksum},
		{"padded.gz", append(bytes.Clone(badSum), make([]byte, 512)...), gzip.ErrChecksum},
		{"sum2.gz", badSum2, gzip.ErrChecksum},
	} {
		f, err := Open(write(t, test.name, test.data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Messages()); n != 300 || f.Problems().Total > 0 || !errors.Is(f.Err(), test.want) {
			t.Errorf("%s: %d messages, %d problems, %v", test.name, n, f.Problems().Total, f.Err())
		}
		f.Close()
	}
	// With more behind it nobody knows what the wrong checksum has hidden.
	f, err := Open(write(t, "a.gz", append(badSum, gz(mail)...)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := len(f.Messages()); n != 299 || !errors.Is(f.Err(), gzip.ErrChecksum) {
		t.Errorf("%d messages, %v", n, f.Err())
	}
}

// A stream that wants more memory than it gets is not called damaged, and one
// whose block is too large for its window is.
func TestOpen_wideWindow(t *testing.T) {
	frame := func(header ...byte) []byte { return append([]byte{0x28, 0xb5, 0x2f, 0xfd}, header...) }
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"window.zst":  {frame(0x00, 18<<3, 0x01, 0, 0), "not read on at offset"},         // 256 MiB
		"segment.zst": {frame(0xa0, 0, 0, 0, 0x40, 0x01, 0, 0), "not read on at offset"}, // 1 GiB in one piece
		"middle.zst":  {frame(0xa0, 0, 0, 0, 0x0c, 0x01, 0, 0), "not read on at offset"}, // 192 MiB
		"block.zst":   {frame(0x00, 0x00, 0x01, 0x00, 0x01, 'x'), "damaged at offset"},   // 8 KiB in a window of 1 KiB
		"later.zst":   {append(zst(1<<20, listMail(9)), frame(0xa0, 0, 0, 0, 0x40, 1, 0, 0)...), "not read on at offset"},
	} {
		f, err := Open(write(t, name, test.data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Err(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(test.want, "not read") && !errors.Is(err, errWindow) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		f.Close()
	}
}

// A mapped file that another process cuts gives an error, not a dead process.
func TestFile_cutWhileMapped(t *testing.T) {
	path := write(t, "a.mbox", listMail(200))
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.Mapped() {
		t.Log("no map on this system: nothing to lose")
		return
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Scan(func(Message) bool { return true }); !errors.Is(err, ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	defer func() {
		if recover() != "mine" {
			t.Error("another panic did not pass")
		}
	}()
	f.Guard(func() { panic("mine") })
}
