package sqlstore

import (
	"os"
	"testing"

	"mailbench/store"
	"mailbench/store/storetest"
)

// An engine is a database that the tests can use.
type engine struct {
	name string
	dsn  string
}

// servers are the variables that .ci/sql-servers sets.
var servers = []struct{ name, variable string }{
	{"postgres", "MAILBENCH_TEST_POSTGRES"},
	{"mariadb", "MAILBENCH_TEST_MARIADB"},
}

// onEngines runs f on SQLite and on the servers that there are.
func onEngines(t *testing.T, f func(t *testing.T, e engine)) {
	t.Run("engine=sqlite", func(t *testing.T) { f(t, engine{name: "sqlite"}) })
	for _, s := range servers {
		t.Run("engine="+s.name, func(t *testing.T) {
			dsn := os.Getenv(s.variable)
			if dsn == "" {
				t.Skip(s.variable + " is not set: .ci/sql-servers starts a server")
			}
			f(t, engine{s.name, dsn})
		})
	}
}

// config is that of a new mailbox, which a server forgets after the test.
func (e engine) config(t testing.TB, dir string) store.Config {
	cfg := store.Config{Dir: dir, NoSync: true, Extra: map[string]string{"dsn": e.dsn}}
	if e.dsn != "" {
		t.Cleanup(func() {
			if _, err := os.Stat(dir + "/" + identity); err == nil {
				if err := Remove(cfg); err != nil {
					t.Errorf("remove: %v", err)
				}
			}
		})
	}
	return cfg
}

func TestStore(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		storetest.RunWith(t, Format, storetest.Options{Config: e.config, OwnIO: true, Short: true})
	})
}

func TestExtremes(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		storetest.Extremes(t, Format, storetest.Options{Config: e.config, OwnIO: true})
	})
}
