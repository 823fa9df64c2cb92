// Package formats lists the mail stores that there are.
package formats

import (
	"strings"

	"mailbench/store"
	"mailbench/store/cydir"
	"mailbench/store/maildir"
	"mailbench/store/mbox"
	"mailbench/store/mdbox"
	"mailbench/store/sdbox"
	sqlstore "mailbench/store/sql"
)

// all are the formats in the order in which tables show them.
var all = []store.Format{maildir.Format, mbox.Format, cydir.Format, sdbox.Format, mdbox.Format, sqlstore.Format}

// All returns every format in the order of the tables.
func All() []store.Format { return append([]store.Format(nil), all...) }

// Lookup returns the format of a name.
func Lookup(name string) (store.Format, bool) {
	for _, f := range all {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// Names lists the names, separated by commas, for messages and help.
func Names() string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name())
	}
	return strings.Join(names, ",")
}
