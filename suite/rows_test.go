package suite

import (
	"slices"
	"strings"
	"testing"
)

// runner is one with its configuration checked, on caches in dir.
func runner(t testing.TB, dir string, cfg Config) *Runner {
	t.Helper()
	cfg.CacheDir = dir
	r := New(cfg)
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.cleanup)
	return r
}

func TestRows_names(t *testing.T) {
	for _, rows := range []string{"default", "all"} {
		for _, drop := range []bool{false, true} {
			r := runner(t, t.TempDir(), Config{Rows: rows, DropCaches: drop})
			seen := map[string]bool{}
			last := -1
			for _, row := range r.Rows() {
				name := row.Name()
				if seen[name] {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
				at := slices.Index(benchmarks, row.Bench)
				if at < last {
					t.Errorf("%s stands after a later benchmark", name)
				}
				last = at
				axis := -1
				for _, part := range strings.Split(name, "/")[1:] {
					key, value, ok := strings.Cut(part, "=")
					i := slices.Index(axes, key)
					if !ok || value == "" || strings.ContainsAny(value, ", =") || endsInNumber(value) {
						t.Errorf("%s: part %q", name, part)
					}
					if i <= axis {
						t.Errorf("%s: %s is not in the order of the axes", name, key)
					}
					axis = i
				}
			}
		}
	}
}

// defaults are the default rows of DESIGN section 4 for a design with every
// axis, as far as this issue goes.
const defaults = `
SelectFirst/design=column/mails=warm/index=none
SelectFirst/design=column/mails=PAIR/index=none
SelectAgain/design=column/mails=warm/index=warm
SelectAgain/design=column/mails=warm/index=cold
SelectAgain/design=column/mails=warm/index=open
Resync/design=column/delta=none/mails=warm/index=warm
Resync/design=column/delta=deliver/mails=warm/index=warm
ThreadFirst/design=column/fields=thread/mails=warm/index=warm
ThreadFirst/design=column/fields=thread/mails=PAIR/index=warm
ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=warm
ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=cold
ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=open
ThreadAgain/design=column/delta=deliver/search=all/answers=stored/mails=warm/index=warm
ThreadAgain/design=column/delta=none/search=undeleted/answers=stored/mails=warm/index=warm
ThreadAgain/design=column/delta=none/search=all/answers=computed/mails=warm/index=warm
SortDate/design=column/pass=first/delta=none/search=all/answers=stored/mails=warm/index=warm
SortDate/design=column/pass=again/delta=none/search=all/answers=stored/mails=warm/index=warm
SortSubject/design=column/pass=first/delta=none/search=all/answers=stored/mails=warm/index=warm
SortSubject/design=column/pass=again/delta=none/search=all/answers=stored/mails=warm/index=warm
Compact/design=column/dead=30pct/mails=warm/index=warm
Fetch/design=column/op=window/fields=envelope/pass=again/mails=warm/index=warm
Many/design=column/op=status/shape=200boxes/mails=warm/index=warm/msgs=50median
Many/design=linked/op=status/shape=200boxes/mails=warm/index=warm/msgs=50median
SelectFirst/design=linked/mails=warm/index=none
SelectFirst/design=linked/mails=PAIR/index=none
SelectAgain/design=linked/mails=warm/index=warm
SelectAgain/design=linked/mails=warm/index=cold
SelectAgain/design=linked/mails=warm/index=open
Resync/design=linked/delta=none/mails=warm/index=warm
Resync/design=linked/delta=deliver/mails=warm/index=warm
ThreadFirst/design=linked/fields=thread/mails=warm/index=warm
ThreadFirst/design=linked/fields=thread/mails=PAIR/index=warm
ThreadAgain/design=linked/delta=none/search=all/mails=warm/index=warm
ThreadAgain/design=linked/delta=none/search=all/mails=warm/index=cold
ThreadAgain/design=linked/delta=none/search=all/mails=warm/index=open
ThreadAgain/design=linked/delta=deliver/search=all/mails=warm/index=warm
ThreadAgain/design=linked/delta=none/search=undeleted/mails=warm/index=warm
SortDate/design=linked/pass=first/delta=none/search=all/mails=warm/index=warm
SortDate/design=linked/pass=again/delta=none/search=all/mails=warm/index=warm
SortSubject/design=linked/pass=first/delta=none/search=all/mails=warm/index=warm
SortSubject/design=linked/pass=again/delta=none/search=all/mails=warm/index=warm
Fetch/design=linked/op=window/fields=envelope/pass=again/mails=warm/index=warm
Compact/design=linked/dead=30pct/mails=warm/index=warm
Floor/op=readdir/mails=warm
Floor/op=names/mails=warm
Floor/op=headers/mails=warm
Floor/op=headers/mails=PAIR
Floor/op=radix
Floor/op=join
Floor/op=format
Floor/op=read
Floor/op=write
Floor/op=sync4k
Floor/op=create
Append/design=column/store=maildir/indexdir=local/fs=FS/fsync=group/cache=on/clients=1/grown=0
Append/design=column/store=maildir/indexdir=local/fs=FS/fsync=group/cache=on/clients=30/grown=0
Append/design=column/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=on/clients=1/grown=0
Append/design=column/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=on/clients=30/grown=0
Append/design=linked/store=maildir/indexdir=local/fs=FS/fsync=group/cache=on/clients=1/grown=0
Append/design=linked/store=maildir/indexdir=local/fs=FS/fsync=group/cache=on/clients=30/grown=0
Append/design=linked/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=on/clients=1/grown=0
Append/design=linked/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=on/clients=30/grown=0
Deliver/design=column/store=maildir/indexdir=local/fs=FS/fsync=group/cache=off/clients=1
Deliver/design=column/store=maildir/indexdir=local/fs=FS/fsync=group/cache=off/clients=30
Deliver/design=column/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=off/clients=1
Deliver/design=column/store=mdbox/indexdir=local/fs=FS/fsync=group/cache=off/clients=30
Mix/design=column/store=maildir/indexdir=local/fs=FS/fsync=group/cache=on/clients=30/logout=100/msgs=500
`

func TestRows_defaults(t *testing.T) {
	for _, c := range []struct {
		pair string
		drop bool
	}{{"nodata", false}, {"cold", true}} {
		r := runner(t, t.TempDir(), Config{DropCaches: c.drop})
		want := strings.Fields(strings.NewReplacer("PAIR", c.pair, "FS", r.grounds[0].fs).Replace(defaults))
		var got []string
		for _, row := range r.Rows() {
			if row.Default {
				got = append(got, strings.TrimPrefix(row.Name(), "Benchmark"))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("drop caches %v: %s is not among the default rows", c.drop, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("drop caches %v: %s is a default row", c.drop, name)
			}
		}
	}
	// Whatever designs there will be: nobody waits for more than 70 rows.
	all := runner(t, t.TempDir(), Config{})
	n := 0
	for _, row := range all.Rows() {
		if row.Default {
			n++
		}
	}
	if n > 70 || len(all.cfg.Designs) != 2 || all.cfg.Designs[0].Name() != "column" {
		t.Errorf("%d default rows of %d designs, want at most 70 of column and another", n, len(all.cfg.Designs))
	}
}

// TestPlan_sumsTheRows holds that a plan shows each row once, measured or
// skipped, and makes nothing.
func TestPlan_sumsTheRows(t *testing.T) {
	for _, rows := range []string{"default", "all"} {
		dir := t.TempDir()
		cfg := Config{Rows: rows, CacheDir: dir, Corpus: "synthetic:1000", AllowTmpfs: true}
		var text strings.Builder
		if err := Plan(&text, cfg, ""); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, row := range runner(t, dir, cfg).Rows() {
			if rows == "default" && !row.Default {
				continue
			}
			want++
			if n := len(lines(text.String(), row.Name()+" ")); n != 1 {
				t.Errorf("%s is shown %d times", row.Name(), n)
			}
		}
		skipped := strings.Count(text.String(), " skipped: ")
		sum := lines(text.String(), itoa(want-skipped)+" rows, "+itoa(skipped)+" skipped, about ")
		if got := len(lines(text.String(), "Benchmark")); got != want || len(sum) != 1 {
			t.Errorf("%s: %d rows shown, want %d, %d of them skipped:\n%s", rows, got, want, skipped, text.String())
		}
		if left := leftovers(t, dir); len(left) > 0 {
			t.Errorf("a plan made %q", left)
		}
		for _, word := range []string{"corpus: ", "index files: ", "MB", "privileges: ", "one clone of the mail", "rows that write put about "} {
			if !strings.Contains(text.String(), word) {
				t.Errorf("a plan without %q:\n%s", word, text.String())
			}
		}
	}
}

func TestParams_refusesWhatBreaksNames(t *testing.T) {
	if got := joinParams(params("index", "warm", "design", "x-ray", "fields", "", "mails", "nodata")); got != "design=x-ray/mails=nodata/index=warm" {
		t.Errorf("sorted: %s", got)
	}
	for _, v := range []string{"a-2", "a b", "a/b", "a,b", "a=b", "-10"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("design=%s may stand in a name", v)
				}
			}()
			params("design", v)
		}()
	}
}
