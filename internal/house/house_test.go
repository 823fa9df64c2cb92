// Package house holds the rules of the house: who may import whom, and that
// index files are touched through internal/fsys only.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors gives each folder its floor in the tower: a package imports only
// from floors below its own. The longest matching folder counts.
var floors = map[string]int{
	"internal/fsys": 0, "internal/rfc5322": 0, "internal/decimal": 0, "internal/tempdir": 0, "maildir": 1, "mbox": 1,
	"sort": 2, "thread": 3,
	"index/blockfile": 4, "index": 5, "index/scan": 6, "index/column": 6, "index/envelope": 6, "index/linked": 6,
	"index/sqlidx": 6, "index/bboltidx": 6, "index/pebbleidx": 6, "index/tier": 6, "index/example": 6, "index/designs": 7,
	"corpus/source": 6, "corpus/stat": 7, "internal/explain": 7, "index/indextest": 8,
	"store": 6, "store/catalog": 7, "store/maildir": 8, "store/mbox": 8, "store/cydir": 8, "store/sdbox": 8, "store/mdbox": 8,
	"store/sql": 8, "store/storetest": 8, "store/formats": 9, "store/box": 10, "internal/mime": 0,
	"internal/session": 11,
	"peer/proc":        8, "peer/clone": 9, "peer/imap": 8, "peer": 10, "suite": 11, "cmd": 12, "": 13,

	// Apart: the corpus and what checks others know nothing of them.
	"corpus": 0, "internal/oracle": 0,
	"internal/temp": 0, "internal/meter": 1, "internal/floor": 4, "internal/bar": 1,
}

// apart import nothing of the house at all, in their code.
var apart = []string{"corpus", "internal/oracle"}

// testsOnly are folders with tests and no code; they may import anything.
var testsOnly = []string{"internal/house", "internal/conform"}

// A source is a Go file of the module.
type source struct {
	folder string
	name   string
	file   *ast.File
}

func sources(t *testing.T, fset *token.FileSet) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(rel))
		if folder == "." {
			folder = ""
		}
		out = append(out, source{folder, filepath.ToSlash(rel), f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d Go files found: looking in the wrong place", len(out))
	}
	return out
}

func floorOf(folder string) (int, bool) {
	for f := folder; ; f = parent(f) {
		if n, ok := floors[f]; ok {
			return n, f != "" || folder == ""
		}
		if f == "" {
			return 0, false
		}
	}
}

func parent(folder string) string {
	if i := strings.LastIndexByte(folder, '/'); i >= 0 {
		return folder[:i]
	}
	return ""
}

// TestImports_runOneWay holds the tower: no package imports upwards or
// sideways, and those apart import nothing of the house.
func TestImports_runOneWay(t *testing.T) {
	for _, s := range sources(t, token.NewFileSet()) {
		if strings.HasSuffix(s.name, "_test.go") || slices.Contains(testsOnly, s.folder) {
			continue // a test may look at what it tests from above
		}
		mine, ok := floorOf(s.folder)
		if !ok {
			t.Errorf("%s: folder %q has no floor in this test's table", s.name, s.folder)
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			folder, ours := strings.CutPrefix(path, "mailbench/")
			if !ours {
				continue
			}
			theirs, ok := floorOf(folder)
			if !ok || theirs >= mine && folder != s.folder {
				t.Errorf("%s imports %s: not below it", s.name, path)
			}
			if slices.Contains(apart, s.folder) {
				t.Errorf("%s imports %s: %s stands apart", s.name, path, s.folder)
			}
		}
	}
}

// osFile are the functions of package os that touch files.
var osFile = strings.Fields("Open OpenFile Create CreateTemp ReadFile WriteFile Rename Remove RemoveAll Truncate " +
	"Mkdir MkdirAll MkdirTemp ReadDir Stat Lstat Link Symlink Chtimes")

// TestIndex_filesThroughFsys holds that designs and stores reach files only
// through internal/fsys, where crashes are recorded and calls counted.
func TestIndex_filesThroughFsys(t *testing.T) {
	for _, s := range sources(t, token.NewFileSet()) {
		in := strings.SplitN(s.folder, "/", 2)[0]
		if in != "index" && in != "store" || strings.HasSuffix(s.name, "_test.go") || s.folder == "index/indextest" || s.folder == "store/storetest" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" && slices.Contains(osFile, sel.Sel.Name) {
				t.Errorf("%s calls os.%s: use internal/fsys", s.name, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestDependencies_areUsed holds that every dependency the user or an issue
// chose does real work: it is imported by code that is not a test.
func TestDependencies_areUsed(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t, token.NewFileSet()) {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			used[path] = true
		}
	}
	for _, dep := range []string{"github.com/emersion/go-message", "github.com/cespare/xxhash/v2",
		"github.com/klauspost/compress", "golang.org/x/text", "github.com/dgraph-io/ristretto/v2",
		"modernc.org/sqlite", "go.etcd.io/bbolt", "github.com/cockroachdb/pebble/v2", "github.com/hashicorp/golang-lru/v2"} {
		found := false
		for path := range used {
			found = found || path == dep || strings.HasPrefix(path, dep+"/")
		}
		if !found {
			t.Errorf("no code imports %s", dep)
		}
	}
}

// TestFiles_areRooms holds that no file of code grows over 600 lines.
func TestFiles_areRooms(t *testing.T) {
	for _, s := range sources(t, token.NewFileSet()) {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", "..", s.name))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > 600 {
			t.Errorf("%s has %d lines: split it", s.name, n)
		}
	}
}
