package suite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/linked"
	"mailbench/store"
	"mailbench/store/box"
	"mailbench/store/formats"
	smaildir "mailbench/store/maildir"
)

// A bent store is one with a fault.
type bent struct {
	store.Format
	name string
	bend func(store.Store) store.Store
}

func (b bent) Name() string { return b.name }

func (b bent) Open(cfg store.Config) (store.Store, error) {
	s, err := b.Format.Open(cfg)
	if err != nil {
		return nil, err
	}
	return b.bend(s), nil
}

// bentStores are the stores of the child: one that is right, and the faults.
func bentStores() []store.Format {
	var fs []store.Format
	add := func(name string, bend func(store.Store) store.Store) {
		fs = append(fs, bent{smaildir.Format, name, bend})
	}
	add("right", func(s store.Store) store.Store { return s })
	add("changes", func(s store.Store) store.Store { return &changesMail{Store: s} })
	add("forgets", func(s store.Store) store.Store { return &forgetsFlags{Store: s} })
	add("loses", func(s store.Store) store.Store { return &losesMail{Store: s} })
	add("twice", func(s store.Store) store.Store { return &twiceMail{Store: s} })
	add("keeps", func(s store.Store) store.Store { return &keepsMail{Store: s} })
	add("breaks", func(s store.Store) store.Store { return &breaks{Store: s} })
	return fs
}

// changesMail changes a byte of the 20th message it is given.
type changesMail struct {
	store.Store
	n int
}

func (s *changesMail) Append(msgs []store.Message) ([]string, error) {
	msgs = append([]store.Message(nil), msgs...)
	for i := range msgs {
		if s.n++; s.n == 20 {
			body := append([]byte(nil), msgs[i].Body...)
			body[len(body)/2] ^= 1
			msgs[i].Body = body
		}
	}
	return s.Store.Append(msgs)
}

// forgetsFlags never keeps \\Seen.
type forgetsFlags struct{ store.Store }

func (s *forgetsFlags) SetFlags(changes []store.Change) error {
	for i := range changes {
		changes[i].Flags &^= index.FlagSeen
	}
	return s.Store.SetFlags(changes)
}

func (s *forgetsFlags) Append(msgs []store.Message) ([]string, error) {
	msgs = append([]store.Message(nil), msgs...)
	for i := range msgs {
		msgs[i].Flags &^= index.FlagSeen
	}
	return s.Store.Append(msgs)
}

// losesMail removes the first message when there are twenty.
type losesMail struct {
	store.Store
	first string
	n     int
}

func (s *losesMail) Append(msgs []store.Message) ([]string, error) {
	keys, err := s.Store.Append(msgs)
	for _, key := range keys {
		if s.n++; s.n == 1 {
			s.first = key
		}
		if s.n == 20 && err == nil {
			err = s.Store.Expunge([]string{s.first})
		}
	}
	return keys, err
}

// twiceMail appends the 20th message twice.
type twiceMail struct {
	store.Store
	n int
}

func (s *twiceMail) Append(msgs []store.Message) ([]string, error) {
	keys, err := s.Store.Append(msgs)
	for i := range keys {
		if s.n++; s.n == 20 {
			_, err = s.Store.Append(msgs[i : i+1])
		}
	}
	return keys, err
}

// keepsMail does not expunge.
type keepsMail struct{ store.Store }

func (s *keepsMail) Expunge([]string) error { return nil }

// breaks cannot append after a while.
type breaks struct {
	store.Store
	n int
}

func (s *breaks) Append(msgs []store.Message) ([]string, error) {
	if s.n += len(msgs); s.n > 20 {
		return nil, fmt.Errorf("the disk\nis full")
	}
	return s.Store.Append(msgs)
}

// atWork is a runner with places to write in, and small samples.
func atWork(t *testing.T, cfg Config) *Runner {
	t.Helper()
	was := smallWork
	smallWork = true
	t.Cleanup(func() { smallWork = was })
	cfg.Formats = bentStores()
	r := runner(t, diskDir(t), cfg)
	if err := r.makePlaces(); err != nil {
		t.Fatal(err)
	}
	return r
}

// settingOf has four clients and never waits for the disk.
func settingOf(t *testing.T, r *Runner, d index.Design, name string) setting {
	t.Helper()
	i := slices.IndexFunc(r.shelf, func(s shelf) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("no store %s", name)
	}
	return setting{design: d, store: r.shelf[i], ground: r.grounds[0], fsync: box.Never, cache: true, clients: 4, grown: grownNone}
}

// sampled prepares a row and takes a sample of it.
func sampled(r *Runner, j *job, err error) error {
	if err != nil {
		return err
	}
	var res result
	err = r.try(j, &res, rand.New(rand.NewPCG(1, 1)))
	if err == nil {
		for _, m := range j.metrics(&res) {
			if m.value < 0 || m.value != m.value {
				err = fmt.Errorf("%s is %v", m.unit, m.value)
			}
		}
	}
	if cerr := j.close(); err == nil {
		err = cerr
	}
	return err
}

// workKinds are the three benchmarks in small.
var workKinds = []struct {
	name string
	make func(*Runner, setting) (*job, error)
}{
	{"append", func(r *Runner, s setting) (*job, error) { return r.writing("append", s, r.letters(s.appends())) }},
	{"deliver", func(r *Runner, s setting) (*job, error) { return r.writing("deliver", s, r.parcels(delivered)) }},
	{"mix", func(r *Runner, s setting) (*job, error) {
		return r.mixing("Mix", mixSetting{setting: s, logout: 100, target: 60, seed: 1})
	}},
	{"mix-response", func(r *Runner, s setting) (*job, error) {
		return r.mixing("Mix", mixSetting{setting: s, logout: 0, rate: 80, target: 60, seed: 2})
	}},
}

// TestWork_wrongMailFails holds that each kind of row passes on a store that is
// right, and fails, for the reason, on each that is not.
func TestWork_wrongMailFails(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	for _, c := range []struct {
		store string
		want  map[string][]string // by kind: any of these; none: it passes
	}{
		{"right", nil},
		{"changes", map[string][]string{"append": {"is another message"}, "deliver": {"is another message"}, "mix": {"is another message", ", want \""}}},
		{"forgets", map[string][]string{"append": {"has flags"}, "mix": {"has flags", "with flags"}}},
		{"loses", map[string][]string{"append": {"UID 1 is lost"}, "deliver": {"UID 1 is lost"}, "mix": {"UID 1 is lost"}}},
		{"twice", map[string][]string{"append": {"nobody wrote it"}, "deliver": {"nobody wrote it"}, "mix": {"nobody", "want"}}},
		{"keeps", map[string][]string{"mix": {"was expunged"}}},
		{"breaks", map[string][]string{"append": {"the disk"}, "deliver": {"the disk"}, "mix": {"the disk"}}},
	} {
		for _, kind := range workKinds {
			t.Run(c.store+" "+kind.name, func(t *testing.T) {
				j, err := kind.make(r, settingOf(t, r, column.Design, c.store))
				err = sampled(r, j, err)
				want := c.want[strings.TrimSuffix(kind.name, "-response")]
				if len(want) == 0 && err != nil {
					t.Fatal(err)
				}
				if len(want) > 0 && (err == nil || !slices.ContainsFunc(want, func(s string) bool { return strings.Contains(err.Error(), s) })) {
					t.Fatalf("%v, want %q", err, want)
				}
			})
		}
	}
	left, err := os.ReadDir(r.grounds[0].dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestGrownBox holds that a grown mailbox is made once, that rows begin with a
// copy of it, and that one that is not as it was is made anew.
func TestGrownBox(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	s := settingOf(t, r, column.Design, "right")
	s.grown = grownSize{"200", 200}
	sample := func() (dir string, made time.Time) {
		t.Helper()
		r.putAway() // as in the next benchmark
		j, err := r.writing("append", s, r.letters(20))
		if err == nil && j.messages != 220 {
			t.Errorf("%d messages, want 220", j.messages)
		}
		if err := sampled(r, j, err); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(r.cfg.CacheDir, "grown", "*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%q, %v", found, err)
		}
		info, err := os.Stat(filepath.Join(found[0], "held"))
		if err != nil {
			t.Fatal(err)
		}
		return found[0], info.ModTime()
	}
	dir, first := sample()
	if _, again := sample(); !again.Equal(first) {
		t.Error("made twice")
	}
	mails, err := filepath.Glob(filepath.Join(dir, "mail", "*", "1*"))
	if err != nil || len(mails) != 200 {
		t.Fatalf("%d messages in %s, %v", len(mails), dir, err)
	}
	if err := os.WriteFile(mails[77], []byte("Subject: other\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, again := sample(); again.Equal(first) {
		t.Error("a changed message was not noticed")
	}
}

// TestSlow_reads holds what -slow may say.
func TestSlow_reads(t *testing.T) {
	for text, want := range map[string]slowness{
		"":                {},
		"0":               {},
		"mail:0s":         {},
		"500us":           {name: "lat500us", latency: 500 * time.Microsecond, index: true},
		"500us,40MB":      {name: "lat500us_40MB", latency: 500 * time.Microsecond, rate: 40e6, index: true},
		"index:1ms,2GB":   {name: "lat1ms_2GB", latency: time.Millisecond, rate: 2e9, index: true},
		"mail:1ms":        {name: "mail_lat1ms", latency: time.Millisecond, mail: true},
		"both:0s,100kB/s": {name: "both_lat0s_100kB_s", rate: 1e5, index: true, mail: true},
	} {
		r := &Runner{cfg: Config{Slow: text}}
		if err := r.readSlow(); err != nil || r.sluggish != want {
			t.Errorf("%q: %+v, %v, want %+v", text, r.sluggish, err, want)
		}
		params("slow", r.sluggish.name) // panics
	}
	for _, text := range []string{"fast", "1ms,", "1ms,x", "1ms,-3MB", "-1ms", "tape:1ms", "1ms,NaN", "1ms,40MB,3", "2h", ":1ms", "index:"} {
		r := &Runner{cfg: Config{Slow: text}}
		if err := r.readSlow(); err == nil || !strings.Contains(err.Error(), "-slow "+text+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %+v", text, err, r.sluggish)
		}
	}
}

// TestSlow_isSlow holds that -slow reaches the files it names and no others.
func TestSlow_isSlow(t *testing.T) {
	r := atWork(t, Config{Corpus: "synthetic:200"})
	took := func(slow string) time.Duration {
		t.Helper()
		r.cfg.Slow = slow
		if err := r.readSlow(); err != nil {
			t.Fatal(err)
		}
		s := settingOf(t, r, column.Design, "right")
		s.clients, s.slow = 1, r.sluggish
		j, err := r.writing("append", s, r.letters(10))
		if err != nil {
			t.Fatal(err)
		}
		defer j.close()
		var res result
		if err := r.try(j, &res, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatal(err)
		}
		return res.samples[0].Wall
	}
	for _, slow := range []string{"index:5ms", "mail:5ms"} {
		if d := took(slow); d < 50*time.Millisecond { // ten messages, each of them a write at least
			t.Errorf("-slow %s: ten appends in %v", slow, d)
		}
	}
}

// TestStores_picked holds what -stores and -dsn may say, and that no password
// is shown.
func TestStores_picked(t *testing.T) {
	for _, c := range []struct{ stores, dsns, want string }{
		{"", "", "right,changes,forgets,loses,twice,keeps,breaks"},
		{"loses, right", "", "loses,right"},
		{"nope", "", `error: -stores nope: no store "nope" (there are right, `},
		{"right,loses,right", "", "right,loses"},
		{"sql:postgres", "", `error: -stores sql:postgres: no store "sql:postgres" (there are right, changes, forgets, loses, twice, keeps, breaks; databases are named by -dsn)`},
		{"right", "postgres://me:hidden@h/db", "error: -dsn is not used: "},
	} {
		r := &Runner{cfg: Config{Formats: bentStores(), Stores: c.stores, DSNs: c.dsns}}
		got := ""
		if err := r.pickStores(); err != nil {
			got = "error: " + err.Error()
		}
		var names []string
		for _, s := range r.shelf {
			names = append(names, s.name)
		}
		if got += strings.Join(names, ","); !strings.HasPrefix(got, c.want) {
			t.Errorf("-stores %q: %s, want %s", c.stores, got, c.want)
		}
	}
	sql := []store.Format{smaildir.Format, bent{smaildir.Format, "sql", func(s store.Store) store.Store { return s }}}
	for _, c := range []struct{ stores, dsns, want string }{
		{"", "postgres://me:hidden@h/db  mysql://me:hidden@h/db postgres://h/two", "maildir sql sql:postgres sql:mysql sql:postgres.2"},
		{"sql", "", "sql"},
		{"sql", "postgres://h/db", "sql sql:postgres"},
		{"sql:postgres", "postgres://h/db mysql://h/db", "sql:postgres"},
		{"sql:postgres, sql", "postgres://h/db", "sql:postgres sql"},
		{"maildir", "postgres://me:hidden@h/db", "error: -dsn is not used: store sql is not among -stores maildir"},
		{"", "me:hidden@h", "error: -dsn: it begins with postgres:// or mysql://"},
		{"sql", "oracle://me:hidden@h/db", "error: -dsn: it begins with postgres:// or mysql://"},
		{"sql", "postgres://h/db mysql://me:hidden@h", "error: -dsn: no database"},
		{"sql", "postgres://me:hidden@h:x/db", "error: -dsn: "},
	} {
		r := &Runner{cfg: Config{Formats: sql, Stores: c.stores, DSNs: c.dsns}}
		err := r.pickStores()
		var names []string
		for _, s := range r.shelf {
			names = append(names, s.name)
			params("store", s.name) // panics
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) || strings.Contains(got, "hidden") || strings.Contains(got, "\n") {
			t.Errorf("-stores %q -dsn %q: %s, want %s", c.stores, c.dsns, got, c.want)
		}
	}
}

// TestStores_defaults holds that a database of -dsn is among the default rows,
// also when no store is named, and the embedded one is not.
func TestStores_defaults(t *testing.T) {
	r := runner(t, t.TempDir(), Config{DSNs: "postgres://h/db"})
	n := map[string]int{}
	for _, row := range r.Rows() {
		if row.Default {
			n[row.Bench+" "+row.value("store")]++
		}
	}
	for row, want := range map[string]int{"Append sql:postgres": 4, "Deliver sql:postgres": 2, "Mix sql:postgres": 1, "Mix maildir": 1, "Append mdbox": 4, "Append sql": 0} {
		if n[row] != want {
			t.Errorf("%d default rows of %s, want %d", n[row], row, want)
		}
	}
}

// TestStores_unreached holds that a database which does not answer is tried
// once, if a row is to write to it, is told of in one line without its password,
// and that its rows are skipped for the reason.
func TestStores_unreached(t *testing.T) {
	r := runner(t, t.TempDir(), Config{Stores: "sql", DSNs: "mysql://me:hidden@127.0.0.1:1/db postgres://me:hidden@127.0.0.1:1/db"})
	for _, c := range []struct {
		bench string
		want  []string
	}{
		{"Sort", nil},
		{"Append/./store=sql/", []string{"# store sql:mysql: ", "# store sql:postgres: "}}, // matches anywhere in its part
		{"Append/./store=sql$", nil},
		{"Append/./store=sql:mysql", []string{"# store sql:mysql: the database cannot be reached: connect: "}},
		{"Mix|Append", []string{"# store sql:mysql: the database cannot be reached: ", "# store sql:postgres: the database cannot be reached: "}},
	} {
		var out strings.Builder
		r.unreached = nil
		r.reach(&out, c.bench)
		got := lines(out.String(), "")
		if len(got) != len(c.want) || len(got) != len(r.unreached) || strings.Contains(out.String(), "hidden") {
			t.Fatalf("-bench %s: %q, want %q", c.bench, got, c.want)
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) || !strings.HasSuffix(got[i], "; its rows are skipped") {
				t.Errorf("-bench %s: %q, want %q", c.bench, got[i], want)
			}
		}
	}
	rows := 0
	for _, row := range r.workRows() {
		if !row.Default || row.value("store") == "sql" {
			continue
		}
		rows++
		testing.Benchmark(func(b *testing.B) { r.runRow(b, &fixture{kind: "maildir"}, row) })
	}
	if len(r.skipped) != rows || rows != 14 || r.failed || !strings.HasPrefix(r.skipped[0].text, "the database cannot be reached: ") {
		t.Errorf("%d rows, skipped: %+v", rows, r.skipped)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine(fmt.Errorf("connect to `x`:\n\ta: refused\n\ta: refused\n\tb: refused\n")); got != "connect to `x`: a: refused; b: refused" {
		t.Errorf("%q", got)
	}
}

// TestGrounds holds that each directory of -scratch gets rows of its own.
func TestGrounds(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	r := runner(t, dir, Config{Scratch: a + "," + b, AllowTmpfs: true, Formats: bentStores()[:1], IndexDir: filepath.Join(dir, "nas")})
	if r.cfg.Scratch != a || len(r.grounds) != 2 || r.grounds[1].fs != r.grounds[0].fs+".2" {
		t.Fatalf("scratch %s, %+v", r.cfg.Scratch, r.grounds)
	}
	n := map[string]int{}
	for _, row := range r.Rows() {
		if row.Bench == "Append" && row.Default {
			n[row.value("fs")+" "+row.value("indexdir")]++
		}
	}
	for _, g := range r.grounds {
		for _, where := range []string{"local", "other"} {
			if n[g.fs+" "+where] != 4 { // two designs, 1 and 30 clients
				t.Errorf("%d default rows of fs=%s indexdir=%s", n[g.fs+" "+where], g.fs, where)
			}
		}
	}
	if err := r.makePlaces(); err != nil {
		t.Fatal(err)
	}
	for _, g := range r.grounds {
		if filepath.Dir(g.dir) != g.base {
			t.Errorf("%s is not below %s", g.dir, g.base)
		}
	}
	var told []string
	for _, p := range r.standing(&fixture{path: "/mail"}) {
		told = append(told, p.what+": "+p.label+p.path)
	}
	fs := r.grounds[0].fs
	want := []string{"mail: /mail", "index: indexdir=other, nas, " + filepath.Join(dir, "nas"), "scratch: fs=" + fs + ", directory 1, a, " + a, "scratch: fs=" + fs + ".2, directory 2, b, " + b}
	if !slices.Equal(told, want) {
		t.Errorf("places %q, want %q", told, want)
	}
	for scratch, want := range map[string]string{a + "," + a: "named twice", a + ",,": "without a name"} {
		r := New(Config{Scratch: scratch, CacheDir: dir})
		if err := r.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("-scratch %s: %v, want %q", scratch, err, want)
		}
	}
}

// TestWork_output runs the default rows of a store in a process of their own:
// a row each with its metrics, the report of BenchmarkMix behind them, all of
// it in the format of benchmarks, and nothing left behind.
func TestWork_output(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	got := benchmark(t, dir, "Append|Deliver|Mix", "-corpus=synthetic:100", "-designs=column", "-stores=right")
	if got.code != 0 || !strings.Contains(got.out, "every answer right") {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	onlyKnownLines(t, []byte(got.out))
	units := map[string]string{"Append": "fsyncs/msg written-B/msg index-disk-B/msg msgs/s p50-sec/append p99-sec/append max-sec/append stall-sec",
		"Deliver": "fsyncs/msg written-B/msg msgs/s p99-sec/append", "Mix": "commands/s p50-sec/command p99-sec/command max-sec/command stall-sec"}
	reader := benchfmt.NewReader(strings.NewReader(got.out), "run")
	n := map[string]int{}
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("line %d: %s", rec.Line, rec.Msg)
		case *benchfmt.Result:
			wholeRow(t, rec)
			base := string(rec.Name.Base())
			n[base]++
			for unit := range strings.FieldsSeq(units[base]) {
				if v, ok := rec.Value(unit); !ok || v <= 0 {
					t.Errorf("%s: %s is %v, there: %v", rec.Name, unit, v, ok)
				}
			}
			for _, v := range rec.Values {
				if reader.Units().GetBetter(v.Unit) == 0 {
					t.Errorf("no Unit line says which way %s is better", v.Unit)
				}
			}
		}
	}
	if n["Append"] != 2 || n["Deliver"] != 2 || n["Mix"] != 1 {
		t.Errorf("rows: %v", n)
	}
	for _, prefix := range []string{"# mix BenchmarkMix/design=column/store=right/", "# mix second  Logi  List  Stat  Sele  Fetc", "# mix      1 ", "# mix    all ", "# mix    p99 ",
		"# mix service of all: p50 ", "# mix bottleneck: "} {
		if len(lines(got.out, prefix)) != 1 {
			t.Errorf("no line %q:\n%s", prefix, got.out)
		}
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// mapping can map its files or read them.
type mapping struct{ optioned }

func (mapping) Axes() index.Axes {
	return index.Axes{Fetches: true, Extra: []index.Extra{{Name: "io", Values: []string{"mmap", "pread"}, Help: "a test's"}}}
}

// TestRows_io holds that a design with a choice of io has rows of both, and
// that the row's design has it set.
func TestRows_io(t *testing.T) {
	r := runner(t, t.TempDir(), Config{Formats: bentStores()[:1], Designs: []index.Design{mapping{}}})
	n := map[string]int{}
	for _, row := range r.Rows() {
		if io := row.value("io"); io != "" {
			n[row.Bench+" "+io]++
			if row.Default {
				t.Errorf("%s is a default row", row.Name())
			}
		}
	}
	for _, io := range []string{"mmap", "pread"} {
		for bench, want := range map[string]int{"ThreadAgain": 2, "SortDate": 2, "Mix": 1} {
			if n[bench+" "+io] != want {
				t.Errorf("%d rows of %s io=%s, want %d", n[bench+" "+io], bench, io, want)
			}
		}
	}
}

// TestDoubtSync holds that a row which waits for the disk is doubted where a
// sync takes no time, and one that does not wait never is.
func TestDoubtSync(t *testing.T) {
	for _, c := range []struct {
		took   time.Duration
		policy box.Fsync
		want   int
	}{{time.Microsecond, box.Group, 1}, {time.Microsecond, box.Always, 1}, {time.Microsecond, box.Never, 0}, {time.Millisecond, box.Group, 0}} {
		r := &Runner{}
		r.syncs = map[string]time.Duration{"/x": c.took}
		if err := r.doubtSync("row", setting{ground: &ground{base: "/x"}, fsync: c.policy}); err != nil || len(r.doubts) != c.want {
			t.Errorf("%v, fsync=%v: %v, %v", c.took, c.policy, r.doubts, err)
		}
	}
}

// TestWork_formats holds that each of the house's stores passes each kind of
// row, after mail that was there before too, with a design that has much to say
// for itself and one that has not; and so do the database servers, where there
// are some, which cannot begin with a copy.
func TestWork_formats(t *testing.T) {
	var dsns []string
	for _, name := range []string{"MAILBENCH_TEST_POSTGRES", "MAILBENCH_TEST_MARIADB"} {
		if dsn := os.Getenv(name); dsn != "" {
			dsns = append(dsns, dsn)
		}
	}
	r := atWork(t, Config{Corpus: "synthetic:200"})
	r.cfg.Formats, r.cfg.DSNs = nil, strings.Join(dsns, " ")
	if err := r.pickStores(); err != nil {
		t.Fatal(err)
	}
	if want := len(formats.All()) + len(dsns); len(r.shelf) != want {
		t.Fatalf("%d stores, want %d", len(r.shelf), want)
	}
	for _, d := range []index.Design{column.Design, linked.Design} {
		for _, sh := range r.shelf {
			for _, kind := range workKinds[:3] {
				t.Run(d.Name()+" "+sh.name+" "+kind.name, func(t *testing.T) {
					s := setting{design: d, store: sh, ground: r.grounds[0], fsync: box.Never, cache: true, clients: 4, grown: grownNone}
					if kind.name == "append" && !sh.remote() {
						s.grown = grownSize{"40", 40}
					}
					j, err := kind.make(r, s)
					if err := sampled(r, j, err); err != nil {
						t.Error(err)
					}
				})
			}
			if !sh.remote() {
				continue
			}
			_, err := r.grownBox(setting{design: d, store: sh, ground: r.grounds[0], grown: grownSize{"40", 40}})
			if _, skipped := asSkip(err); !skipped {
				t.Errorf("%s: %v, want it skipped", sh.name, err)
			}
		}
	}
}

// TestCurve holds that rows which differ in grown= alone make one line, the last
// of each size counting.
func TestCurve(t *testing.T) {
	var w workshop
	s := setting{design: column.Design, store: shelf{name: "x"}, ground: &ground{fs: "y"}, clients: 30}
	for _, p := range []struct {
		clients int
		grown   grownSize
		ns      float64
	}{{30, grownSizes[1], 5e6}, {30, grownNone, 9e9}, {1, grownNone, 1e6}, {30, grownNone, 1e6}, {30, grownSizes[0], 2e6}} {
		s.clients, s.grown = p.clients, p.grown
		w.notePoint(s, p.ns)
	}
	got := w.curveNotes()
	if len(got) != 1 || got[0].text != "1000 at 0, 500 at 10k, 200 at 100k, 20% of the first" || !strings.HasSuffix(got[0].name, "/clients=30") {
		t.Errorf("%+v", got)
	}
}
