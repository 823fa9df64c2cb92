package peer

import (
	"os"
	"testing"

	"mailbench/peer/proc"
)

func TestMain(m *testing.M) {
	proc.Watchdog()
	os.Exit(m.Run())
}
