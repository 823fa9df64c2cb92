package indextest

import (
	"path/filepath"
	"sync"
)

// twoReaders: a reader that was open before another compacts or syncs stays
// right, or says that it is stale and is right when opened again. A design
// whose engine lets only one in says so when the second opens.
func twoReaders(t T, k *kit) {
	m := newMailbox(t, k.rand(500))
	for range 20 {
		m.deliver()
	}
	dir := filepath.Join(t.TempDir(), "index")
	k.build(t, m, dir)
	for i := range 6 {
		a := k.mustOpen(t, m, dir)
		if i%2 == 0 {
			mustSync(t, a)
			m.mustAnswer(t, a, true, "before the other compacts")
		}
		b, err := k.open(m, dir, quick)
		if err != nil {
			t.Logf("the second is refused: %v", err)
			mustClose(t, a)
			k.mustSurvive(t, m, dir, "after the second was refused")
			return
		}
		mustSync(t, b)
		if i < 4 {
			if err := b.Compact(); err != nil {
				t.Fatal(err)
			}
			if wrong, err := m.answersWrong(a, true); wrong != "" {
				t.Fatalf("when another has compacted: %s (%v)", wrong, err)
			}
		} else {
			k.during(t, m, a, b)
		}
		m.mutate()
		mustSync(t, b)
		m.mustAnswer(t, b, true, "the one that compacted")
		if _, err := a.Sync(); err == nil {
			m.mustAnswer(t, a, true, "the one that did not compact")
		}
		mustClose(t, a)
		mustClose(t, b)
		k.mustSurvive(t, m, dir, "after two readers")
	}
}

// during: a asks while b compacts.
func (k *kit) during(t T, m *mailbox, a, b *opened) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		defer close(done)
		for range 3 {
			if err = b.Compact(); err != nil {
				return
			}
		}
	})
	asked, wrong := false, ""
	for running := true; running || !asked; asked = true {
		select {
		case <-done:
			running = false
		default:
		}
		if wrong, _ = m.answersWrong(a, true); wrong != "" {
			break
		}
	}
	wg.Wait()
	if wrong != "" {
		t.Fatalf("while another compacts: %s", wrong)
	}
	if err != nil {
		t.Fatalf("compact while another reads: %v", err)
	}
}
