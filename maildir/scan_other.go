//go:build !linux

package maildir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func (s *Scan) listDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		batch, err := d.ReadDir(1024)
		for _, e := range batch {
			name := e.Name()
			if name[0] == '.' {
				continue
			}
			mode := e.Type()
			if mode&fs.ModeSymlink != 0 {
				st, err := os.Stat(filepath.Join(path, name))
				if err != nil {
					s.skip(name, err)
					continue
				}
				mode = st.Mode()
			}
			if mode.IsRegular() {
				s.add([]byte(name))
			} else {
				s.skip(name, ErrNotRegular)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
