package proc

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// OrdinaryUser is whom a server runs as that refuses root. As root: the user of
// that name or number, "" = nobody. Else nil, which is ourselves; naming
// somebody else is then an error.
func OrdinaryUser(name string) (*User, error) {
	root := os.Geteuid() == 0
	if name == "" && !root {
		return nil, nil
	}
	if name == "" {
		name = "nobody"
	}
	found, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		if byNumber, numErr := user.LookupId(name); numErr == nil {
			found, err = byNumber, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	switch {
	case err != nil || gidErr != nil:
		return nil, fmt.Errorf("proc: user %s: no number (%s, %s)", name, found.Uid, found.Gid)
	case uid == 0:
		return nil, fmt.Errorf("proc: user %s is root: servers want an ordinary user", name)
	case !root && int(uid) == os.Geteuid():
		return nil, nil
	case !root:
		return nil, fmt.Errorf("proc: only root can run servers as user %s", name)
	}
	return &User{UID: uint32(uid), GID: uint32(gid), Name: found.Username, Home: found.HomeDir}, nil
}

// Chown gives a file or directory to u; nil: it stays ours.
func (u *User) Chown(path string) error {
	if u == nil {
		return nil
	}
	return os.Lchown(path, int(u.UID), int(u.GID))
}
