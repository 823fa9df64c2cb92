package column

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// listMail is message i of a list.
func listMail(i int) string {
	refs := ""
	if i > 3 {
		for k := range 1 + i%4 {
			refs += fmt.Sprintf(" <%d.list@mail%d.example.org>\n", i-1-k*i%3, i%7)
		}
		refs = "References:" + refs + fmt.Sprintf("In-Reply-To: <%d.list@mail%d.example.org>\n", i-1, i%7)
	}
	return fmt.Sprintf("Received: from somewhere.example.net (somewhere.example.net [192.0.2.%d]) by here.example.org with ESMTP id A%d\n"+
		"Date: Mon, %d Jan 2024 %02d:%02d:%02d +0100\nFrom: \"Person Number %d\" <person%d@host%d.example.com>\nTo: list@lists.example.org\nCc: other%d@example.net\n"+
		"Subject: Re: [PATCH v%d] subsystem: make thing %d work again\nMessage-ID: <%d.list@mail%d.example.org>\n%sX-Mailer: none\n\nbody %d\n",
		i%250, i, 1+i%28, i%24, i%60, i*7%60, i%40, i%40, i%13, i%5, i%9, i/6, i, i%7, refs, i)
}

const aBody = `("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "8BIT" 2312 61 NIL NIL NIL NIL)`

// A delivering is a mailbox that mail is delivered to as store/box does it.
type delivering struct {
	t     testing.TB
	shelf *indextest.Shelf
	box   *mailbox
	n     int
	next  uint32
	few   bool        // a few questions will do
	ref   *delivering // an index that is never told anything
}

// follow opens the index that is never told.
func (d *delivering) follow() {
	ref := *d
	d.ref = &ref
	d.ref.open(d.t.TempDir(), fsys.Unsynced(fsys.OS), "envelope")
}

func (d *delivering) open(dir string, fsy index.FS, fields string) {
	d.t.Helper()
	box, err := Design.Open(index.Config{Dir: dir, FS: fsy, Source: d.shelf, Options: index.Options{Fields: fields}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.box = box.(*mailbox)
	if _, err := d.box.Sync(); err != nil {
		d.t.Fatal(err)
	}
}

// deliver delivers a group of k.
func (d *delivering) deliver(k int) {
	d.t.Helper()
	msgs := make([]index.Cached, 0, k)
	for range k {
		text := listMail(d.n)
		d.shelf.Deliver(text, int64(1_700_000_000+d.n), 0, 0)
		d.n++
		d.next++
		msgs = append(msgs, index.Cached{UID: d.next, Header: []byte(text), BodyStructure: []byte(aBody), Size: int64(len(text)), VSize: int64(len(text) + 20), Date: int64(1_700_000_000 + d.n - 1)})
	}
	if _, err := d.box.Sync(); err != nil {
		d.t.Fatal(err)
	}
	if err := d.box.Cache(msgs); err != nil {
		d.t.Fatal(err)
	}
	if d.ref != nil {
		if _, err := d.ref.box.Sync(); err != nil {
			d.t.Fatal(err)
		}
	}
}

// answers asks what a Cacher must know without the mail.
func (d *delivering) answers() string {
	d.t.Helper()
	out := ""
	for alg := range thread.NumAlgs {
		if d.few && alg > 0 {
			break
		}
		a, err := d.box.Thread(alg, index.Search{})
		if err != nil {
			d.t.Fatal(err)
		}
		out += string(a.AppendIMAP(nil)) + "\n"
	}
	for k := range mailsort.Key(mailsort.NumKeys) {
		if k == mailsort.Size {
			continue // the shelf's sizes are not those that were told
		}
		if d.few && k > mailsort.Date {
			break
		}
		uids, err := d.box.Sort([]mailsort.Criterion{{Key: k}}, index.Search{})
		if err != nil {
			d.t.Fatal(err)
		}
		out += fmt.Sprintln(k, uids)
	}
	var uids []uint32
	for u := range d.next {
		uids = append(uids, u+1)
	}
	err := d.box.Fetch(uids, append(slices.Clone(index.EnvelopeFields), index.BodyStructureField), func(uid uint32, values [][]byte) error {
		last := len(values) - 1
		if b := values[last]; b != nil && string(b) != aBody {
			d.t.Errorf("uid %d: body structure %q", uid, b)
		}
		out += fmt.Sprintf("%d %q\n", uid, values[:last])
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// want is what the index that was never told anything answers.
func (d *delivering) want() string {
	d.t.Helper()
	mute := d.shelf.Mute
	d.shelf.Mute = false
	defer func() { d.shelf.Mute = mute }()
	if _, err := d.ref.box.Sync(); err != nil {
		d.t.Fatal(err)
	}
	d.ref.next, d.ref.few = d.next, d.few
	return d.ref.answers()
}

// The tail becomes rows again and again, with questions, reopenings and
// expunges in between, and no mail is read.
func TestCache_merges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 4 {
		d := &delivering{t: t, shelf: indextest.NewShelf()}
		dir := t.TempDir()
		fields := []string{"envelope", "thread"}[round%2]
		d.open(dir, fsys.Unsynced(fsys.OS), fields)
		d.follow()
		d.shelf.Mute = true
		for range 60 {
			d.box.tailRows = 1 + r.IntN(12)
			d.deliver(1 + r.IntN(6))
			switch r.IntN(8) {
			case 0:
				d.box.Close()
				d.open(dir, fsys.Unsynced(fsys.OS), fields)
			case 1:
				if got, want := d.answers(), d.want(); got != want {
					t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
				}
			case 2:
				keys := d.shelf.Keys()
				d.shelf.Expunge(keys[r.IntN(len(keys))])
			case 3:
				if err := d.box.Compact(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := d.box.Sync(); err != nil {
			t.Fatal(err)
		}
		if got, want := d.answers(), d.want(); got != want {
			t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
		}
		for err := range d.box.Check() {
			t.Error(err)
		}
		d.box.Close()
	}
}

// What Cache costs at the disk: one fdatasync, and no more bytes than what it
// keeps of the mail.
func TestCache_costs(t *testing.T) {
	for _, group := range []int{1, 30, 100} {
		c := fsys.Counting(fsys.Unsynced(fsys.OS))
		d := &delivering{t: t, shelf: indextest.NewShelf()}
		d.open(t.TempDir(), c, "envelope")
		d.deliver(group) // makes the files
		const total = 600
		before, calls := c.Counts(), 0
		var cache fsys.Counts
		for d.n < total {
			n := d.n
			msgs := []index.Cached{}
			for range group {
				text := listMail(d.n)
				d.shelf.Deliver(text, 1, 0, 0)
				d.n++
				d.next++
				msgs = append(msgs, index.Cached{UID: d.next, Header: []byte(text), BodyStructure: []byte(aBody), VSize: -1})
			}
			if _, err := d.box.Sync(); err != nil {
				t.Fatal(err)
			}
			mid := c.Counts()
			if err := d.box.Cache(msgs); err != nil {
				t.Fatal(err)
			}
			got := c.Counts().Sub(mid)
			if got.Syncs != 1 || got.Writes != 1 || got.SyncDirs != 0 || got.Renames != 0 {
				t.Fatalf("group of %d at %d: %+v", group, n, got)
			}
			cache.BytesWritten += got.BytesWritten
			calls++
		}
		all := c.Counts().Sub(before)
		msgs := float64(d.n - group)
		t.Logf("groups of %d: %.0f bytes a message in the tail, %.0f with the index; %d syncs in %d calls", group,
			float64(cache.BytesWritten)/msgs, float64(all.BytesWritten)/msgs, all.Syncs, calls)
		if per := float64(cache.BytesWritten) / msgs; per > 700 {
			t.Errorf("groups of %d: %.0f bytes a message", group, per)
		}
		d.box.Close()
	}
}

// No flipped bit of the tail, and no cut, changes an answer: the mail is read.
func TestCache_damage(t *testing.T) {
	d := &delivering{t: t, shelf: indextest.NewShelf()}
	dir := t.TempDir()
	d.open(dir, fsys.Unsynced(fsys.OS), "envelope")
	d.follow()
	d.few = true
	for _, k := range []int{1, 3, 2} {
		d.deliver(k)
	}
	d.box.Close()
	want := d.want()
	files := map[string][]byte{}
	names, err := fsys.OS.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if files[n], err = os.ReadFile(filepath.Join(dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	whole := files[TailFile]
	step := 1 + len(whole)/100
	for i := 0; i < len(whole); i += step {
		for _, cut := range []bool{false, true} {
			b := slices.Clone(whole)
			if b[i] ^= 1 << (i % 8); cut {
				b = b[:i]
			}
			at := t.TempDir()
			for n, f := range files {
				if n == TailFile {
					f = b
				}
				if err := os.WriteFile(filepath.Join(at, n), f, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d.open(at, fsys.Unsynced(fsys.OS), "envelope")
			if got := d.answers(); got != want {
				t.Fatalf("byte %d, cut %v:\ngot  %s\nwant %s", i, cut, got, want)
			}
			d.box.Close()
		}
	}
}

// After Cache has returned no power cut takes what it was told, and one in
// between takes nothing else; with a file system that does not sync it can.
func TestCache_crash(t *testing.T) {
	lost := 0
	for _, sync := range []bool{true, false} {
		root := filepath.Join(t.TempDir(), "index")
		if err := os.MkdirAll(root, 0o700); err != nil {
			t.Fatal(err)
		}
		log, err := fsys.NewLog(fsys.OS, root)
		if err != nil {
			t.Fatal(err)
		}
		fs := fsys.Recording(fsys.OS, log)
		d := &delivering{t: t, shelf: indextest.NewShelf(), few: true}
		d.open(root, fs, "envelope")
		d.follow()
		d.box.tailRows = 5
		if !sync {
			d.box.fs = fsys.Unsynced(fs) // the index lasts, the cache does not
		}
		for i := range 5 {
			d.deliver(1 + i%3)
			n := log.Len()
			for _, c := range fsys.Crashes(uint64(n)) {
				at := filepath.Join(t.TempDir(), "crashed")
				if err := log.Replay(at, n, c); err != nil {
					t.Fatal(err)
				}
				e := *d
				e.open(at, fsys.Unsynced(fsys.OS), "envelope")
				e.shelf.Mute = true
				if _, err := e.box.Thread(thread.References, index.Search{}); err != nil && sync {
					t.Fatalf("after %d deliveries, %v: %v", i+1, c, err)
				} else if err != nil {
					lost++
				}
				e.shelf.Mute = false
				if got, want := e.answers(), e.want(); got != want {
					t.Fatalf("after %d deliveries, %v:\ngot  %s\nwant %s", i+1, c, got, want)
				}
				e.box.Close()
			}
		}
		d.box.Close()
	}
	if lost == 0 {
		t.Error("without syncing nothing was lost: this test cannot fail")
	}
}

func BenchmarkCache(b *testing.B) {
	for _, grown := range []int{0, 10000, 100000} {
		for _, group := range []int{1, 30} {
			b.Run(fmt.Sprintf("grown=%d_msgs/group=%d_msgs", grown, group), func(b *testing.B) {
				c := fsys.Counting(fsys.Unsynced(fsys.OS))
				d := &delivering{t: b, shelf: indextest.NewShelf()}
				d.open(b.TempDir(), c, "envelope")
				for d.n < grown {
					d.deliver(1000)
				}
				if _, err := d.box.Thread(thread.References, index.Search{}); err != nil {
					b.Fatal(err)
				}
				before, from, cpu := c.Counts(), d.n, cpuTime()
				for b.Loop() {
					d.deliver(group)
				}
				n := float64(d.n - from)
				b.ReportMetric(float64(cpuTime()-cpu)/n, "cpu-ns/msg")
				b.ReportMetric(float64(c.Counts().Sub(before).BytesWritten)/n, "written-B/msg")
			})
		}
	}
}

// cpuTime is this process's, in nanoseconds: the machine has other work, too.
func cpuTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// What a question costs after a delivery, with the answers of before stored.
func BenchmarkDelivered(b *testing.B) {
	for _, ask := range []string{"sort-date", "thread", "both"} {
		b.Run("ask="+ask+"/msgs=50000_msgs", func(b *testing.B) {
			c := fsys.Counting(fsys.Unsynced(fsys.OS))
			d := &delivering{t: b, shelf: indextest.NewShelf()}
			dir := b.TempDir()
			d.open(dir, c, "envelope")
			for d.n < 50000 {
				d.deliver(1000)
			}
			if _, err := d.box.Thread(thread.References, index.Search{}); err != nil {
				b.Fatal(err)
			}
			n, cpu, before := 0, int64(0), fsys.Counts{}
			for b.Loop() {
				d.deliver(1)
				from, at := cpuTime(), c.Counts()
				if ask != "thread" {
					if _, err := d.box.Sort([]mailsort.Criterion{{Key: mailsort.Date}}, index.Search{}); err != nil {
						b.Fatal(err)
					}
				}
				if ask != "sort-date" {
					if _, err := d.box.Thread(thread.References, index.Search{}); err != nil {
						b.Fatal(err)
					}
				}
				cpu += cpuTime() - from
				before.BytesWritten += c.Counts().Sub(at).BytesWritten
				n++
			}
			b.ReportMetric(float64(cpu)/float64(n)/1e6, "cpu-ms/op")
			b.ReportMetric(float64(before.BytesWritten)/float64(n), "written-B/op")
		})
	}
}
