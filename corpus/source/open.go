package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/mbox"
)

// Options say how a path is read. The zero value is right for most mail.
type Options struct {
	Kind        string       // "" = look; else "maildir", "mbox", "message"
	Dialect     mbox.Dialect // of an mbox
	Separator   byte         // between a maildir's base name and its info part; 0 = ':'
	TempDir     string       // for what large compressed files decompress to; "" = os.TempDir()
	MemoryLimit int64        // decompressed bytes kept in memory; 0 = 256 MiB
	FS          fsys.FS      // nil = fsys.OS; mail in a maildir is read past it
}

// Open looks at path and opens it as what it is: a *Maildir, *Mbox or *Message.
// A plain file is mapped and looked at only as far as it takes to tell what it
// is, a compressed one is decompressed. Errors are one line that names path.
func Open(path string, o Options) (index.Source, error) {
	switch o.Kind {
	case "", "maildir", "mbox", "message":
	default:
		return nil, fmt.Errorf("source: kind %q is none of maildir, mbox, message", o.Kind)
	}
	if o.FS == nil {
		o.FS = fsys.OS
		// Opening a pipe would wait for a writer.
		if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
			return nil, fmt.Errorf("source: open %s: neither a directory nor a regular file", path)
		}
	}
	info, err := o.FS.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if info.Dir || o.Kind == "maildir" {
		return openMaildir(path, o)
	}
	f, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	kind := o.Kind
	if kind == "" {
		if kind, err = f.look(); err != nil {
			f.Close()
			return nil, err
		}
	}
	if kind == "message" {
		return &Message{file: f}, nil
	}
	return &Mbox{file: f}, nil
}

// isDir reports whether dir has the directory name.
func isDir(fs fsys.FS, dir, name string) bool {
	info, err := fs.Stat(filepath.Join(dir, name))
	return err == nil && info.Dir
}

// mboxName reports whether a file is called what mboxes are called.
func mboxName(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.HasSuffix(name, ".mbox") || strings.HasSuffix(name, ".mbx")
}
