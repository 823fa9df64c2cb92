package temp

import (
	"fmt"
	"math/rand/v2"
)

// A State is a temperature of the mail files, the `mails=` axis.
type State uint8

const (
	Warm   State = iota // data, names and inodes are cached
	NoData              // names and inodes are cached, the data is not
	Cold                // nothing is cached
)

func (s State) String() string {
	return [...]string{"warm", "nodata", "cold"}[s]
}

// Sampled is how many files a proof asks about.
const Sampled = 1000

const (
	warmShare = 0.999 // at least this much is resident when warm
	coldShare = 0.001 // at most this much is resident without data
	// A warm sample may fetch this much from the device: the odd page of a
	// directory or of a binary that the kernel had reclaimed.
	warmReads = 256 << 10
)

// A Miss is a temperature that was not what it should be: the sample is void
// and may be repeated.
type Miss struct{ Why string }

func (m *Miss) Error() string { return "temp: " + m.Why }

// Unfit says in one line why the files of s can never be shown in state st
// here, or returns "". total is the memory that the page cache can have
// (TotalMemory; 0: unknown), mayDrop the user's permission to drop the caches
// of the machine.
func (s *Set) Unfit(st State, total int64, mayDrop bool) string {
	if st == Warm && total > 0 && s.bytes > total/10*8 {
		return fmt.Sprintf("%s has %d MB of files, more than 80%% of the memory (%d MB): it cannot be warm",
			s.root, s.bytes>>20, total>>20)
	}
	if st == Warm && Method() == "none" {
		return "the kernel does not tell what is in the page cache, so warm cannot be proven"
	}
	if (st == NoData || st == Cold) && s.image == nil {
		if why := Missing(s.root); why != "" {
			return why
		}
	}
	if st == Cold {
		if s.image == nil {
			if !mayDrop {
				return "cold needs -drop-caches (it drops the caches of the whole machine) or -loop-image"
			}
			if why := CanDrop(); why != "" {
				return why
			}
		}
		if _, err := ProcessIO(); err != nil {
			return "cold is proven by device reads, which the kernel does not show: " + err.Error()
		}
	}
	return ""
}

// Make brings the files of s into state st and proves what can be proven
// before the operation. Warm reads only when a sample says that it must. It
// returns the resident share that the proof saw; of Cold 0, because asking
// would read inodes. Cold drops the caches of the machine, or mounts the Image
// of the files anew. Errors: *Miss when the proof fails.
func (s *Set) Make(st State, r *rand.Rand) (share float64, err error) {
	switch st {
	case Warm:
		res, err := s.Residency(Sampled, r)
		if err != nil || res.Share() >= warmShare {
			return res.Share(), err
		}
		if err := s.Warm(); err != nil {
			return 0, err
		}
		return s.proveWarm(r)
	case NoData:
		if err := s.Evict(); err != nil {
			return 0, err
		}
		res, err := s.Residency(Sampled, r)
		if err != nil {
			return 0, err
		}
		if res.over(coldShare) {
			return res.Share(), &Miss{fmt.Sprintf("%.2f%% of the pages of %d sampled files stayed in memory after eviction",
				100*res.Share(), res.Files)}
		}
		return res.Share(), nil
	default:
		if s.image != nil {
			return 0, s.image.Cool()
		}
		return 0, Drop()
	}
}

// After proves what can only be proven afterwards. reads is what the device
// delivered during the sample; must is what the operation cannot have done
// without, in bytes: 0 when it reads no mail.
func (s *Set) After(st State, reads, must int64, r *rand.Rand) error {
	if st == Warm {
		if reads > warmReads+s.bytes/1000 {
			return &Miss{fmt.Sprintf("the device delivered %d bytes during a warm sample", reads)}
		}
		_, err := s.proveWarm(r)
		return err
	}
	if reads < must {
		return &Miss{fmt.Sprintf("the device delivered %d bytes, the operation needed at least %d", reads, must)}
	}
	if must > 0 {
		return nil
	}
	// The operation read no mail, so the mail must still be away: a canary.
	res, err := s.Residency(16, r)
	if err != nil {
		return err
	}
	if res.over(0.05) {
		return &Miss{fmt.Sprintf("%.0f%% of the pages of %d canary files were in memory after a %s sample that read no mail",
			100*res.Share(), res.Files, st)}
	}
	return nil
}

func (s *Set) proveWarm(r *rand.Rand) (share float64, err error) {
	res, err := s.Residency(Sampled, r)
	if err == nil && res.Share() < warmShare {
		err = &Miss{fmt.Sprintf("only %.2f%% of the pages of %d sampled files were in memory", 100*res.Share(), res.Files)}
	}
	return res.Share(), err
}
