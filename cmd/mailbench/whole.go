package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeWhole lets write make the file or directory at path under another name
// beside it and gives it its own when it is whole: what a killed command
// leaves behind is not taken for a mailbox.
func writeWhole(path string, write func(partial string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists", path)
	}
	path = filepath.Clean(path)
	partial := fmt.Sprintf("%s.partial-%d", path, os.Getpid())
	err := write(partial)
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		os.RemoveAll(partial)
	}
	return err
}
