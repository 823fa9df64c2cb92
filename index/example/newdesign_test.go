package example

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// commands are the shell blocks of a document, in order.
func commands(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	inside := false
	for line := range strings.Lines(string(b)) {
		switch {
		case strings.TrimSpace(line) == "```sh":
			inside = true
		case strings.TrimSpace(line) == "```":
			inside = false
		case inside:
			out.WriteString(line)
		}
	}
	return out.String()
}

// goEnv asks for a setting that the module outside must share with this one.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return name + "=" + strings.TrimSpace(string(out))
}

// fewerLinks vets what two of the four calls of go test would run: linking every
// engine takes longer than all else here. The parts of the kit are run on the
// same code by TestConformance, and package suite's tests are a run with a
// TestMain; MAILBENCH_LONG leaves the commands as they are.
func fewerLinks(t *testing.T, script string) string {
	t.Helper()
	vetted := 0
	var out strings.Builder
	for line := range strings.Lines(script) {
		switch {
		case strings.Contains(line, "-run 'Conformance/"), strings.Contains(line, "| tee both.txt"):
			vetted++
			line = "go vet -mod=mod .\n"
		case strings.HasSuffix(line, " both.txt\n"):
			continue
		}
		out.WriteString(line)
	}
	if vetted != 2 {
		t.Fatalf("%d calls of go test to vet instead, want 2", vetted)
	}
	return out.String()
}

// The commands of docs/NEW-DESIGN.md, run as they stand there in an empty
// folder, make a module outside of this one whose design has its rows.
func TestNewDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs another module")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	script := commands(t, filepath.Join(root, "docs", "NEW-DESIGN.md"))
	if n := strings.Count(script, "go test"); n < 4 {
		t.Fatalf("%d calls of go test in the document", n)
	}
	if strings.Contains(script, "export ") {
		t.Error("the document changes the shell for what comes after it")
	}
	if os.Getenv("MAILBENCH_LONG") == "" {
		script = fewerLinks(t, script)
	}
	cmd := exec.Command("sh", "-eu", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "MAILBENCH_") }), goEnv(t, "GOCACHE"), goEnv(t, "GOMODCACHE"),
		"MAILBENCH="+root, "XDG_CACHE_HOME="+filepath.Join(cmd.Dir, "cache"), "MAILBENCH_ALLOW_TMPFS=1",
		"GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local", "GO111MODULE=on")
	// A pipe hides the status of go test: what must not be there is looked for.
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "FAIL") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"BenchmarkMailbench/bench=SelectFirst/design=mine/",
		"BenchmarkMailbench/bench=SortSubject/design=mine/",
		"corpus-messages: 300",
		"damage design=mine kind=flip",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in the output", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
