package peer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRootOf(t *testing.T) {
	places := []string{"usr/bin/imapd", "usr/lib/x/imapd"}
	for program, want := range map[string]string{
		"/a/b/usr/bin/imapd": "/a/b", "/a/usr/lib/x/imapd": "/a", "/usr/bin/imapd": "", "/a/bin/imapd": "", "/ausr/bin/imapd": "",
	} {
		if got := rootOf(program, places); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

func TestLibraryDirs(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a[b]") // no pattern
	for _, dir := range []string{"usr/lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "usr/lib/other", "usr/lib64"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{root + "/usr/lib", root + "/usr/lib/x86_64-linux-gnu", root + "/lib/aarch64-linux-gnu", root + "/usr/lib64"}
	if got := libraryDirs(root); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, installed := range []string{"", "/"} {
		if got := libraryDirs(installed); got != nil {
			t.Errorf("%q: %q", installed, got)
		}
	}
}

// TestLackingLibraries takes Courier's own directories away from its imapd.
func TestLackingLibraries(t *testing.T) {
	bin, err := (&courier{}).find()
	if err != nil {
		t.Skip(err)
	}
	if len(bin.libraries) == 0 {
		t.Skip("courier is installed, not unpacked: the system finds its libraries")
	}
	if got := lackingLibraries(bin.imapd, bin.libraries); len(got) > 0 {
		t.Errorf("with its own directories: %q", got)
	}
	empty := []string{t.TempDir()}
	if got := lackingLibraries(bin.imapd, empty); !slices.Contains(got, "libcourierauth.so.0") {
		t.Errorf("without: %q", got)
	}
	if got := lackingLibraries(filepath.Join(empty[0], "none"), empty); got != nil {
		t.Errorf("of no program: %q", got)
	}
}
