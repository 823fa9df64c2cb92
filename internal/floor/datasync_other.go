//go:build !linux

package floor

import "os"

func datasync(f *os.File) error { return f.Sync() }
