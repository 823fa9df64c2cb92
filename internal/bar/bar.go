// Package bar shows progress on the terminal.
package bar

import (
	"os"

	"github.com/schollz/progressbar/v3"

	"mailbench/corpus"
)

// bar shows progress on the terminal itself: go test merges the standard
// outputs, and nothing may stand between the rows of a benchmark.
type bar struct {
	tty *os.File
	p   *progressbar.ProgressBar
}

// New returns a bar on /dev/tty, or nil without a terminal.
func New() corpus.Progress {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return &bar{tty: tty}
}

func (b *bar) Start(what string, total int) {
	b.p = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.tty),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(200_000_000),
		progressbar.OptionClearOnFinish())
}

func (b *bar) Add(n int) {
	if b.p != nil {
		_ = b.p.Add(n) // a terminal that has gone is no reason to stop
	}
}

func (b *bar) Done() {
	if b.p != nil {
		_ = b.p.Finish()
	}
}
