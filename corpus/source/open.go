package source

import (
	"errors"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/mbox"
)

// Options say how a path is read. The zero value is right for most mail.
type Options struct {
	Kind      string       // "" = look; else "maildir", "mbox", "message"
	Dialect   mbox.Dialect // of an mbox
	Separator byte         // between a maildir's base name and its info part; 0 = ':'
	TempDir   string       // for what large compressed files decompress to; "" = os.TempDir()
	FS        fsys.FS      // nil = fsys.OS; not used for a maildir
}

// Open looks at path and opens it.
func Open(path string, o Options) (index.Source, error) {
	return nil, errors.New("source: not yet")
}
