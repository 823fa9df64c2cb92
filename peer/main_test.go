package peer

import (
	"fmt"
	"os"
	"testing"

	"mailbench/peer/proc"
)

func TestMain(m *testing.M) {
	proc.Watchdog()
	if os.Getenv(asImaptest) != "" {
		if err := standIn(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
