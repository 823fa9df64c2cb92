package suite

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mailbench/index"
)

// A mailName is a file of a maildir that is a message.
type mailName struct{ dir, file, base string }

// mailNames lists a maildir by the plainest means, os.ReadDir: regular files
// and links to them, one for each base name, those in cur/ before those in
// new/. A maildir without a new/ has no new mail.
func mailNames(path string) (map[string]mailName, error) {
	names := map[string]mailName{}
	for _, dir := range []string{"new", "cur"} {
		list, err := os.ReadDir(filepath.Join(path, dir))
		if dir == "new" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if !isMailName(e.Name()) {
				continue
			}
			base, _, _ := strings.Cut(e.Name(), ":")
			if !e.Type().IsRegular() {
				info, err := os.Stat(filepath.Join(path, dir, e.Name()))
				if err != nil || !info.Mode().IsRegular() {
					continue
				}
			}
			names[base] = mailName{dir, e.Name(), base}
		}
	}
	return names, nil
}

// once drops the entries, in the order of their source, whose name there has
// been: a name that is there twice counts once, in cur/ if it is there too, as
// for every index. twins are the files that count of such names.
func once(entries []index.Entry) (kept []index.Entry, twins map[string]mailName) {
	for _, e := range entries {
		n := len(kept)
		if n == 0 || kept[n-1].Key != e.Key {
			kept = append(kept, e)
			continue
		}
		if e.Dir < kept[n-1].Dir {
			kept[n-1] = e
		}
		if twins == nil {
			twins = map[string]mailName{}
		}
		key := strings.Clone(e.Key)
		twins[key] = mailName{kept[n-1].Folder, strings.Clone(kept[n-1].File), key}
	}
	return kept, twins
}

// names are the files of f, which is a maildir.
func (f *fixture) names() (map[string]mailName, error) {
	list, err := mailNames(f.path)
	if err != nil {
		return nil, err
	}
	maps.Copy(list, f.twins)
	return list, nil
}

// single removes from path, a copy of f's maildir, what does not count there:
// a copied directory may list two files of one name in another order, and when
// one is moved or removed, the other would take its place.
func (f *fixture) single(path string) error {
	if len(f.twins) == 0 {
		return nil
	}
	for _, dir := range []string{"new", "cur"} {
		list, err := os.ReadDir(filepath.Join(path, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range list {
			base, _, _ := strings.Cut(e.Name(), ":")
			if twin, ok := f.twins[base]; ok && !e.IsDir() && twin != (mailName{dir, e.Name(), base}) {
				if err := os.Remove(filepath.Join(path, dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isMailName tells hidden names and those with nothing before the flags from
// names of mail.
func isMailName(file string) bool { return file[0] != '.' && file[0] != ':' }

// namesInOrder lists the base names of f in UID order: of a corpus of ours by
// a comparison of seconds, then of the M part; of a user's, whose names may be
// anything, as the source orders them. nil when f is no maildir.
func namesInOrder(f *fixture) ([]string, error) {
	if f.kind != "maildir" {
		return nil, nil
	}
	if f.order != nil {
		return f.order, nil
	}
	list, err := mailNames(f.path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for base := range list {
		names = append(names, base)
	}
	slices.SortFunc(names, func(a, b string) int {
		sa, ua := nameTime(a)
		sb, ub := nameTime(b)
		return cmp.Or(cmp.Compare(sa, sb), cmp.Compare(ua, ub), strings.Compare(a, b))
	})
	return names, nil
}

func nameTime(base string) (sec, usec uint64) {
	head, rest, _ := strings.Cut(base, ".")
	sec, _ = strconv.ParseUint(head, 10, 64)
	if strings.HasPrefix(rest, "M") {
		rest = rest[1:]
		end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
		if end < 0 {
			end = len(rest)
		}
		usec, _ = strconv.ParseUint(rest[:end], 10, 64)
	}
	return sec, usec
}

// deleted tells by the file names which UIDs carry \Deleted (maildir T).
func (f *fixture) deleted() (map[uint32]bool, error) {
	order, err := namesInOrder(f)
	if err != nil {
		return nil, err
	}
	list, err := f.names()
	if err != nil {
		return nil, err
	}
	out := map[uint32]bool{}
	for i, base := range order {
		_, info, _ := strings.Cut(list[base].file, ":")
		flags, _, _ := strings.Cut(strings.TrimPrefix(info, "2,"), ",")
		if strings.HasPrefix(info, "2,") && strings.Contains(flags, "T") {
			out[uint32(i+1)] = true
		}
	}
	return out, nil
}
