package temp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An Image is a private ext4 file system in a sparse file. Mounted anew it is
// as cold as after a reboot, and nothing else on the machine is.
//
// Nothing of it outlives the process, however that ends: the file has lost its
// name as soon as the loop device has it, the loop device frees itself when
// its last user has gone (LO_FLAGS_AUTOCLEAR), and the mount is attached to no
// directory (fsmount(2)): it hangs on one descriptor, and its files are reached
// through /proc/self/fd. A process killed while the file is made leaves it in
// the directory it was made in.
type Image struct {
	Device string // the loop device
	Direct bool   // the loop device reads around the page cache of the file
	Cooled int    // times that Cool succeeded

	file    *os.File
	loop    *os.File
	mount   int // descriptor of the mount's root; its number never changes
	own     string
	pausers []Pauser
}

// CanImage says in one line why no Image can be made in dir, or returns "". It
// looks for the tools and the permission and makes nothing.
func CanImage(dir string) string {
	if _, err := mkfs(); err != nil {
		return err.Error()
	}
	if why := Missing(dir); why != "" {
		return why
	}
	control, err := os.OpenFile(loopControl, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "a loop image needs loop devices: " + err.Error()
	}
	control.Close()
	fd, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "a loop image needs the right to mount ext4: " + err.Error()
	}
	unix.Close(fd)
	return ""
}

const loopControl = "/dev/loop-control"

func mkfs() (string, error) {
	for _, name := range []string{"mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4", "mke2fs", "/usr/sbin/mke2fs"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("a loop image needs mkfs.ext4 (e2fsprogs), which is not installed")
}

// NewImage makes an empty file system of size bytes with room for so many
// files in a sparse file in dir, and mounts it for writing. Errors tell what
// the machine forbids.
func NewImage(dir string, size int64, files int) (im *Image, err error) {
	tool, err := mkfs()
	if err != nil {
		return nil, fmt.Errorf("temp: %w", err)
	}
	f, err := os.CreateTemp(dir, "image-*.ext4")
	if err != nil {
		return nil, fmt.Errorf("temp: loop image: %w", err)
	}
	defer os.Remove(f.Name())
	im = &Image{file: f, mount: -1}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("temp: loop image: %w", err), im.Close())
			im = nil
		}
	}()
	if err := f.Truncate(size); err != nil {
		return im, err
	}
	// No journal: what is written is read again by this process or by nobody.
	out, err := exec.Command(tool, "-t", "ext4", "-q", "-F", "-m", "0", "-b", "4096", "-N", fmt.Sprint(files+1000),
		"-O", "^has_journal", f.Name()).CombinedOutput()
	if err != nil {
		return im, fmt.Errorf("%s: %w: %s", filepath.Base(tool), err, strings.TrimSpace(string(out)))
	}
	if err := im.attachLoop(dir); err != nil {
		return im, err
	}
	return im, im.open(false)
}

// attachLoop gives the image's file a free loop device.
func (im *Image) attachLoop(dir string) error {
	control, err := os.OpenFile(loopControl, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	for try := 0; ; try++ {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fmt.Errorf("no free loop device: %w", err)
		}
		loop, err := im.openLoop(dir, n)
		if err != nil {
			return err
		}
		c := unix.LoopConfig{Fd: uint32(im.file.Fd()), Size: 4096}
		copy(c.Info.File_name[:], "mailbench")
		c.Info.Flags = unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO
		im.Direct = true
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &c)
		if errors.Is(err, unix.EINVAL) { // a file system without direct IO
			c.Info.Flags &^= unix.LO_FLAGS_DIRECT_IO
			im.Direct = false
			err = unix.IoctlLoopConfigure(int(loop.Fd()), &c)
		}
		if err == nil {
			im.loop, im.Device = loop, loop.Name()
			if st, err := unix.IoctlLoopGetStatus64(int(loop.Fd())); err == nil {
				im.Direct = st.Flags&unix.LO_FLAGS_DIRECT_IO != 0
			}
			return nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) || try == 20 { // else another was quicker
			return fmt.Errorf("%s: %w", loop.Name(), err)
		}
	}
}

// openLoop opens loop device n, by a node of our own where /dev has none.
func (im *Image) openLoop(dir string, n int) (*os.File, error) {
	name := fmt.Sprintf("/dev/loop%d", n)
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_CLOEXEC, 0)
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	own := filepath.Join(dir, fmt.Sprintf("loop%d-%d", n, os.Getpid()))
	if merr := unix.Mknod(own, unix.S_IFBLK|0o600, int(unix.Mkdev(7, uint32(n)))); merr != nil {
		return nil, fmt.Errorf("%w, and it cannot be made: %w", err, merr)
	}
	if f, err = os.OpenFile(own, os.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		os.Remove(own)
		return nil, err
	}
	im.own = own // fsconfig wants a name to the end
	return f, nil
}

// Root is the directory in which the file system is seen by this process and
// no other.
func (im *Image) Root() string { return fmt.Sprintf("/proc/self/fd/%d", im.mount) }

// open mounts the file system under the descriptor that it always has.
func (im *Image) open(readOnly bool) error {
	fsfd, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return fmt.Errorf("fsopen: %w", err)
	}
	defer unix.Close(fsfd)
	err = unix.FsconfigSetString(fsfd, "source", im.loop.Name())
	if err == nil {
		err = unix.FsconfigSetFlag(fsfd, "noinit_itable") // no thread that writes beside the samples
	}
	if err == nil && readOnly {
		err = unix.FsconfigSetFlag(fsfd, "ro")
	}
	if err == nil {
		err = unix.FsconfigCreate(fsfd)
	}
	if err != nil {
		return fmt.Errorf("mount of %s: %w", im.loop.Name(), err)
	}
	mnt, err := unix.Fsmount(fsfd, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOATIME|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return fmt.Errorf("fsmount: %w", err)
	}
	if im.mount < 0 {
		im.mount = mnt
		return nil
	}
	defer unix.Close(mnt)
	return unix.Dup3(mnt, im.mount, unix.O_CLOEXEC)
}

// leave unmounts: the number of the descriptor is kept by /dev/null. The file
// system has gone when the loop device has no user but us.
func (im *Image) leave() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := unix.Dup3(int(null.Fd()), im.mount, unix.O_CLOEXEC); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait *= 2 {
		f, err := os.OpenFile(im.loop.Name(), os.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		if wait > time.Second {
			return fmt.Errorf("%s is still mounted: a file of the image is open", im.loop.Name())
		}
		time.Sleep(wait)
	}
}

// remount is Cool without the Pausers. The image is read only from then on.
func (im *Image) remount() error {
	if err := im.leave(); err != nil {
		return fmt.Errorf("temp: loop image: %w", err)
	}
	// What the kernel holds of the device and of the file goes too.
	err := unix.IoctlSetInt(int(im.loop.Fd()), unix.BLKFLSBUF, 0)
	if err == nil {
		err = im.file.Sync()
	}
	if err == nil {
		err = evict(im.file)
	}
	if err == nil {
		err = im.open(true)
	}
	if err != nil {
		return fmt.Errorf("temp: loop image: %w", err)
	}
	return nil
}

// Close gives everything back. Attached Pausers must be closed before; a file
// of the image that is still open keeps its space until it is closed.
func (im *Image) Close() error {
	var errs []error
	if im.mount >= 0 {
		errs = append(errs, unix.Close(im.mount))
	}
	if im.loop != nil {
		errs = append(errs, im.loop.Close())
	}
	if im.own != "" {
		errs = append(errs, os.Remove(im.own))
	}
	im.mount, im.loop, im.own = -1, nil, ""
	return errors.Join(append(errs, im.file.Close())...)
}

// Free is how many bytes this process may still write in dir.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("temp: %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}
