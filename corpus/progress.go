package corpus

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is told how a long task goes on, from one goroutine. A nil Progress
// is allowed everywhere.
type Progress interface {
	Start(what string, total int)
	Add(n int)
	Done()
}

// Terminal returns a progress bar on the controlling terminal, or nil if there
// is none. It writes neither to standard output nor to standard error, which
// belong to results.
func Terminal() Progress {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return &terminal{tty: tty}
}

type terminal struct {
	tty *os.File
	bar *progressbar.ProgressBar
}

func (t *terminal) Start(what string, total int) {
	t.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(t.tty), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish())
}

func (t *terminal) Add(n int) {
	if t.bar != nil {
		_ = t.bar.Add(n) // a terminal that has gone is no reason to stop
	}
}

func (t *terminal) Done() {
	if t.bar != nil {
		_ = t.bar.Finish()
	}
}

// quiet is the Progress of those who want none.
type quiet struct{}

func (quiet) Start(string, int) {}
func (quiet) Add(int)           {}
func (quiet) Done()             {}

func orQuiet(p Progress) Progress {
	if p == nil {
		return quiet{}
	}
	return p
}
