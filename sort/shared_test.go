package sort

import (
	"os"
	"path/filepath"
	"testing"
)

// shared finds the folder with cases, corpora and answers beside the project.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	for _, dir := range []string{os.Getenv("MAILBENCH_SHARED"), "../shared", "../../shared", "../../../shared"} {
		if dir == "" {
			continue
		}
		path := filepath.Join(append([]string{dir}, elem...)...)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("%s is not beside the project", filepath.Join(elem...))
	return ""
}
