package column

import (
	"os"
	"path/filepath"
	"testing"

	"mailbench/index"
)

// baseFiles are the index without cache and answers; "" stands for no file.
func baseFiles(t *testing.T, dir string) (out [2]string) {
	t.Helper()
	for i, name := range [...]string{index.BaseFile, index.LogFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		out[i] = string(b)
	}
	return out
}

func putBaseFiles(t *testing.T, dir string, files [2]string) {
	t.Helper()
	for i, name := range [...]string{index.BaseFile, index.LogFile} {
		p := filepath.Join(dir, name)
		if files[i] == "" {
			os.Remove(p)
		} else if err := os.WriteFile(p, []byte(files[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// An index that comes from a backup and grows to the same UIDNEXT and number
// of messages is another index: cache and answers of the old one are not used.
func TestRestored_index(t *testing.T) {
	r, _ := seeded(t)
	for _, c := range []struct {
		name string
		// change is done to the mail after the backup was taken (first), and
		// after it was put back.
		first, then func(f *fake)
	}{
		{"other mail, same count",
			func(f *fake) { f.add(randomMail(r)); f.add(randomMail(r)) },
			func(f *fake) {
				ks := f.keys()
				f.remove(ks[len(ks)-1])
				f.remove(ks[len(ks)-2])
				f.add(randomMail(r))
				f.add(randomMail(r))
			}},
		{"another expunged",
			func(f *fake) { f.remove(f.keys()[3]); f.add(randomMail(r)) },
			func(f *fake) {
				ks := f.keys()
				f.remove(ks[5])
			}},
		{"a gap closed, the last one gone",
			func(f *fake) {
				for range 3 {
					f.add(randomMail(r))
				}
			},
			func(f *fake) {
				ks := f.keys()
				f.remove(ks[len(ks)-2])
				f.add(randomMail(r))
			}},
	} {
		for _, compact := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				dir := t.TempDir()
				f := newFake()
				for range 30 {
					f.add(randomMail(r))
				}
				sync := func(query bool) {
					t.Helper()
					mb := openBox(t, dir, fast, f, index.Options{})
					defer mb.Close()
					if _, err := mb.Sync(); err != nil {
						t.Fatal(err)
					}
					if !query {
						return
					}
					if err := verify(mb, f, r); err != nil {
						t.Fatal(err)
					}
					if compact {
						if err := mb.Compact(); err != nil {
							t.Fatal(err)
						}
					}
					if err := verify(mb, f, r); err != nil {
						t.Fatal(err)
					}
					if err := check(mb); err != nil {
						t.Fatal(err)
					}
				}
				sync(true)
				backup := baseFiles(t, dir)
				c.first(f)
				sync(true)
				// What the cache has seen meanwhile: mail that comes and goes.
				gone := f.add(randomMail(r))
				sync(true)
				f.remove(gone)
				sync(true)
				putBaseFiles(t, dir, backup)
				c.then(f)
				sync(false)
				f.add(randomMail(r))
				sync(false)
				f.remove(f.keys()[7])
				sync(true)
			})
		}
	}
}

// The same with histories drawn at random.
func TestRestored_histories(t *testing.T) {
	r, _ := seeded(t)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		dir := t.TempDir()
		f := newFake()
		for range 8 {
			f.add(randomMail(r))
		}
		var backups [][2]string
		var log []string
		for range 25 {
			switch r.IntN(8) {
			case 0, 1, 2:
				f.add(randomMail(r))
				log = append(log, "add")
			case 3, 4:
				if ks := f.keys(); len(ks) > 3 {
					f.remove(ks[r.IntN(len(ks))])
					log = append(log, "remove")
				}
			case 5:
				backups = append(backups, baseFiles(t, dir))
				log = append(log, "backup")
			case 6:
				if len(backups) > 0 {
					putBaseFiles(t, dir, backups[r.IntN(len(backups))])
					log = append(log, "restore")
				}
			case 7:
				log = append(log, "compact")
			}
			mb := openBox(t, dir, fast, f, index.Options{Answers: []string{"stored", "computed"}[r.IntN(2)]})
			_, err := mb.Sync()
			if err == nil && log != nil && log[len(log)-1] == "compact" {
				err = mb.Compact()
			}
			if err == nil && r.IntN(2) == 0 {
				log = append(log, "query")
				if err = verify(mb, f, r); err == nil {
					err = check(mb)
				}
			}
			mb.Close()
			if err != nil {
				t.Fatalf("%v: %v", log, err)
			}
		}
	}
}
