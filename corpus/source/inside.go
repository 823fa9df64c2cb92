package source

import (
	"path/filepath"
	"strings"
)

// Inside reports whether dir, which need not exist, is the mail at path or lies
// inside it, whatever symbolic links lead there. Nothing may be written to such
// a place.
func Inside(path, dir string) bool {
	rel, err := filepath.Rel(resolved(path), resolved(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// resolved is the absolute path without symbolic links as far as it exists.
func resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for p := abs; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return abs
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}
