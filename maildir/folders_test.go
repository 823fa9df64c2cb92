package maildir

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFolders(t *testing.T) {
	root := mailbox(t)
	for _, dir := range []string{".Sent", ".lists.go", ".lists", ".a b", ".M&APw-ll", ".notes/new", "plain", "..gone", ".git/objects", ".x..y"} {
		sub := "cur"
		if filepath.Dir(dir) != "." {
			sub = ""
		}
		if err := os.MkdirAll(filepath.Join(root, dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(root, ".file"), "")
	os.MkdirAll(filepath.Join(root, "elsewhere", "cur"), 0o700)
	os.Symlink("elsewhere", filepath.Join(root, ".linked"))
	folders, err := Folders(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range folders {
		names = append(names, f.Name)
		if _, err := Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
	want := []string{"INBOX", "M&APw-ll", "Sent", "a b", "linked", "lists", "lists/go", "x//y"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if folders, err := Folders(filepath.Join(root, "plain")); err != nil || len(folders) != 1 || folders[0].Name != "INBOX" {
		t.Errorf("a maildir without folders: %v, %v", folders, err)
	}
	if folders, err := Folders(t.TempDir()); err != nil || len(folders) != 0 {
		t.Errorf("an empty directory: %v, %v", folders, err)
	}
	if _, err := Folders(filepath.Join(root, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

func TestKeywords(t *testing.T) {
	dir := t.TempDir()
	if k, err := Keywords(dir); err != nil || len(k) != 0 {
		t.Errorf("no file: %v, %v", k, err)
	}
	put(t, filepath.Join(dir, "dovecot-keywords"), "0 $Forwarded\r\n1 Junk\n\nx y\n-1 no\n26 no\n2\n3 \n25 with space\n1 NonJunk")
	k, err := Keywords(dir)
	want := map[byte]string{'a': "$Forwarded", 'b': "NonJunk", 'z': "with space"}
	if err != nil || !maps.Equal(k, want) {
		t.Errorf("got %q, %v; want %q", k, err, want)
	}
	if got := KeywordNames(1<<25|1<<2|1, k); !slices.Equal(got, []string{"$Forwarded", "with space"}) {
		t.Errorf("KeywordNames: %q", got)
	}
}
