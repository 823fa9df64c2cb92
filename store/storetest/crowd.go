package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// A fate is what one message of a crowd was promised, in numbers of events.
type fate struct {
	msg         store.Message
	key         string
	begun, kept int // its append, and the return of that
	going, gone int // its expunge, and the return of that; 0: none
}

// crowd: several goroutines append and expunge at the same time, so that what one
// of them makes last stands beside what another has half done; the machine stops at
// any event, and each has what it was told it has.
func crowd(t *testing.T, k *kit) {
	root := filepath.Join(k.temp(t), "mail")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := fsys.NewLog(fsys.OS, root)
	if err != nil {
		t.Fatal(err)
	}
	cfg := k.configIn(t, root)
	cfg.FS = fsys.Recording(quick, log)
	st := k.open(t, cfg)
	const many = 8
	fates := make([][]*fate, many)
	errs := make(chan error, many)
	var wg sync.WaitGroup
	for c := range many {
		wg.Go(func() {
			var err error
			fates[c], err = k.promised(st, log, k.rand(uint64(900+c)))
			errs <- err
		})
	}
	wg.Wait()
	for range many {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { st.Close() })
	all := map[string]*fate{}
	var points []int
	for _, fs := range fates {
		for _, f := range fs {
			all[string(f.msg.Body)] = f
			points = append(points, f.kept)
			if f.gone > 0 {
				points = append(points, f.gone)
			}
		}
	}
	r := k.rand(950)
	for range 40 {
		points = append(points, r.IntN(log.Len()+1))
	}
	for _, n := range points {
		for _, c := range []fsys.Crash{{Data: fsys.Lost, Names: fsys.Lost}, {Data: fsys.Mixed, Names: fsys.Mixed, Seed: r.Uint64()}} {
			dir, err := os.MkdirTemp(k.temp(t), "crowd")
			if err != nil {
				t.Fatal(err)
			}
			if err := log.Replay(dir, n, c); err != nil {
				t.Fatal(err)
			}
			if wrong := k.keeps(at(cfg, dir, quick), all, n); wrong != "" {
				t.Fatalf("event %d of %d, crash %v: %s", n, log.Len(), c, wrong)
			}
			os.RemoveAll(dir)
		}
	}
}

// promised is what one of the crowd does.
func (k *kit) promised(st store.Store, log *fsys.Log, r *rand.Rand) (fates []*fate, err error) {
	for range 5 {
		var msgs []store.Message
		for len(msgs) < 1+r.IntN(3) {
			if m := k.newMessage(r); bytes.Contains(m.Body, []byte("Message-ID: <")) { // no two alike
				msgs = append(msgs, m)
			}
		}
		begun := log.Len()
		keys, err := st.Append(msgs)
		if err != nil {
			return nil, err
		}
		for i := range msgs {
			fates = append(fates, &fate{msg: msgs[i], key: keys[i], begun: begun, kept: log.Len()})
		}
		if f := fates[r.IntN(len(fates))]; r.IntN(2) == 0 && f.gone == 0 {
			f.going = log.Len()
			if err := st.Expunge([]string{f.key}); err != nil {
				return nil, err
			}
			f.gone = log.Len()
		}
	}
	return fates, nil
}

// keeps opens what a crash after event n has left, and compares it with what had
// been promised by then.
func (k *kit) keeps(cfg store.Config, all map[string]*fate, n int) string {
	st, err := store.Open(k.f, cfg)
	if err != nil {
		return fmt.Sprintf("open: %v", err)
	}
	defer st.Close()
	src := st.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return fmt.Sprintf("list: %v", err)
	}
	there := map[*fate]bool{}
	for i := range l.Entries {
		e := &l.Entries[i]
		b, err := src.ReadMessage(e, nil)
		if err != nil {
			return fmt.Sprintf("message %s: %v", e.Key, err)
		}
		f := all[string(b)]
		switch {
		case f == nil:
			return fmt.Sprintf("message %s is nobody's: %.60q", e.Key, b)
		case there[f]:
			return fmt.Sprintf("message %s is there twice", e.Key)
		case f.begun > n:
			return fmt.Sprintf("message %s is there before its append", e.Key)
		case f.gone > 0 && f.gone <= n:
			return fmt.Sprintf("message %s is there again", e.Key)
		case f.kept <= n && (e.Key != f.key || e.Flags != f.msg.Flags || e.Keywords != f.msg.Keywords):
			return fmt.Sprintf("message %s with flags %v, want %s with %v", strings.Clone(e.Key), e.Flags, f.key, f.msg.Flags)
		}
		there[f] = true
	}
	for _, f := range all {
		if !there[f] && f.kept <= n && (f.going == 0 || f.going > n) {
			return fmt.Sprintf("message %s is lost: it was acknowledged at event %d", f.key, f.kept)
		}
	}
	for err := range st.Check() {
		return fmt.Sprintf("check: %v", err)
	}
	return ""
}
