package suite

import (
	"fmt"
	"os"

	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

// dirFloor measures what the directory and the headers of the corpus cost at
// a temperature.
func dirFloor(op string, mails temp.State) func(*Runner, *fixture) (*job, error) {
	return func(_ *Runner, f *fixture) (*job, error) {
		dir := floor.Maildir(f.path)
		var w floor.Work
		j := &job{op: "floor-" + op, messages: f.messages, mails: mails, files: f.files, readsAll: op == "headers"}
		j.run = func() (err error) {
			switch op {
			case "readdir":
				w, err = dir.ReadDir()
			case "names":
				w, err = dir.Names()
			default:
				w, err = dir.Headers(floorReaders(mails))
			}
			return err
		}
		j.check = func() error {
			j.mbPerS = w.Bytes
			if dir.Len() < f.messages { // links that lead nowhere are names too
				return fmt.Errorf("floor: %d names, want at least %d", dir.Len(), f.messages)
			}
			return nil
		}
		return j, nil
	}
}

// cacheBytes is what disk floors move per message: about the size of a small
// cache record, so that the floor is of a design's order.
const cacheBytes = 64

// diskFloor measures the scratch and index directories.
func diskFloor(op string) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		size := int64(cacheBytes * f.messages)
		buf := make([]byte, 1<<20)
		j := &job{op: "floor-" + op, messages: f.messages, mbPerS: size}
		switch op {
		case "read":
			name, _, err := floor.WriteSeq(r.index, size, buf)
			if err != nil {
				return nil, err
			}
			j.run = func() error { _, err := floor.ReadSeq(name, buf); return err }
			j.close = func() error { return os.Remove(name) }
		case "write":
			var name string
			j.run = func() (err error) { name, _, err = floor.WriteSeq(r.index, size, buf); return err }
			j.after = func() error { return os.Remove(name) }
		case "sync4k":
			j.messages, j.mbPerS = 0, 0
			j.run = func() error { _, _, err := floor.Sync4K(r.scratch, 1); return err }
			j.check = func() error { return plausibleSync(r) }
		case "create":
			const files, bytes = 2000, 5200
			j.messages, j.mbPerS = files, files*bytes
			var made string
			j.run = func() (err error) { made, _, err = floor.Create(r.scratch, files, bytes); return err }
			j.after = func() error { return os.RemoveAll(made) }
		}
		return j, nil
	}
}

// plausibleSync notes once when syncing 4 KiB is faster than any device is:
// then no fsync row says much.
func plausibleSync(r *Runner) error {
	if r.syncTold {
		return nil
	}
	took, _, err := floor.Sync4K(r.scratch, 20)
	if err != nil {
		return err
	}
	r.syncTold = true
	if m := median(took); m < plausible {
		r.doubts = append(r.doubts, note{"fsync", fmt.Sprintf("4 KiB and fdatasync take %v here: rows that sync are doubtful", m)})
	}
	return nil
}
