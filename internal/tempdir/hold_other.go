//go:build !unix || solaris || aix

package tempdir

import "os"

func hold(string) *os.File { return nil }
