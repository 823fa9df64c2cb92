package suite

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/temp"
	"mailbench/internal/tempdir"
)

// A tuned design is one with options of its own set.
type tuned struct {
	index.Design
	extra map[string]string
}

func (d tuned) Axes() index.Axes { return index.AxesOf(d.Design) }

// Open opens the design with its options, under those of cfg.
func (d tuned) Open(cfg index.Config) (index.Mailbox, error) {
	cfg.Options = d.under(cfg.Options)
	return d.Design.Open(cfg)
}

// ReadsAtSync is the design's, with its options.
func (d tuned) ReadsAtSync(o index.Options) bool { return index.ReadsAtSync(d.Design, d.under(o)) }

// under is o with d's options where o does not say.
func (d tuned) under(o index.Options) index.Options {
	extra := maps.Clone(d.extra)
	maps.Copy(extra, o.Extra)
	o.Extra = extra
	return o
}

// tuning names the options that d was given: "" for none.
func tuning(d index.Design) string {
	t, ok := d.(tuned)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.extra)) {
		fmt.Fprintf(&b, "%q=%q ", name, t.extra[name])
	}
	return b.String()
}

// with sets an option of d.
func with(d index.Design, name, value string) index.Design {
	return tuned{d, map[string]string{name: value}}
}

// tune gives the picked designs the options of Config.Options.
func (r *Runner) tune() error {
	c := &r.cfg
	if c.Options == "" {
		return nil
	}
	given := map[string]map[string]string{}
	for part := range strings.SplitSeq(c.Options, ",") {
		bad := func(format string, args ...any) error {
			return fmt.Errorf("-options %s: %s", strings.TrimSpace(part), fmt.Sprintf(format, args...))
		}
		path, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		design, name, ok2 := strings.Cut(path, ".")
		if !ok || !ok2 || value == "" {
			return bad("want design.name=value")
		}
		d, ok := r.known.Lookup(design)
		if !ok {
			return bad("no design %q (there are %s)", design, strings.Join(r.known.Names(), ", "))
		}
		var names []string
		for _, x := range index.AxesOf(d).Extra {
			names = append(names, x.Name)
		}
		if !slices.Contains(names, name) {
			return bad("%s has no option %q (it has: %s)", design, name, strings.Join(names, ", "))
		}
		if given[design] == nil {
			given[design] = map[string]string{}
		}
		given[design][name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		d, _ := r.known.Lookup(name)
		if err := opens(tuned{d, given[name]}, c.CacheDir); err != nil {
			return fmt.Errorf("-options %s: %w", c.Options, err)
		}
	}
	c.Designs = slices.Clone(c.Designs)
	for i, d := range c.Designs {
		if extra := given[d.Name()]; extra != nil {
			c.Designs[i] = tuned{d, extra}
		}
	}
	return nil
}

// opens opens d on no mail, in a directory below cache that goes again: only d
// knows which values it takes, and a run should not find out after an hour.
func opens(d index.Design, cache string) (err error) {
	base := filepath.Join(cache, "tmp")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	dir, err := tempdir.Make(base, "options-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	mail, files := filepath.Join(dir.Path, "mail"), filepath.Join(dir.Path, "index")
	for _, p := range []string{filepath.Join(mail, "cur"), filepath.Join(mail, "new"), filepath.Join(mail, "tmp"), files} {
		if err := os.MkdirAll(p, 0o755); err != nil {
			return err
		}
	}
	src, err := source.Open(mail, source.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	mb, err := d.Open(index.Config{Dir: files, Source: src})
	if err != nil {
		return err
	}
	return mb.Close()
}

// optionRows try a design's own options, one at a time, each of the values
// that the design thinks worth trying: what its tuning is made from. The
// first value of an option is its default, which has rows of its own once.
func optionRows(d index.Design) []Row {
	ax := index.AxesOf(d)
	var rows []Row
	add := func(d index.Design, option string) {
		row := func(op string, prepare func(*Runner, *fixture) (*job, error), kv ...string) {
			kv = append(kv, "design", d.Name(), "op", op, "option", option, "mails", "warm")
			rows = append(rows, Row{"Options", params(kv...), false, prepare})
		}
		row("select-first", selectFirst(d, temp.Warm), "index", indexNone)
		row("thread-first", threadFirst(d, "", temp.Warm), "index", indexWarm)
		row("thread-again", answerAgain(d, query{alg: "references", delta: "none", search: "all", index: indexWarm}), "index", indexWarm)
		if ax.Compacts {
			row("compact", compact(d, 30, "random"), "index", indexWarm)
		}
	}
	for i, x := range ax.Extra {
		if i == 0 {
			add(d, "defaults")
		}
		for _, v := range x.Values[1:] {
			add(with(d, x.Name, v), optionName(x.Name, v))
		}
	}
	return rows
}

// optionName is an option and its value as the value of the option= axis, in
// which some characters cannot stand.
func optionName(name, value string) string {
	value = strings.Map(func(c rune) rune {
		if strings.ContainsRune(",/ =", c) {
			return '_'
		}
		return c
	}, value)
	if endsInNumber(name + ":" + value) {
		value = strings.ReplaceAll(value, "-", "_")
	}
	return name + ":" + value
}
