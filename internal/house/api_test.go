package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// open are the packages that a design in another module works with.
var open = []string{"index", "index/blockfile", "index/indextest", "index/designs", "index/tier", "corpus/source", "suite", "sort", "thread"}

// TestAPI_namesNothingInternal holds that what those packages export can be
// named by a module that cannot import internal/...: an alias in package index
// is a name.
func TestAPI_namesNothingInternal(t *testing.T) {
	all := sources(t, token.NewFileSet())
	named := aliases(all)
	if len(named) == 0 {
		t.Fatal("package index has no aliases: looking in the wrong place")
	}
	for _, s := range all {
		if !slices.Contains(open, s.folder) || strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		internal := map[string]bool{}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if strings.HasPrefix(path, "mailbench/internal/") {
				name := path[strings.LastIndexByte(path, '/')+1:]
				if imp.Name != nil {
					name = imp.Name.Name
				}
				internal[name] = true
			}
		}
		hold := func(what string, in ast.Node) {
			ast.Inspect(in, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BlockStmt:
					return false
				case *ast.Field: // of a struct or interface: an unexported one is nobody's business
					if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.IsExported() }) && what != "func" {
						return false
					}
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && internal[pkg.Name] && !named[pkg.Name+"."+n.Sel.Name] {
						t.Errorf("%s: exported %s names %s.%s", s.name, what, pkg.Name, n.Sel.Name)
					}
				}
				return true
			})
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv)) {
					hold("func", d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() && !spec.Assign.IsValid() {
							hold("type", spec.Type)
						}
					case *ast.ValueSpec:
						if spec.Type != nil && spec.Names[0].IsExported() {
							hold("variable", spec.Type)
						}
					}
				}
			}
		}
	}
}

// aliases are the types that package index gives another name.
func aliases(all []source) map[string]bool {
	named := map[string]bool{}
	for _, s := range all {
		if s.folder != "index" {
			continue
		}
		for _, d := range s.file.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Assign.IsValid() {
					if sel, ok := spec.Type.(*ast.SelectorExpr); ok {
						named[sel.X.(*ast.Ident).Name+"."+sel.Sel.Name] = true
					}
				}
			}
		}
	}
	return named
}

// receiverExported reports whether a method is one of an exported type.
func receiverExported(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if gen, ok := typ.(*ast.IndexExpr); ok {
		typ = gen.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
