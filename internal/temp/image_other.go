//go:build !linux

package temp

// An Image is a private file system in a file: on Linux only.
type Image struct {
	Device  string
	Direct  bool
	Cooled  int
	pausers []Pauser
}

// CanImage says why no Image can be made in dir.
func CanImage(string) string { return errUnsupported.Error() }

// NewImage makes an empty file system in a file.
func NewImage(string, int64, int) (*Image, error) { return nil, errUnsupported }

// Root is the directory of the file system.
func (im *Image) Root() string { return "" }

func (im *Image) remount() error { return errUnsupported }

// Close gives everything back.
func (im *Image) Close() error { return nil }

// Free is how many bytes this process may still write in dir.
func Free(string) (int64, error) { return 0, errUnsupported }
