package linked

import (
	"fmt"
	"strconv"
	"strings"

	"mailbench/index"
)

// Values of fsync.
const (
	fsyncOptimized = "optimized"
	fsyncAlways    = "always"
	fsyncNever     = "never"
)

// options are Options.Extra, read.
type options struct {
	fsync                                  string
	purgeDeleted, purgeContinued, purgeMin int64
	purgeBlocks                            int
	fieldDrop                              int64
	cacheMax                               int64
	recordMax                              int
	rewriteMin                             int64
	logRotate, logRotateMin, logMinAge     int64
	cacheFields, alwaysFields, neverFields []string
	pread                                  bool
}

var extras = []index.Extra{
	{Name: "fsync", Values: []string{fsyncOptimized, fsyncAlways, fsyncNever}, Help: "when to wait for the disk: for what mail cannot tell again, for everything, never (mail_fsync)"},
	{Name: "purge-deleted-pct", Values: []string{"20", "5", "50", "1000"}, Help: "purge the cache when this share of its messages is expunged (mail_cache_purge_delete_percentage)", Trigger: true},
	{Name: "purge-continued-pct", Values: []string{"200", "20", "1000"}, Help: "purge when there are so many continued records per 100 messages (mail_cache_purge_continued_percentage)", Trigger: true},
	{Name: "purge-min-size", Values: []string{"32768", "1048576"}, Help: "never purge a smaller cache file, bytes (mail_cache_purge_min_size)", Trigger: true},
	{Name: "purge-header-continue", Values: []string{"4"}, Help: "purge when the registry continues so often (mail_cache_purge_header_continue_count)"},
	{Name: "unaccessed-field-drop", Values: []string{"2592000"}, Help: "seconds after which an unused field is cached for less (mail_cache_unaccessed_field_drop)"},
	{Name: "cache-max-size", Values: []string{"1073741824"}, Help: "a larger cache file starts anew, empty, bytes (mail_cache_max_size)"},
	{Name: "record-max-size", Values: []string{"65536"}, Help: "a larger record is not cached, bytes (mail_cache_record_max_size)"},
	{Name: "index-rewrite-min", Values: []string{"8192", "1048576"}, Help: "write the index anew when more than this of the log had to be read, bytes"},
	{Name: "log-rotate-size", Values: []string{"1048576", "65536"}, Help: "begin a new log above this, bytes"},
	{Name: "log-rotate-min", Values: []string{"32768"}, Help: "and above this, if it is old enough, bytes"},
	{Name: "log-rotate-age", Values: []string{"300"}, Help: "which is this, seconds"},
	{Name: "cache-fields", Values: []string{"flags", "flags hdr.date date.sent"}, Help: "fields that a new cache file is to have, temp (mail_cache_fields)"},
	{Name: "always-cache-fields", Values: []string{""}, Help: "fields cached for good (mail_always_cache_fields)"},
	{Name: "io", Values: []string{"mmap", "pread"}, Help: "the cache file is mapped, or read page by page as it is looked at (mmap_disable)"},
	{Name: "never-cache-fields", Values: []string{"", "hdr.subject", "hdr.date date.sent"}, Help: "fields never cached (mail_never_cache_fields)"},
}

func parseOptions(o index.Options) (p options, err error) {
	value := func(name string) string {
		for _, x := range extras {
			if x.Name == name {
				return x.Value(o)
			}
		}
		return ""
	}
	number := func(name string) int64 {
		n, e := strconv.ParseInt(value(name), 10, 64)
		if (e != nil || n < 0) && err == nil {
			err = fmt.Errorf("linked: option %s: %q is no number", name, value(name))
		}
		return n
	}
	names := func(name string) (out []string) {
		for _, f := range strings.Fields(strings.ToLower(value(name))) {
			// What is neither a header nor known would be taken for a header.
			if !strings.HasPrefix(f, headerPrefix) && newField(f).typ == typeHeader && err == nil {
				err = fmt.Errorf("linked: option %s: no field %q", name, f)
			}
			out = append(out, f)
		}
		return out
	}
	p = options{
		fsync:        value("fsync"),
		purgeDeleted: number("purge-deleted-pct"), purgeContinued: number("purge-continued-pct"), purgeMin: number("purge-min-size"),
		purgeBlocks: int(min(number("purge-header-continue"), maxBlocks-2)),
		fieldDrop:   number("unaccessed-field-drop"),
		cacheMax:    number("cache-max-size"), recordMax: int(min(number("record-max-size"), 1<<30)),
		rewriteMin: number("index-rewrite-min"),
		logRotate:  number("log-rotate-size"), logRotateMin: number("log-rotate-min"), logMinAge: number("log-rotate-age"),
		cacheFields: names("cache-fields"), alwaysFields: names("always-cache-fields"), neverFields: names("never-cache-fields"),
	}
	switch io := value("io"); io {
	case "mmap", "pread":
		p.pread = io == "pread"
	default:
		err = fmt.Errorf("linked: option io: %q is neither mmap nor pread", io)
	}
	switch p.fsync {
	case fsyncOptimized, fsyncAlways, fsyncNever:
	default:
		err = fmt.Errorf("linked: option fsync: %q is none of optimized, always, never", p.fsync)
	}
	return p, err
}
