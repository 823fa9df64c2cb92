package suite

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mailbench/store/formats"
	sqlstore "mailbench/store/sql"
)

// defaultStores are those of a run that names none: the format that most
// people have, and the one that Dovecot's own figures are about.
var defaultStores = []string{"maildir", "mdbox"}

// pickStores finds the stores that are written to. The name sql stands for the
// embedded database and for those of -dsn. A -dsn that no row would use is an
// error: rows of the embedded one would be taken for those of the server.
func (r *Runner) pickStores() error {
	known := r.cfg.Formats
	if len(known) == 0 {
		known = formats.All()
	}
	bases, err := databases(r.cfg.DSNs)
	if err != nil {
		return err
	}
	var all []shelf
	for _, f := range known {
		all = append(all, shelf{name: f.Name(), format: f})
		if f.Name() == "sql" {
			for _, b := range bases {
				all = append(all, shelf{name: b.name, format: f, extra: map[string]string{"dsn": b.dsn}})
			}
		}
	}
	r.shelf = nil
	if r.cfg.Stores == "" || r.cfg.Stores == "all" {
		r.shelf = all
	} else if err := r.pickNamed(all); err != nil {
		return err
	}
	if len(bases) > 0 && !slices.ContainsFunc(r.shelf, shelf.remote) {
		return fmt.Errorf("-dsn is not used: store sql is not among -stores %s", r.cfg.Stores)
	}
	return nil
}

func (r *Runner) pickNamed(all []shelf) error {
	for name := range strings.SplitSeq(r.cfg.Stores, ",") {
		name = strings.TrimSpace(name)
		n := 0
		for _, s := range all {
			if s.name != name && (name != "sql" || !s.remote()) {
				continue
			}
			n++
			if !r.hasStore(s.name) {
				r.shelf = append(r.shelf, s)
			}
		}
		if n == 0 {
			var names []string
			for _, s := range all {
				names = append(names, s.name)
			}
			hint := ""
			if strings.HasPrefix(name, "sql:") {
				hint = "; databases are named by -dsn"
			}
			return fmt.Errorf("-stores %s: no store %q (there are %s%s)", r.cfg.Stores, name, strings.Join(names, ", "), hint)
		}
	}
	return nil
}

func (r *Runner) hasStore(name string) bool {
	return slices.ContainsFunc(r.shelf, func(s shelf) bool { return s.name == name })
}

// A database is one of -dsn.
type database struct{ name, dsn string }

// databases takes -dsn apart and names each after its engine. What stands there
// may hold a password and is not shown.
func databases(dsns string) ([]database, error) {
	var out []database
	seen := map[string]int{}
	for dsn := range strings.FieldsSeq(dsns) {
		if err := sqlstore.CheckDSN(dsn); err != nil {
			return nil, fmt.Errorf("-%s", oneLine(err))
		}
		engine, _, _ := strings.Cut(dsn, "://")
		name := "sql:" + plainValue(engine)
		if seen[name]++; seen[name] > 1 {
			name += "." + strconv.Itoa(seen[name])
		}
		out = append(out, database{name, dsn})
	}
	return out, nil
}

// oneLine is the text of err with what it has in lines of its own behind each
// other, the same line once.
func oneLine(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": ")
}

// isDefaultStore reports whether the default rows have that store: one that
// was asked for, or that is the house's own default.
func (r *Runner) isDefaultStore(s shelf) bool {
	return r.cfg.Stores != "" || len(r.cfg.Formats) > 0 || s.remote() || slices.Contains(defaultStores, s.name)
}

// reach connects once to each database that a row which will be run is to write
// to, and says so where that fails: those rows are skipped. Found out by every
// row, it would take each of them as long as a server may take to answer.
func (r *Runner) reach(w io.Writer, bench string) {
	chosen, err := parsePattern(bench)
	if err != nil {
		return // go test says so
	}
	tried := map[string]bool{}
	for _, row := range r.workRows() {
		if r.cfg.Rows == "default" && !row.Default || !chosen.matches(row.Name()) {
			continue
		}
		name := row.value("store")
		i := slices.IndexFunc(r.shelf, func(s shelf) bool { return s.name == name })
		if tried[name] || i < 0 || !r.shelf[i].remote() {
			continue
		}
		tried[name] = true
		if err := sqlstore.Reach(r.shelf[i].extra["dsn"]); err != nil {
			if r.unreached == nil {
				r.unreached = map[string]string{}
			}
			r.unreached[name] = "the database cannot be reached: " + oneLine(err)
			fmt.Fprintf(w, "# store %s: %s; its rows are skipped\n", name, r.unreached[name])
		}
	}
}
