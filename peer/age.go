package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// trustedAge is how old a cur/ must be for programs not to read it again:
// Dovecot and we take one that was changed within 2 s of being read for
// unfinished.
const trustedAge = 3200 * time.Millisecond

// ageMaildir makes the directories of a clone as old as those of a mailbox at
// rest are, so that nothing has to wait for them.
func ageMaildir(path string) error {
	old := time.Now().Add(-time.Hour)
	return errors.Join(setTime(filepath.Join(path, "cur"), old), setTime(filepath.Join(path, "new"), old))
}

func setTime(path string, t time.Time) error { return os.Chtimes(path, t, t) }

// touchMaildir changes the time of cur/ and nothing else: by a second, so that
// an old one stays old.
func touchMaildir(path string) error {
	cur := filepath.Join(path, "cur")
	st, err := os.Stat(cur)
	if err != nil {
		return err
	}
	return setTime(cur, st.ModTime().Add(time.Second))
}

// settleMaildir waits until cur/ is old enough. One that is not there is.
func settleMaildir(ctx context.Context, path string) error {
	st, err := os.Stat(filepath.Join(path, "cur"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t := time.NewTimer(trustedAge - time.Since(st.ModTime()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
