package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// courierUIDs says which file has which UID.
const courierUIDs = "courierimapuiddb"

// Fresh removes what Courier keeps beside the mail: the UIDs, keywords and the
// list of subscriptions.
func (x *courierInstance) Fresh(context.Context) error {
	all, err := x.own()
	if err != nil {
		return err
	}
	for _, path := range all {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// own are the files and directories in the clone that are Courier's.
func (x *courierInstance) own() (paths []string, err error) {
	list, err := os.ReadDir(x.maildir())
	for _, d := range list {
		if strings.HasPrefix(d.Name(), "courier") || strings.HasPrefix(d.Name(), "maildir") {
			paths = append(paths, filepath.Join(x.maildir(), d.Name()))
		}
	}
	return paths, err
}

func (x *courierInstance) Files() (files []File, err error) {
	all, err := x.own()
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(x.run.Dir, path)
			class := "other"
			if d.Name() == courierUIDs {
				class = "uidlist"
			}
			files = append(files, File{Class: class, Path: rel, Size: st.Size()})
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its locks come and go
			return nil, err
		}
	}
	return files, nil
}

// UIDNames are the base names of the files by UID, once there was a select.
func (x *courierInstance) UIDNames() (map[uint32]string, error) {
	f, err := os.Open(filepath.Join(x.maildir(), courierUIDs))
	if err != nil {
		return nil, fmt.Errorf("courier: %w", err)
	}
	defer f.Close()
	names := map[uint32]string{}
	lines := bufio.NewScanner(f)
	lines.Scan() // version, UIDVALIDITY, UIDNEXT
	for lines.Scan() {
		number, name, _ := strings.Cut(lines.Text(), " ")
		uid, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("courier: %s: line %q", courierUIDs, lines.Text())
		}
		names[uint32(uid)], _, _ = strings.Cut(name, ":")
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("courier: %s: %w", courierUIDs, err)
	}
	return names, nil
}
