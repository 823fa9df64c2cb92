package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mailbench/internal/temp"
	"mailbench/store"
)

// A workshop is what the rows that write have beside the others.
type workshop struct {
	grounds    []*ground
	otherDir   bool // -index-dir was given: the index may lie elsewhere than the mail
	shelf      []shelf
	sluggish   slowness
	pool       *letters                 // messages that are written, while a benchmark runs
	best       map[string]float64       // commands/s of a closed loop, by row
	grownBoxes map[string]*grownBox     // that were read through in this run
	syncs      map[string]time.Duration // what 4 KiB and fdatasync take, by ground
	curves     []curve                  // of BenchmarkAppend
	told       []string                 // lines after the rows
	unreached  map[string]string        // databases that do not answer, by store, and why
}

// putAway lets go of what the rows of a benchmark share.
func (w *workshop) putAway() { w.pool, w.grownBoxes = nil, nil }

// A ground is a directory in which mail is written.
type ground struct {
	base string // as the user named it
	fs   string // value of fs=: what it lies on
	dir  string // this run's own below it
}

// findGrounds takes -scratch apart. The first directory is also where all
// others that write do it.
func (r *Runner) findGrounds() error {
	c := &r.cfg
	if len(r.grounds) > 0 && r.grounds[0].base == c.Scratch {
		return nil // once is enough
	}
	r.otherDir = c.IndexDir != "" && c.IndexDir != filepath.Join(c.CacheDir, "index") && !isFresh()
	r.grounds = nil
	seen := map[string]int{}
	for dir := range strings.SplitSeq(c.Scratch, ",") {
		dir = strings.TrimSpace(dir)
		if dir == "" {
			if c.Scratch != "" {
				return fmt.Errorf("-scratch %s: a directory without a name", c.Scratch)
			}
			dir = filepath.Join(c.CacheDir, "scratch")
		}
		dir, err := fromPWD(dir)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.grounds, func(g *ground) bool { return g.base == dir }) {
			return fmt.Errorf("-scratch: %s is named twice", dir)
		}
		fs := "unknown"
		if m, err := temp.Mount(dir); err == nil && m.Type != "" {
			fs = plainValue(m.Type)
		}
		if seen[fs]++; seen[fs] > 1 {
			fs += "." + strconv.Itoa(seen[fs])
		}
		r.grounds = append(r.grounds, &ground{base: dir, fs: fs})
	}
	c.Scratch = r.grounds[0].base
	return nil
}

// plainValue makes s one that can stand in a row's name.
func plainValue(s string) string {
	s = strings.Map(func(c rune) rune {
		if strings.ContainsRune(",/ =", c) {
			return '_'
		}
		return c
	}, s)
	if endsInNumber(s) {
		s = strings.ReplaceAll(s, "-", "_")
	}
	return s
}

// A shelf is a store as rows name it: a format, and for sql a database.
type shelf struct {
	name   string // value of store=
	format store.Format
	extra  map[string]string
}

// remote reports a store whose mail is not below its directory.
func (s shelf) remote() bool { return s.extra["dsn"] != "" }

// A slowness makes files as slow as those of a file server.
type slowness struct {
	name        string // value of slow=; "" = none
	latency     time.Duration
	rate        float64 // bytes/s; 0 = no bound
	index, mail bool
}

// readSlow reads -slow: "500us", "500us,40MB", "mail:1ms", "both:500us,40MB", and
// "0", which is as if it had not been given.
func (r *Runner) readSlow() error {
	text := r.cfg.Slow
	r.sluggish = slowness{}
	if text == "" {
		return nil
	}
	bad := func(why string) error {
		return fmt.Errorf("-slow %s: %s: want a latency and perhaps bytes a second, as 500us,40MB, and mail: or both: before it where it is not for the index files", text, why)
	}
	s := slowness{index: true}
	which, rest, ok := strings.Cut(text, ":")
	if !ok {
		which, rest = "index", text
	}
	switch which {
	case "index":
	case "mail":
		s.index, s.mail = false, true
	case "both":
		s.mail = true
	default:
		return bad(strconv.Quote(which))
	}
	latency, rate, bounded := strings.Cut(rest, ",")
	d, err := time.ParseDuration(strings.TrimSpace(latency))
	if err != nil || d < 0 || d > time.Minute {
		return bad("latency " + strconv.Quote(latency))
	}
	s.latency = d
	s.name = "lat" + strings.ReplaceAll(d.String(), "µ", "u")
	if bounded {
		if s.rate, err = byteRate(strings.TrimSpace(rate)); err != nil {
			return bad(err.Error())
		}
		s.name += "_" + plainValue(strings.TrimSpace(rate))
	}
	if s.latency == 0 && s.rate == 0 {
		return nil // as they are, and no value of an axis
	}
	if which != "index" {
		s.name = which + "_" + s.name
	}
	r.sluggish = s
	return nil
}

// byteRate reads "40MB", "40MB/s", "2.5GB", "800kB" or bytes.
func byteRate(s string) (float64, error) {
	number := strings.TrimSuffix(s, "/s")
	unit := 1.0
	for _, u := range []struct {
		suffix string
		bytes  float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}} {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = n, u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f*unit >= 1) || f*unit > 1e15 {
		return 0, fmt.Errorf("bytes a second %q", s)
	}
	return f * unit, nil
}

// own makes a directory of this run on a ground.
func (g *ground) own(name string) (string, error) { return os.MkdirTemp(g.dir, name+"-") }
