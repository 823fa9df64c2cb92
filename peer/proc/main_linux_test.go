package proc

import (
	"os"
	"testing"
)

// TestMain is also the program that is killed (victim_linux_test.go) and the
// child that is measured (process_linux_test.go).
func TestMain(m *testing.M) {
	Watchdog()
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(m.Run())
}
