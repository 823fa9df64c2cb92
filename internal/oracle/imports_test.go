package oracle

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// An oracle that shared code with what it checks would check nothing.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if strings.HasPrefix(imp.Path.Value, `"mailbench/`) {
				t.Errorf("%s imports %s", name, imp.Path.Value)
			}
		}
	}
}
