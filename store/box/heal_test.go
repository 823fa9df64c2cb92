package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// fill appends letters and returns their UIDs.
func fill(t *testing.T, b *Box, from, to int) map[uint32]*sent {
	t.Helper()
	want := map[uint32]*sent{}
	for i := from; i < to; i++ {
		uid, err := b.Append(store.Message{Body: letter(i)})
		if err != nil {
			t.Fatal(err)
		}
		want[uid] = &sent{serial: i}
	}
	return want
}

// TestHeal_lost: the index files are gone or cut to nothing. All mail is there,
// under a greater UIDVALIDITY.
func TestHeal_lost(t *testing.T) {
	for _, d := range everyDesign {
		for _, how := range []string{"removed", "emptied"} {
			t.Run(d.Name()+"/"+how, func(t *testing.T) {
				cfg := Config{Store: &memory{spool: true}, Design: d, Dir: t.TempDir(), IndexDir: filepath.Join(t.TempDir(), "index"), FS: quick, Options: unsynced(d, index.Options{})}
				b := open(t, cfg)
				fill(t, b, 0, 10)
				was := b.Status()
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				err := filepath.WalkDir(cfg.IndexDir, func(path string, e os.DirEntry, err error) error {
					if err != nil || e.IsDir() || e.Name() == index.ValidityFile {
						return err
					}
					if how == "emptied" {
						return os.Truncate(path, 0)
					}
					return os.Remove(path)
				})
				if err != nil {
					t.Fatal(err)
				}
				b = open(t, cfg)
				now := b.Status()
				if now.Messages != 10 || now.UIDValidity <= was.UIDValidity {
					t.Fatalf("%+v, it was %+v", now, was)
				}
				want := map[uint32]*sent{}
				for i := range 10 {
					want[uint32(i+1)] = &sent{serial: i}
				}
				for uid, s := range fill(t, b, 10, 15) {
					want[uid] = s
				}
				agree(t, b, want)
			})
		}
	}
}

// TestHeal_stale: somebody else brings the index up to date and rewrites it
// while the box has it open.
func TestHeal_stale(t *testing.T) {
	for _, d := range everyDesign {
		for _, p := range policies {
			t.Run(d.Name()+"/"+p.String(), func(t *testing.T) {
				cfg := Config{Store: newMemory(), Design: d, Dir: t.TempDir(), IndexDir: filepath.Join(t.TempDir(), "index"), FS: quick, Fsync: p, Cache: true, Options: unsynced(d, index.Options{})}
				b := open(t, cfg)
				want := fill(t, b, 0, 10)
				for round := range 4 {
					b.mu.Lock()
					if _, err := b.store.Append([]store.Message{{Body: letter(100 + round)}}); err != nil {
						t.Fatal(err)
					}
					other, err := d.Open(index.Config{Dir: cfg.IndexDir, FS: quick, Source: b.src, Options: cfg.Options})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := other.Sync(); err != nil {
						t.Fatal(err)
					}
					want[other.Status().UIDNext-1] = &sent{serial: 100 + round}
					if round%2 == 1 {
						if err := other.Compact(); err != nil {
							t.Fatal(err)
						}
					}
					if err := other.Close(); err != nil {
						t.Fatal(err)
					}
					b.mu.Unlock()
					if round < 2 {
						for uid, s := range fill(t, b, 200+round, 201+round) {
							want[uid] = s
						}
					}
					agree(t, b, want)
				}
			})
		}
	}
}

// TestQuery_again: an error that says that the index is damaged opens it again
// and asks again; another is the caller's own.
func TestQuery_again(t *testing.T) {
	b := open(t, Config{Store: newMemory(), Design: everyDesign[0], FS: quick})
	fill(t, b, 0, 3)
	own := errors.New("enough")
	for err, want := range map[error]int{index.ErrStale: tries, index.ErrCorrupt: tries, own: 1, nil: 1} {
		asked := 0
		if got := b.Query(func(index.Mailbox) error { asked++; return err }); !errors.Is(got, err) || asked != want {
			t.Errorf("%v: asked %d times, want %d; %v", err, asked, want, got)
		}
	}
	fill(t, b, 3, 5)
	check(t, b)
}

// TestHeal_fullDisk: the disk of the index is full for a while. Appends say so
// and name the message; afterwards everything is there, under the UIDs that it
// has from then on.
func TestHeal_fullDisk(t *testing.T) {
	for _, d := range everyDesign {
		if index.AxesOf(d).OwnIO {
			continue
		}
		for _, p := range policies {
			t.Run(d.Name()+"/"+p.String(), func(t *testing.T) {
				var full atomic.Bool
				boom := errors.New("no space")
				fsy := fsys.Failing(quick, func(op fsys.Op, _ string, _ int64, _ int) error {
					if full.Load() && op.Changes() {
						return boom
					}
					return nil
				})
				b := open(t, Config{Store: newMemory(), Design: d, Dir: t.TempDir(), IndexDir: filepath.Join(t.TempDir(), "index"), FS: quick, IndexFS: fsy, Fsync: p, Cache: true})
				want := fill(t, b, 0, 10)
				full.Store(true)
				for i := 10; i < 13; i++ {
					uid, err := b.Append(store.Message{Body: letter(i)})
					if !errors.Is(err, boom) || !strings.Contains(err.Error(), fmt.Sprintf("m%08d", i+1)) {
						t.Fatalf("uid %d, %v: neither the full disk nor the message is named", uid, err)
					}
				}
				full.Store(false)
				for i := 10; i < 13; i++ { // each failed append came after the one before
					want[uint32(i+1)] = &sent{serial: i}
				}
				for uid, s := range fill(t, b, 13, 16) {
					want[uid] = s
				}
				agree(t, b, want)
			})
		}
	}
}
