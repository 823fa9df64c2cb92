package sqlstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// madeFile is the file beside an SQLite file that says that there is one. Keys
// come from the database: where it is gone, or was emptied, they would begin anew,
// and be those of other mail.
const madeFile = "mail.db.made"

const madeText = "mail.db was made. Where it is gone, keys that were given would be given again: put it back, or remove this file too, and all that knows of the keys.\n"

// filled reports whether a file is there with something in it. What cannot be
// told counts as a yes.
func filled(fsy index.FS, name string) bool {
	st, err := fsy.Stat(name)
	return !missing(err) && (err != nil || st.Size > 0)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// made reports whether an SQLite file was in the directory once, and refuses a
// directory where it is not any more.
func (s *Store) made() (bool, error) {
	mark, db := filepath.Join(s.dir, madeFile), filepath.Join(s.dir, database)
	if _, err := s.fs.Stat(mark); err != nil {
		if missing(err) {
			err = nil
		}
		return false, err
	}
	if !filled(s.fs, db) {
		return true, fmt.Errorf("%s is gone or empty, and %s says that it was made: put it back, or remove that file as well", db, mark)
	}
	return true, nil
}

// ready makes the tables, if there can be none yet.
func (s *Store) ready(made bool) error {
	if made {
		if err := s.stillThere(); err != nil {
			return err
		}
	}
	return s.db.ready()
}

// stillThere refuses a database whose tables are gone.
func (s *Store) stillThere() error {
	known, err := s.db.known()
	if err == nil && !known {
		err = fmt.Errorf("%s has no tables, and %s says that it was made: put it back, or remove both files", filepath.Join(s.dir, database), filepath.Join(s.dir, madeFile))
	}
	return err
}

// noteMade says that there is an SQLite file from now on. Lasts.
func (s *Store) noteMade() error {
	return fsys.WriteFileAtomic(s.fs, filepath.Join(s.dir, madeFile), func(w io.Writer) error {
		_, err := io.WriteString(w, madeText)
		return err
	})
}
