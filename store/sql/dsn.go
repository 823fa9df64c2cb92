package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"mailbench/internal/fsys"
)

// The distributions' SQLite commits with fdatasync(2); this build has to be told.
func init() { sqlite.Fdatasync(true) }

// dialTimeout bounds how long a server may take to answer a new connection.
const dialTimeout = 10 * time.Second

// embedded makes the pool of the SQLite file at path.
func embedded(path string, noSync bool, conns int) *pool {
	return sqliteFile(path, noSync, conns, false)
}

// sqliteFile is embedded. alone: the file is locked, by one connection; it then
// needs no shared memory, which is a file of 32 KB that a full disk has no space for.
func sqliteFile(path string, noSync bool, conns int, alone bool) *pool {
	if alone {
		conns = 1
	}
	sync := "FULL"
	if noSync {
		sync = "OFF"
	}
	name := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) + "?mode=rwc"
	connect := func() (driver.Conn, error) { return new(sqlite.Driver).Open(name) }
	setup := []string{"PRAGMA busy_timeout = 10000", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON"}
	if !filled(fsys.OS, path) {
		// Only a database that is made now is told. A message changes a dozen pages
		// here and there: with 8 KiB pages twice as many bytes are written. Into one
		// that is there auto_vacuum would be written each time, and on a full disk it
		// could not be opened.
		setup = append(setup, "PRAGMA page_size = 4096", "PRAGMA auto_vacuum = INCREMENTAL")
	}
	if alone {
		setup = append(setup, "PRAGMA locking_mode = EXCLUSIVE")
	}
	return newPool(sqliteDialect, connect, append(setup,
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = "+sync, "PRAGMA foreign_keys = ON",
		"PRAGMA cache_size = -8192", "PRAGMA wal_autocheckpoint = 4096",
	), conns)
}

// CheckDSN tells what is wrong with the text of dsn, which names a server, as
// one that Extra has. It does not connect, and shows no password.
func CheckDSN(dsn string) error {
	_, err := server(dsn, false, 1)
	return err
}

// Reach connects to the server of dsn once and tells why that fails. It waits
// ten seconds at most, if dsn does not say otherwise.
func Reach(dsn string) error {
	p, err := server(dsn, false, 1)
	if err != nil {
		return err
	}
	return errors.Join(p.read(func(*session) error { return nil }), p.close())
}

// server makes the pool of a server.
func server(dsn string, noSync bool, conns int) (*pool, error) {
	scheme, _, _ := strings.Cut(dsn, "://")
	switch scheme {
	case "postgres", "postgresql":
		return postgres(dsn, noSync, conns)
	case "mysql", "mariadb":
		return mariadb(dsn, conns)
	}
	return nil, errors.New("dsn: it begins with postgres:// or mysql://, or is empty for the embedded SQLite")
}

func postgres(dsn string, noSync bool, conns int) (*pool, error) {
	cfg, err := pgx.ParseConfig(dsn) // its errors do not show the password
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = dialTimeout
	}
	// A server may be set either way; what was asked for counts. A stronger
	// setting (remote_apply of a cluster) stays, see promise.
	var setup []string
	if noSync {
		setup = append(setup, "SET synchronous_commit = off")
	}
	connector := stdlib.GetConnector(*cfg)
	return newPool(postgresDialect, func() (driver.Conn, error) { return connector.Connect(context.Background()) }, setup, conns), nil
}

func mariadb(dsn string, conns int) (*pool, error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	return newPool(mariadbDialect, func() (driver.Conn, error) { return connector.Connect(context.Background()) }, []string{
		// A transaction sees the rows that another one has just committed and
		// that its INSERT IGNORE has passed over.
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		"SET SESSION foreign_key_checks = 1, unique_checks = 1, innodb_lock_wait_timeout = 10",
	}, conns), nil
}

// mysqlConfig reads mysql://user:password@host:port/database, with
// ?socket=/path for a unix socket and ?tls=true, skip-verify or preferred.
func mysqlConfig(dsn string) (*mysql.Config, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		// The error of net/url shows the whole text, with the password.
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, fmt.Errorf("dsn: %w", err)
	}
	cfg := mysql.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.Net, cfg.Addr = "tcp", u.Host
	if u.Port() == "" {
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.Timeout = dialTimeout
	cfg.Logger = silent{}
	if cfg.DBName == "" {
		return nil, errors.New("dsn: no database: mysql://user:password@host:port/database")
	}
	for key, values := range u.Query() {
		value := values[len(values)-1]
		switch key {
		case "socket":
			cfg.Net, cfg.Addr = "unix", value
		case "tls":
			cfg.TLSConfig = value
		default:
			return nil, fmt.Errorf("dsn: unknown parameter %q: there are socket and tls", key)
		}
	}
	return cfg, nil
}

// silent keeps the driver from writing to stderr what it also returns.
type silent struct{}

func (silent) Print(...any) {}

// promise refuses a server whose own settings break what Append promises
// without NoSync: that an acknowledged message survives a power cut.
func (p *pool) promise() error {
	return p.read(func(c *session) error {
		switch p.d {
		case postgresDialect:
			for _, name := range []string{"fsync", "synchronous_commit"} {
				v, err := c.text("SELECT current_setting('" + name + "')")
				if err != nil {
					return err
				}
				if v == "off" {
					return fmt.Errorf("the server has %s=off: it does not promise what fsync=always and group do; fsync=never can be used with it", name)
				}
			}
		case mariadbDialect:
			n, _, err := c.integer("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit")
			if err != nil {
				return err
			}
			if n != 1 && n != 3 {
				return fmt.Errorf("the server has innodb_flush_log_at_trx_commit=%d: it does not promise what fsync=always and group do; fsync=never can be used with it", n)
			}
		}
		return nil
	})
}
