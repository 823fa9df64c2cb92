package maildir

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// A State is what two stats tell about a maildir. Equal states mean equal
// listings if the times are older than the clock's step when the first was
// taken: a rename within the same tick does not show. Times can go backwards;
// only equality says anything.
type State struct {
	CurMTime, NewMTime int64  // modification times of cur/ and new/, ns since 1970
	CurIno, NewIno     uint64 // 0 where the system has none
}

// Stat looks at cur/ and new/: two system calls. A missing new/ is 0.
func Stat(path string) (State, error) {
	var s State
	var err error
	if s.CurMTime, s.CurIno, err = statDir(filepath.Join(path, "cur")); err != nil {
		return State{}, err
	}
	s.NewMTime, s.NewIno, err = statDir(filepath.Join(path, "new"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, err
	}
	return s, nil
}

// newest returns the later of the two times.
func (s State) newest() int64 { return max(s.CurMTime, s.NewMTime) }
