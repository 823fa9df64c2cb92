package index

import (
	"sync"
	"testing"
	"time"
)

func TestPhases(t *testing.T) {
	var p Phases
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := p.Begin(PhaseRead)
			time.Sleep(5 * time.Millisecond)
			s.End()
			p.Mail(100)
		})
	}
	wg.Wait()
	if got := p.Total(PhaseRead); got < 20*time.Millisecond {
		t.Errorf("four spans of 5 ms are %v", got)
	}
	if n, bytes := p.Mails(); n != 4 || bytes != 400 {
		t.Errorf("%d mails, %d bytes", n, bytes)
	}
	for ph := range NumPhases {
		if ph.String() == "" || ph != PhaseRead && p.Total(ph) != 0 {
			t.Errorf("%d %q: %v", ph, ph, p.Total(ph))
		}
	}
}

// Marks on nobody's clock record nothing and allocate nothing.
func TestPhases_nil(t *testing.T) {
	var p *Phases
	if n := testing.AllocsPerRun(100, func() {
		defer p.Begin(PhaseSort).End()
		p.Mail(1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
