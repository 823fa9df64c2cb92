package peer

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rootOf is the directory below which a program is that the user has named: that
// of a package unpacked by dpkg -x. "" when it is at none of the places.
func rootOf(program string, places []string) string {
	for _, place := range places {
		if root, ok := strings.CutSuffix(program, "/"+place); ok {
			return root
		}
	}
	return ""
}

// libraryDirs are the directories below root in which libraries are. None for
// what is installed: the system knows its own.
func libraryDirs(root string) (dirs []string) {
	if root == "" || root == "/" {
		return nil
	}
	for _, pattern := range []string{"usr/lib", "usr/lib/*-linux-*", "lib/*-linux-*", "usr/lib64", "lib64"} {
		found, err := filepath.Glob(globQuote(root) + "/" + pattern)
		if err == nil {
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// lackingLibraries are the shared libraries that program or one of those below
// dirs needs and that are nowhere. Empty for a program that is installed (dirs
// is empty) or cannot be read: its start will tell.
func lackingLibraries(program string, dirs []string) (lacking []string) {
	if len(dirs) == 0 {
		return nil
	}
	where := slices.Clone(dirs)
	for _, pattern := range []string{"/lib/*-linux-*", "/usr/lib/*-linux-*", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"} {
		found, err := filepath.Glob(pattern)
		if err == nil {
			where = append(where, found...)
		}
	}
	seen := map[string]bool{}
	for todo := []string{program}; len(todo) > 0; todo = todo[1:] {
		for _, name := range neededLibraries(todo[0]) {
			if seen[name] {
				continue
			}
			seen[name] = true
			i := slices.IndexFunc(where, func(dir string) bool {
				_, err := os.Stat(filepath.Join(dir, name))
				return err == nil
			})
			switch {
			case i < 0:
				lacking = append(lacking, name)
			case i < len(dirs):
				todo = append(todo, filepath.Join(where[i], name))
			}
		}
	}
	return lacking
}

func neededLibraries(path string) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	return names
}
