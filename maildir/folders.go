package maildir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/internal/fsys"
)

// A Folder is one mailbox of a Maildir++ tree.
type Folder struct {
	Name string // "INBOX", or the parts with '/' between; bytes as on disk, IMAP's modified UTF-7
	Path string
}

// Folders lists the Maildir++ mailboxes below root, sorted by name, INBOX (root
// itself) first: directories that begin with one dot and hold a cur/. The dots
// inside a name separate its parts: ".lists.go" is "lists/go". Symbolic links
// to folders are followed. Names that begin with two dots are no folders;
// Dovecot keeps mailboxes under deletion there. An error of one folder leaves
// it out; only root must be readable.
func Folders(root string) ([]Folder, error) {
	names, err := fsys.OS.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var list []Folder
	for _, dir := range names {
		name, ok := folderName(dir)
		path := filepath.Join(root, dir)
		if ok && hasCur(path) {
			list = append(list, Folder{name, path})
		}
	}
	slices.SortFunc(list, func(a, b Folder) int { return strings.Compare(a.Name, b.Name) })
	if hasCur(root) {
		list = slices.Insert(list, 0, Folder{"INBOX", root})
	}
	return list, nil
}

// folderName turns a directory's name into a folder's.
func folderName(dir string) (name string, ok bool) {
	if len(dir) < 2 || dir[0] != '.' || dir[1] == '.' {
		return "", false
	}
	return strings.ReplaceAll(dir[1:], ".", "/"), true
}

func hasCur(path string) bool {
	st, err := os.Stat(filepath.Join(path, "cur"))
	return err == nil && st.IsDir()
}
