package proc

import (
	"os"
	"testing"
)

// TestMain is also the program that is killed, see victim_linux_test.go.
func TestMain(m *testing.M) {
	Watchdog()
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	os.Exit(m.Run())
}
